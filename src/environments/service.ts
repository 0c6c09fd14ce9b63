import { hash, randomBytes } from 'node:crypto'
import type { FaultService } from '../control/faults/service.js'
import type { JournalService } from '../control/requests/service.js'
import { type Assumptions, assume, type Profile } from '../core/assumptions.js'
import { advanced, type Clock, type ClockSetting, isoTime, timeBy, WALL } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind, RESET_PARTS, type ResetPart } from '../core/enums.js'
import { DomainError, invalidFields } from '../core/errors.js'
import { createRandom, type Random } from '../core/random.js'
import type { Db } from '../db/open.js'
import { type EnvironmentRow, environmentRepository } from './repository.js'
import type { Snapshot } from './schemas.js'

/** A world that requests act in. One object for as long as the environment lives: what changes, changes in it. */
export interface Environment {
  readonly key: number
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly profile: Profile
  readonly assumptions: Assumptions
  /**
   * The datasets that hold its rows. Refuses with `unauthenticated` once the environment is removed: a request that
   * was on its way ends as if it had come later.
   */
  readonly datasets: Readonly<Record<DatasetKind, number>>
  readonly clock: ClockSetting
  readonly randomSeed: number | null
  readonly random: Random
  readonly createdAt: number
  readonly now: Clock
}

/** What environments have that do not say otherwise. */
export interface EnvironmentDefaults {
  profile: Profile
  assumptions: Record<string, string>
}

export interface NewEnvironment {
  id?: string
  organizationId: string
  name: string
  profile?: Profile | null
  assumptions?: Record<string, string>
  clock?: ClockSetting
  randomSeed?: number | null
}

interface Dependencies {
  db: Db
  clock: Clock
  defaults: EnvironmentDefaults
  journals: Pick<JournalService, 'clear' | 'drop'>
  faults: Pick<FaultService, 'clear'>
}

type Handle = { -readonly [Field in keyof Environment]: Environment[Field] }

export type EnvironmentService = ReturnType<typeof environmentService>

/** The snapshot that a reset goes back to. */
const BASELINE = ''

/** The parts whose documents say whose they are. */
const DATASETS_WITH_OWNER = [
  'integrations',
  'subscribers',
  'messages',
  'idempotency'
] as const satisfies readonly DatasetKind[]

/** Makes worlds, and sets them back. Everything in them that is remembered in memory goes with it. */
export function environmentService({ db, clock, defaults, journals, faults }: Dependencies) {
  const repository = environmentRepository(db)
  const handles = new Map<number, Handle>()
  /** By each key that has opened one: hashing it each time would cost a request a twentieth. */
  const byApiKey = new Map<string, Environment>()
  /** Collections that one environment alone refers to: asking the database at each write would cost a write a tenth. */
  const unshared = new Set<number>()

  return {
    /** The environment that the key belongs to, or undefined for a key that nobody has. */
    resolve(apiKey: string): Environment | undefined {
      const known = byApiKey.get(apiKey)
      if (known) return known
      const row = repository.findByKeyHash(hashOfKey(apiKey))
      if (!row) return undefined
      const environment = handleOf(row)
      byApiKey.set(apiKey, environment)
      return environment
    },

    /** All of them, in the order of their making. */
    list(): Environment[] {
      return repository.listEnvironments().map(handleOf)
    },

    /** Refuses with `not-found` what is the id or the name of none, and with `bad-request` the name of several. */
    find(idOrName: string): Environment {
      const byId = repository.findById(idOrName)
      if (byId) return handleOf(byId)
      const [row, ...others] = repository.listByName(idOrName)
      if (others.length > 0) throw ambiguous(idOrName, others.length + 1)
      if (row) return handleOf(row)
      throw new DomainError('not-found', `Environment ${idOrName} not found`, {
        reason: 'GET /_mock/environments lists the environments there are'
      })
    },

    /** Makes an empty environment. An id that is given must be free. */
    create(wanted: NewEnvironment): Environment {
      return db.transaction(() => {
        const row = rowOf({ ...wanted, id: wanted.id ?? newId() })
        return handleOfNew(repository.insertEnvironment({ ...row, ...emptyDatasets(DATASET_KINDS) }))
      })
    },

    /**
     * Makes an environment with all that another has, or had when the snapshot was taken, ids kept; only the owners' ids
     * are its own. Refuses with `not-found` a snapshot that there isn't.
     */
    fork(
      origin: Environment,
      wanted: Partial<NewEnvironment> & { organizationId: string },
      snapshot?: string
    ): Environment {
      return db.transaction(() => {
        const from = snapshot === undefined ? presentRow(origin) : snapshotNamed(origin, snapshot)
        const row = rowOf({
          id: newId(),
          name: `${from.name} fork`,
          profile: from.profile,
          clock: from.clock,
          randomSeed: from.randomSeed,
          ...wanted,
          assumptions: { ...from.assumptions, ...wanted.assumptions }
        })
        // No workflow says whose it is: they are shared, as with a snapshot.
        const made = repository.insertEnvironment({
          ...row,
          ...emptyDatasets(DATASETS_WITH_OWNER),
          workflows: from.workflows
        })
        unshared.delete(from.workflows)
        for (const part of DATASETS_WITH_OWNER) repository.copyRows(part, from[part], made[part], { from, to: made })
        return handleOfNew(made)
      })
    },

    /** The key is a way into the environment from now on. */
    addApiKey(environment: Environment, apiKey: string): void {
      repository.insertApiKey(hashOfKey(apiKey), environment.key)
    },

    /** No key is a way into the environment any more. */
    dropApiKeys(environment: Environment): void {
      repository.deleteApiKeys(environment.key)
      byApiKey.clear()
    },

    /** Another name, or another organization. What the environment holds goes on saying the former one. */
    rename(environment: Environment, { name, organizationId }: Pick<Environment, 'name' | 'organizationId'>): void {
      change(environment, { name, organizationId })
    },

    /** Removes an environment with all its rows, keys and snapshots, its journal and its faults. */
    remove(environment: Environment): void {
      db.transaction(() => {
        const doomed = [presentRow(environment), ...repository.listSnapshots(environment.key)]
        repository.deleteEnvironment(environment.key)
        for (const row of doomed) dropUnused(row)
      })
      handles.delete(environment.key)
      Object.defineProperty(environment, 'datasets', {
        get: () => {
          throw gone(environment)
        }
      })
      byApiKey.clear()
      journals.drop(environment.key)
      faults.clear(environment.key)
    },

    /**
     * Before a part is written to: the dataset to write to, which is the environment's alone. Within a transaction.
     * What it shared with a snapshot is copied first.
     */
    ensureOwned(environment: Environment, part: DatasetKind): number {
      const present = environment.datasets[part]
      if (unshared.has(present)) return present
      if (!repository.isShared(part, present)) return takeForUnshared(present)
      const own = repository.insertDataset()
      repository.copyRows(part, present, own)
      change(environment, { [part]: own })
      return takeForUnshared(own)
    },

    /** Gives an environment an empty part instead of the one it has. Within a transaction. */
    empty(environment: Environment, part: DatasetKind): number {
      const empty = repository.insertDataset()
      change(environment, { [part]: empty })
      return empty
    },

    /** Keeps the state under a name, in place of what was kept under it. */
    snapshot(environment: Environment, name: string): Snapshot {
      return db.transaction(() => shown(keep(environment, name)))
    },

    /** Lets the state be what a reset goes back to. */
    setBaseline(environment: Environment): void {
      db.transaction(() => void keep(environment, BASELINE))
    },

    /** Before everything changes, and a new baseline is set: nothing has to be copied for the old one. */
    dropBaseline(environment: Environment): void {
      db.transaction(() => deleteSnapshot(environment, BASELINE))
    },

    listSnapshots(environment: Environment): Snapshot[] {
      return repository
        .listSnapshots(environment.key)
        .filter(({ snapshotName }) => snapshotName !== BASELINE)
        .map(shown)
    },

    /** Refuses with `not-found` a name that nothing is kept under. */
    removeSnapshot(environment: Environment, name: string): void {
      db.transaction(() => {
        snapshotNamed(environment, name)
        deleteSnapshot(environment, name)
      })
    },

    /** Sets the chosen parts back to what was kept under the name; refuses with `not-found` if there is nothing. */
    restore(environment: Environment, name: string, parts: readonly ResetPart[]): void {
      db.transaction(() => setBack(environment, snapshotNamed(environment, name), parts))
      forget(environment, parts)
    },

    /** Sets the chosen parts back to the baseline: how the environment was when it was made or seeded. */
    reset(environment: Environment, parts: readonly ResetPart[] = RESET_PARTS): void {
      db.transaction(() => {
        const baseline = repository.findSnapshot(environment.key, BASELINE)
        if (!baseline) throw gone(environment)
        setBack(environment, baseline, parts)
      })
      forget(environment, parts)
    },

    setClock(environment: Environment, setting: ClockSetting): void {
      change(environment, { clock: setting })
    },

    /** Refuses with `invalid` to go where there is no time. */
    advanceClock(environment: Environment, milliseconds: number): void {
      const setting = advanced(environment.clock, milliseconds, clock)
      if (!setting)
        throw invalidFields({ by: { messages: ['by leads past the last time there is'], value: milliseconds } })
      change(environment, { clock: setting })
    },

    /** Starts chance anew, from a seed or, with null, unforeseeable. */
    setRandomSeed(environment: Environment, randomSeed: number | null): void {
      change(environment, { randomSeed })
      restartRandom(environment)
    },

    /** What the environment itself says, apart from what it has from the server. */
    settings(
      environment: Environment
    ): Pick<EnvironmentRow, 'name' | 'profile' | 'assumptions' | 'clock' | 'randomSeed'> {
      const { name, profile, assumptions, clock: setting, randomSeed } = presentRow(environment)
      return { name, profile, assumptions, clock: setting, randomSeed }
    },

    /** Another profile, and other overrides in place of those that the environment has. */
    setProfile(environment: Environment, profile: Profile | null, assumptions: Record<string, string>): void {
      change(environment, { profile, assumptions })
    }
  }

  function takeForUnshared(dataset: number): number {
    unshared.add(dataset)
    // What is rolled back may have been shared before, or its number may be given anew.
    db.onRollback(() => unshared.clear())
    return dataset
  }

  function presentRow(environment: Environment): EnvironmentRow {
    const row = repository.findEnvironment(environment.key)
    if (!row) throw gone(environment)
    return row
  }

  function keep(environment: Environment, name: string): EnvironmentRow {
    const { key, ...state } = presentRow(environment)
    deleteSnapshot(environment, name)
    for (const part of DATASET_KINDS) unshared.delete(state[part])
    return repository.insertEnvironment({
      ...state,
      snapshotOf: key,
      snapshotName: name,
      createdAt: environment.now()
    })
  }

  function handleOfNew(row: EnvironmentRow): Environment {
    db.onRollback(() => handles.delete(row.key))
    return handleOf(row)
  }

  /** `data` is the rows, and how they are shown: profile and assumptions. */
  function setBack(environment: Environment, to: EnvironmentRow, parts: readonly ResetPart[]): void {
    const { profile, assumptions, clock: setting, randomSeed, integrations, subscribers, workflows, messages } = to
    change(environment, {
      ...(parts.includes('data') && { profile, assumptions, integrations, subscribers, workflows, messages }),
      ...(parts.includes('idempotency') && { idempotency: to.idempotency }),
      ...(parts.includes('clock') && { clock: setting, randomSeed })
    })
  }

  /** What a transaction can't bring back: only once it is done. */
  function forget(environment: Environment, parts: readonly ResetPart[]): void {
    if (parts.includes('clock')) restartRandom(environment)
    if (parts.includes('requests')) journals.clear(environment.key)
    if (parts.includes('faults')) faults.clear(environment.key)
  }

  /** Changes the row, and deletes the datasets that nothing refers to any more. */
  function change(environment: Environment, fields: Partial<EnvironmentRow>): void {
    if (Object.keys(fields).length === 0) return
    const before = environment.datasets
    if (!repository.updateEnvironment(environment.key, fields)) throw gone(environment)
    for (const part of DATASET_KINDS) {
      if (fields[part] !== undefined && fields[part] !== before[part]) repository.deleteUnused(part, before[part])
    }
    refreshAlso(environment)
  }

  /** Brings what is in memory up to the row, and does so again should the row be rolled back. */
  function refreshAlso({ key }: Environment): void {
    const refresh = () => {
      const row = repository.findEnvironment(key)
      if (row) handleOf(row)
    }
    refresh()
    db.onRollback(refresh)
  }

  function deleteSnapshot(environment: Environment, name: string): void {
    const snapshot = repository.findSnapshot(environment.key, name)
    if (!snapshot) return
    repository.deleteEnvironment(snapshot.key)
    dropUnused(snapshot)
  }

  function dropUnused(row: EnvironmentRow): void {
    for (const part of DATASET_KINDS) repository.deleteUnused(part, row[part])
  }

  function snapshotNamed(environment: Environment, name: string): EnvironmentRow {
    const snapshot = name === BASELINE ? undefined : repository.findSnapshot(environment.key, name)
    if (snapshot) return snapshot
    throw new DomainError('not-found', `Snapshot ${name} not found`, {
      reason: 'GET /_mock/snapshots lists those of this environment'
    })
  }

  function shown(row: EnvironmentRow): Snapshot {
    return {
      name: row.snapshotName ?? BASELINE,
      createdAt: isoTime(row.createdAt),
      size: {
        integrations: repository.countRows('integrations', row.integrations),
        subscribers: repository.countRows('subscribers', row.subscribers),
        workflows: repository.countRows('workflows', row.workflows),
        messages: repository.countRows('messages', row.messages),
        idempotencyKeys: repository.countRows('idempotency', row.idempotency)
      }
    }
  }

  function emptyDatasets<Part extends DatasetKind>(parts: readonly Part[]): Record<Part, number> {
    return Object.fromEntries(parts.map((part) => [part, repository.insertDataset()])) as Record<Part, number>
  }

  function rowOf({
    id,
    organizationId,
    name,
    profile,
    assumptions,
    clock: setting,
    randomSeed
  }: NewEnvironment & { id: string }) {
    return {
      id,
      organizationId,
      name,
      profile: profile ?? null,
      assumptions: assumptions ?? {},
      clock: setting ?? WALL,
      randomSeed: randomSeed ?? null,
      createdAt: clock()
    }
  }

  function handleOf(row: EnvironmentRow): Environment {
    const profile = row.profile ?? defaults.profile
    const { key, id, organizationId, name, clock: setting, randomSeed, createdAt } = row
    const { integrations, subscribers, workflows, messages, idempotency } = row
    const state = {
      key,
      id,
      organizationId,
      name,
      profile,
      assumptions: assume(profile, defaults.assumptions, row.assumptions),
      datasets: { integrations, subscribers, workflows, messages, idempotency },
      clock: setting,
      randomSeed,
      createdAt
    }
    const known = handles.get(key)
    if (known) return Object.assign(known, state)
    const made: Handle = { ...state, random: createRandom(randomSeed), now: () => timeBy(made.clock, clock) }
    handles.set(key, made)
    return made
  }

  function restartRandom(environment: Environment): void {
    const handle = handles.get(environment.key)
    if (handle) handle.random = createRandom(handle.randomSeed)
  }
}

/** SHA-256: the only form in which a key is kept. */
export function hashOfKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer')
}

/** An id of 24 hex digits as the deployed service makes them: the seconds, and then at random. */
export function newId(): string {
  return Math.floor(Date.now() / 1000).toString(16) + randomBytes(8).toString('hex')
}

/** A key in the deployed service's form: 32 hex digits. */
export function newApiKey(): string {
  return randomBytes(16).toString('hex')
}

function ambiguous(name: string, count: number): DomainError {
  return new DomainError('bad-request', `There are ${count} environments named ${name}`, {
    reason: 'say which one by its id: GET /_mock/environments lists them'
  })
}

function gone({ name }: Environment): DomainError {
  return new DomainError('unauthenticated', 'API Key not found', {
    reason: `environment ${name} has been removed in the meantime, and its keys with it`
  })
}

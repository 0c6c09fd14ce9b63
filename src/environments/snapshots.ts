import type { Db } from '../db/open.js'
import { isoTime } from '../domain/clock.js'
import { RESET_PARTS, type ResetPart } from '../domain/enums.js'
import { DomainError } from '../domain/errors.js'
import { compareStates } from './diff.js'
import type { Environment, EnvironmentStore } from './environment.js'
import type { EnvironmentRow } from './repository.js'
import type { EnvironmentDiff, Snapshot } from './schemas.js'

/** The baseline, which a reset goes back to, is the snapshot without a name. */
const BASELINE = ''

/** A snapshot is an environment without a key, which refers to the same datasets until one of the two changes them. */
export function snapshotService(
  db: Db,
  { repository, listeners, requireRow, update }: EnvironmentStore
) {
  const findBaseline = ({ key }: Environment) => repository.findSnapshot(key, BASELINE)

  return {
    requireSnapshot,

    /** Compares the present state with a snapshot, or the baseline. Throws `not-found` when there is none of this name. */
    compare(environment: Environment, name?: string): EnvironmentDiff {
      const present = requireRow(environment)
      const former =
        name === undefined ? findBaseline(environment) : requireSnapshot(environment, name)
      return compareStates(db, present, former ?? present)
    },

    /** Saves the present state under a name, in place of an earlier snapshot of that name. */
    snapshot: (environment: Environment, name: string): Snapshot =>
      toSnapshot(save(environment, name)),

    /** Makes the present state the one that a reset goes back to. */
    setBaseline: (environment: Environment): void => void save(environment, BASELINE),

    listSnapshots: ({ key }: Environment): Snapshot[] =>
      repository
        .listSnapshots(key)
        .flatMap((row) => (row.snapshotName === BASELINE ? [] : toSnapshot(row))),

    /** Throws `not-found` when there is no snapshot of this name. */
    removeSnapshot: (environment: Environment, name: string): void =>
      remove(requireSnapshot(environment, name)),

    /** Sets the chosen parts back to a snapshot. Throws `not-found` when there is none of this name. */
    restore: (environment: Environment, name: string, parts: readonly ResetPart[]): void =>
      setBack([environment], parts, () => requireSnapshot(environment, name)),

    /**
     * Sets the chosen parts back to the baseline: the state when the environment was created or seeded. Of several
     * environments it sets back all, or none if it throws.
     */
    reset: (
      environments: Environment | readonly Environment[],
      parts: readonly ResetPart[] = RESET_PARTS
    ): void => setBack([environments].flat(), parts, findBaseline)
  }

  /** Throws `not-found` when there is no snapshot of this name. */
  function requireSnapshot(environment: Environment, name: string): EnvironmentRow {
    const snapshot = name === BASELINE ? undefined : repository.findSnapshot(environment.key, name)
    if (snapshot) return snapshot
    const reason = `this environment has no snapshot ${name}: GET /_mock/snapshots lists those it has`
    throw new DomainError('not-found', `Snapshot ${name} not found`, { reason })
  }

  function save(environment: Environment, snapshotName: string): EnvironmentRow {
    return db.transaction(() => {
      const { key: snapshotOf, ...state } = requireRow(environment)
      remove(repository.findSnapshot(snapshotOf, snapshotName))
      const own = { ttl: null, snapshotOf, snapshotName, createdAt: environment.now() }
      return repository.insertEnvironment({ ...state, ...own })
    })
  }

  function remove(snapshot: EnvironmentRow | undefined): void {
    if (!snapshot) return
    db.transaction(() => {
      repository.deleteEnvironment(snapshot.key)
      repository.deleteUnused(snapshot)
    })
  }

  /** `data` is the rows, the profile and the assumptions. */
  function setBack(
    environments: readonly Environment[],
    parts: readonly ResetPart[],
    findSnapshot: (environment: Environment) => EnvironmentRow | undefined
  ): void {
    db.transaction(() => {
      for (const environment of environments) {
        const snapshot = findSnapshot(environment) ?? requireRow(environment)
        const { profile, assumptions, integrations, subscribers, workflows, messages } = snapshot
        const { idempotency, clock, randomSeed } = snapshot
        update(environment, {
          ...(parts.includes('data') && {
            profile,
            assumptions,
            integrations,
            subscribers,
            workflows,
            messages
          }),
          ...(parts.includes('idempotency') && { idempotency }),
          ...(parts.includes('clock') && { clock, randomSeed })
        })
      }
    })
    // After the transaction, as this can't be rolled back.
    for (const environment of environments)
      for (const listener of listeners) listener.onReset?.(environment, parts)
  }

  function toSnapshot(row: EnvironmentRow): Snapshot {
    const { idempotency: idempotencyKeys, ...size } = repository.countRows(row)
    return {
      name: row.snapshotName ?? '',
      createdAt: isoTime(row.createdAt),
      size: { ...size, idempotencyKeys }
    }
  }
}

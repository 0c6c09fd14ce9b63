import { type Clock, WALL } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import { DomainError } from '../core/errors.js'
import type { Db } from '../db/open.js'
import type { NewEnvironment } from '../environments/schemas.js'
import { type Environment, type EnvironmentService, newApiKey, newId } from '../environments/service.js'
import { canonicalContext } from '../messages/service.js'
import { differences, type SeedChange, worldChanges } from './changes.js'
import type { World } from './environment-data.js'
import { SeedError, type SeedMistake } from './errors.js'
import type { Held } from './existing-data.js'
import { exportSeed } from './export.js'
import type { Seed, SeedGenerate } from './format.js'
import { canGenerate, loadedGenerator } from './generate/load.js'
import type { EnvironmentInput } from './generate/recipients.js'
import { readSeeds, type SeedFile } from './read.js'
import { seedRepository } from './repository.js'
import { resolveSeeds } from './resolve/resolve.js'

export interface SeedOutcome {
  /** False: the database already held environments, and was left as it is. */
  applied: boolean
  /** What the seeds describe, whether or not it was applied just now. */
  worlds: World[]
}

/** How far the generating of messages is. */
export interface Generated {
  /** The environment's name. */
  environment: string
  done: number
  total: number
}

/** Messages between two pauses: some hundredths of a second. */
const STEP = 2000

const SAMPLE = 1000

/** So many messages are inserted without indexes, which are made in the end. */
const MANY = 20_000

interface Dependencies {
  db: Db
  clock: Clock
  environments: EnvironmentService
}

export type SeedService = ReturnType<typeof seedService>

export function seedService({ db, clock, environments }: Dependencies) {
  const repository = seedRepository(db)

  return {
    /**
     * Fills an empty database with what the seeds describe, in one transaction. Throws SeedError with every mistake,
     * and then nothing has been applied.
     */
    seed(files: readonly SeedFile[]): SeedOutcome {
      return drained(seeding(files))
    },

    /** The same with pauses, each after a number of generated messages; what is not gone on with leaves nothing. */
    seeding,

    /**
     * Takes over what has changed in the seeds, in one transaction. An environment that they describe otherwise than they
     * did becomes what a start with them would make of it, and a reset goes back to that; its journal, its faults and its
     * snapshots stay. One that they describe anew is made, and one that they no longer describe is removed. All others
     * stay as they are, those of the seeds with what has been done to them since.
     *
     * Throws SeedError with every mistake, and then nothing has changed.
     */
    reseed(files: readonly SeedFile[], former: readonly SeedFile[]): SeedChange[] {
      const now = clock()
      // Both at one time, so that what they leave to the time does not differ.
      const changes = worldChanges(resolveSeeds(former, now), resolveSeeds(files, now))
      return db.transaction(() => {
        const present = new Map(environments.list().map((environment) => [environment.id, environment]))
        const pairs = changes.map(({ former, present: world }) => ({
          former,
          world,
          environment: present.get((world ?? former)?.id ?? '')
        }))
        // All of them first: a key may move from one to another.
        for (const { environment } of pairs) if (environment) environments.dropApiKeys(environment)
        const worlds = changes.flatMap(({ present: world }) => world ?? [])
        const mistakes = worlds.flatMap((world) => takenKeys(world, files))
        if (mistakes.length > 0) throw new SeedError(mistakes)

        const told = pairs.flatMap(({ former, world, environment }): SeedChange[] => {
          if (!world) return []
          const { id, name, apiKeys } = world
          const target = environment ?? environments.create(world)
          if (environment) clear(environment, world)
          for (const key of apiKeys) environments.addApiKey(target, key)
          drained(fill(target, world))
          environments.setBaseline(target)
          return [
            environment && former
              ? { id, name, change: 'changed', apiKeys, ...differences(former, world) }
              : { id, name, change: environment ? 'changed' : 'added', apiKeys, records: {}, settings: [] }
          ]
        })
        // Last, since what is remembered of them in memory does not come back.
        for (const { world, environment } of pairs) {
          if (world || !environment) continue
          const { id, name } = environment
          environments.remove(environment)
          told.push({ id, name, change: 'removed', apiKeys: [], records: {}, settings: [] })
        }
        return told
      })
    },

    /**
     * Adds generated messages to an environment, with pauses as in `seeding`; a reset goes back to what it then is.
     * Refuses with `bad-request` an environment that has no step to make messages of.
     */
    *generating(environment: Environment, options: SeedGenerate): Generator<Generated, void, undefined> {
      const world = { ...environment, ...heldBy(environment), messages: sampleOf(environment) }
      if (!canGenerate(world)) {
        throw new DomainError('bad-request', `Environment ${environment.name} has nothing to make messages of`, {
          reason: 'it needs a workflow with a step of a channel'
        })
      }
      yield* db.inSteps(function* () {
        environments.dropBaseline(environment)
        yield* generate(environment, world, options)
        environments.setBaseline(environment)
      })
    },

    /** Lets all environments be as old as if they had been made at this time. */
    setAge(createdAt: number): void {
      repository.setCreated(createdAt)
    },

    /**
     * Makes an environment with a key of its own: empty, of a seed, or as a fork of another or of a snapshot of it. In
     * an organization of its own unless one is named. Refuses with `not-found` an origin that there isn't; throws
     * SeedError for a bad seed; and then nothing has been made.
     */
    make(wanted: NewEnvironment): { environment: Environment; apiKey: string } {
      const { from, snapshot, seed, organizationId = newId(), ...own } = wanted
      const file = seed && fileOf(seed)
      return db.transaction(() => {
        const environment =
          from === undefined
            ? environments.create({ name: file?.seed.environments[0]?.name ?? 'Unnamed', ...own, organizationId })
            : environments.fork(environments.find(from), { ...own, organizationId }, snapshot)
        if (file) load(environment, file, from === undefined ? 'replace' : 'merge', own)
        const apiKey = newApiKey()
        environments.addApiKey(environment, apiKey)
        environments.setBaseline(environment)
        return { environment, apiKey }
      })
    },

    /**
     * Loads a seed with one environment into an environment: text, YAML or JSON, or what such a text says. `replace`: it then is what one newly made of the seed would
     * be, which is what a reset goes back to from now on; its journal and its faults stay. `merge`: the seed's records
     * come on top, in place of those with the same names, whose ids they keep. All or nothing; throws SeedError with
     * every mistake.
     */
    load(environment: Environment, seed: string | object, mode: 'merge' | 'replace'): void {
      const file = fileOf(seed)
      db.transaction(() => {
        load(environment, file, mode)
        if (mode === 'replace') environments.setBaseline(environment)
      })
    },

    /** The environment as a seed, with nothing left to defaults. */
    export(environment: Environment): Seed {
      const documents = <Document>(table: Parameters<typeof repository.listDocuments>[0], part: DatasetKind) =>
        repository.listDocuments(table, environment.datasets[part]).map((json) => JSON.parse(json) as Document)
      return exportSeed({
        ...environments.settings(environment),
        integrations: documents('integrations', 'integrations'),
        subscribers: documents('subscribers', 'subscribers'),
        workflows: documents('workflows', 'workflows'),
        steps: documents('workflow_steps', 'workflows'),
        messages: documents('messages', 'messages')
      })
    }
  }

  function* seeding(files: readonly SeedFile[]): Generator<Generated, SeedOutcome, undefined> {
    const worlds = resolveSeeds(files, clock())
    const applied = yield* db.inSteps(function* () {
      if (repository.hasEnvironments()) return false
      for (const world of worlds) {
        const environment = environments.create(world)
        for (const key of world.apiKeys) environments.addApiKey(environment, key)
        yield* fill(environment, world)
        environments.setBaseline(environment)
      }
      return true
    })
    return { applied, worlds }
  }

  /** Leaves an environment as a world's is before it is filled. */
  function clear(environment: Environment, world: World): void {
    environments.dropBaseline(environment)
    for (const part of DATASET_KINDS) environments.empty(environment, part)
    environments.rename(environment, world)
    environments.setProfile(environment, world.profile, world.assumptions)
    environments.setClock(environment, world.clock ?? WALL)
    environments.setRandomSeed(environment, world.randomSeed ?? null)
  }

  /** Complains of the world's keys that others have, which the seeds know nothing of. */
  function takenKeys({ name, apiKeys }: World, files: readonly SeedFile[]): SeedMistake[] {
    return apiKeys.flatMap((key) => {
      const holder = environments.resolve(key)
      if (!holder) return []
      const message = `the API key ${key} is that of ${holder.name}, which these seeds leave as it is; each environment needs keys of its own`
      return mistakeAtKey(files, key, name, message)
    })
  }

  function load(
    environment: Environment,
    file: SeedFile,
    mode: 'merge' | 'replace',
    over: Pick<NewEnvironment, 'profile' | 'assumptions'> = {}
  ): void {
    const { id, organizationId, name, clock: present } = environment
    const target = { id, organizationId, name, clock: present, ...(mode === 'merge' && { held: heldBy(environment) }) }
    const [world] = resolveSeeds([file], clock(), target)
    if (!world) return
    const before =
      mode === 'merge'
        ? environments.settings(environment)
        : { profile: null, assumptions: {}, clock: WALL, randomSeed: null }
    if (mode === 'replace') {
      for (const part of DATASET_KINDS) environments.empty(environment, part)
    } else {
      for (const part of ['integrations', 'subscribers', 'workflows'] as const) environments.empty(environment, part)
    }
    drained(fill(environment, world))
    environments.setProfile(environment, over.profile ?? world.profile ?? before.profile, {
      ...before.assumptions,
      ...world.assumptions,
      ...over.assumptions
    })
    environments.setClock(environment, world.clock ?? before.clock)
    if (mode === 'replace' || world.randomSeed !== undefined) {
      environments.setRandomSeed(environment, world.randomSeed ?? null)
    }
  }

  function heldBy({ datasets }: Environment): Held {
    const documents = <Document>(table: Parameters<typeof repository.listDocuments>[0], part: DatasetKind) =>
      repository.listDocuments(table, datasets[part]).map((json) => JSON.parse(json) as Document)
    return {
      integrations: documents<World['integrations'][number]>('integrations', 'integrations'),
      subscribers: documents<World['subscribers'][number]>('subscribers', 'subscribers'),
      workflows: documents<World['workflows'][number]>('workflows', 'workflows'),
      steps: documents<World['steps'][number]>('workflow_steps', 'workflows'),
      messageCount: repository.countMessages(datasets.messages),
      hasMessage: (id: string) => repository.hasMessage({ dataset: datasets.messages, id })
    }
  }

  /** Adds a world's rows to an environment's parts. */
  function* fill(environment: Environment, world: World): Generator<Generated, void, undefined> {
    const dataset = environments.ensureOwned(environment, 'integrations')
    for (const integration of world.integrations) {
      const { _id, identifier, channel, active, primary, deleted } = integration
      const document = JSON.stringify(integration)
      repository.insertIntegration({ dataset, id: _id, identifier, channel, active, primary, deleted, document })
    }
    fillSubscribers(environments.ensureOwned(environment, 'subscribers'), world)
    fillWorkflows(environments.ensureOwned(environment, 'workflows'), world)
    if (world.messages.length > 0) fillMessages(environments.ensureOwned(environment, 'messages'), world)
    if (world.generate) yield* generate(environment, world, world.generate)
  }

  function* generate(
    environment: Environment,
    world: EnvironmentInput,
    options: SeedGenerate
  ): Generator<Generated, void, undefined> {
    const now = environment.now()
    const { subscribers, messages } = loadedGenerator().generation(world, options, now)
    fillSubscribers(environments.ensureOwned(environment, 'subscribers'), { subscribers })
    const dataset = environments.ensureOwned(environment, 'messages')
    const isMost = options.messages >= MANY && !repository.hasMoreMessagesThan(options.messages)
    yield* isMost ? repository.withoutIndexes(insertAll) : insertAll()

    function* insertAll(): Generator<Generated, void, undefined> {
      let done = 0
      for (const message of messages()) {
        repository.insertMessage(dataset, message)
        done += 1
        if (done % STEP === 0) yield { environment: environment.name, done, total: options.messages }
      }
    }
  }

  /** As many of its messages as it takes to see what they are like. */
  function sampleOf({ datasets }: Environment): World['messages'] {
    return repository.listDocuments('messages', datasets.messages, SAMPLE).map((json) => JSON.parse(json))
  }

  function fillSubscribers(dataset: number, { subscribers }: Pick<World, 'subscribers'>): void {
    for (const subscriber of subscribers) {
      const { _id, subscriberId } = subscriber
      repository.insertSubscriber({ dataset, id: _id, subscriberId, document: JSON.stringify(subscriber) })
    }
  }

  function fillWorkflows(dataset: number, { workflows, steps }: World): void {
    for (const workflow of workflows) {
      const { _id, identifier } = workflow
      repository.insertWorkflow({ dataset, id: _id, identifier, document: JSON.stringify(workflow) })
    }
    const positions = new Map<string, number>()
    for (const step of steps) {
      const { _id, workflowDatabaseId: workflowId, stepId } = step
      const position = positions.get(workflowId) ?? 0
      positions.set(workflowId, position + 1)
      repository.insertStep({ dataset, id: _id, workflowId, stepId, position, document: JSON.stringify(step) })
    }
  }

  function fillMessages(dataset: number, world: World): void {
    for (const message of world.messages) {
      repository.insertMessage(dataset, {
        id: message._id,
        createdAt: Date.parse(message.createdAt),
        channel: message.channel,
        subscriberId: message.subscriber?.subscriberId ?? null,
        transactionId: message.transactionId,
        context: canonicalContext(message.contextKeys ?? []),
        document: JSON.stringify(message)
      })
    }
  }
}

function fileOf(seed: string | object): SeedFile {
  const [file] = readSeeds([{ name: 'seed', seed }])
  return file as SeedFile
}

/** Where the key is named, or else where the environment is whose default it is. */
function mistakeAtKey(files: readonly SeedFile[], key: string, name: string, message: string): SeedMistake[] {
  const places = files.flatMap(({ seed, mistakeAt }) =>
    seed.environments.map((environment, index) => {
      const at = environment.apiKeys?.indexOf(key) ?? -1
      const path = ['environments', index, ...(at < 0 ? [] : ['apiKeys', at])]
      return { environment, isNamed: at >= 0, mistakeAt: () => mistakeAt(path, message) }
    })
  )
  const place = places.find(({ isNamed }) => isNamed) ?? places.find(({ environment }) => environment.name === name)
  return place ? [place.mistakeAt()] : []
}

/** Goes on to the end without pausing. */
function drained<Result>(steps: Generator<unknown, Result, undefined>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

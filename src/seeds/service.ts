import { type Clock, WALL } from '../clock.js'
import type { Db } from '../db/open.js'
import type { NewEnvironment } from '../environments/schemas.js'
import { type Environment, type EnvironmentService, newApiKey, newId } from '../environments/service.js'
import { canonicalContext } from '../messages/service.js'
import { WORLD_PARTS, type WorldPart } from '../vocabulary.js'
import { exportSeed } from './export.js'
import type { Seed } from './format.js'
import type { Held } from './held.js'
import { readSeeds, type SeedFile } from './read.js'
import { seedRepository } from './repository.js'
import { resolveSeeds } from './resolve.js'
import type { World } from './world.js'

export interface SeedOutcome {
  /** False: the database already held environments, and was left as it is. */
  applied: boolean
  /** What the seeds describe, whether or not it was applied just now. */
  worlds: World[]
}

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
      const worlds = resolveSeeds(files, clock())
      const applied = db.transaction(() => {
        if (repository.hasEnvironments()) return false
        for (const world of worlds) {
          const environment = environments.create(world)
          for (const key of world.apiKeys) environments.addApiKey(environment, key)
          fill(environment, world)
          environments.setBaseline(environment)
        }
        return true
      })
      return { applied, worlds }
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
      const documents = <Document>(table: Parameters<typeof repository.listDocuments>[0], part: WorldPart) =>
        repository.listDocuments(table, environment.parts[part]).map((json) => JSON.parse(json) as Document)
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
      for (const part of WORLD_PARTS) environments.empty(environment, part)
    } else {
      for (const part of ['integrations', 'subscribers', 'workflows'] as const) environments.empty(environment, part)
      replaceMessages(environment, world)
    }
    fill(environment, world)
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

  /** Makes room for the messages that the world brings again. */
  function replaceMessages(environment: Environment, world: World): void {
    if (world.messages.length === 0) return
    const collection = environments.own(environment, 'messages')
    for (const { _id: id } of world.messages) repository.deleteMessage({ collection, id })
  }

  function heldBy({ parts }: Environment): Held {
    const documents = <Document>(table: Parameters<typeof repository.listDocuments>[0], part: WorldPart) =>
      repository.listDocuments(table, parts[part]).map((json) => JSON.parse(json) as Document)
    return {
      integrations: documents<World['integrations'][number]>('integrations', 'integrations'),
      subscribers: documents<World['subscribers'][number]>('subscribers', 'subscribers'),
      workflows: documents<World['workflows'][number]>('workflows', 'workflows'),
      steps: documents<World['steps'][number]>('workflow_steps', 'workflows'),
      messageCount: repository.countMessages(parts.messages),
      hasMessage: (id: string) => repository.hasMessage({ collection: parts.messages, id })
    }
  }

  /** Adds a world's rows to an environment's parts. */
  function fill(environment: Environment, world: World): void {
    const collection = environments.own(environment, 'integrations')
    for (const integration of world.integrations) {
      const { _id, identifier, channel, active, primary, deleted } = integration
      const document = JSON.stringify(integration)
      repository.insertIntegration({ collection, id: _id, identifier, channel, active, primary, deleted, document })
    }
    fillSubscribers(environments.own(environment, 'subscribers'), world)
    fillWorkflows(environments.own(environment, 'workflows'), world)
    if (world.messages.length > 0) fillMessages(environments.own(environment, 'messages'), world)
  }

  function fillSubscribers(collection: number, { subscribers }: World): void {
    for (const subscriber of subscribers) {
      const { _id, subscriberId } = subscriber
      repository.insertSubscriber({ collection, id: _id, subscriberId, document: JSON.stringify(subscriber) })
    }
  }

  function fillWorkflows(collection: number, { workflows, steps }: World): void {
    for (const workflow of workflows) {
      const { _id, identifier } = workflow
      repository.insertWorkflow({ collection, id: _id, identifier, document: JSON.stringify(workflow) })
    }
    const positions = new Map<string, number>()
    for (const step of steps) {
      const { _id, workflowDatabaseId: workflowId, stepId } = step
      const position = positions.get(workflowId) ?? 0
      positions.set(workflowId, position + 1)
      repository.insertStep({ collection, id: _id, workflowId, stepId, position, document: JSON.stringify(step) })
    }
  }

  function fillMessages(collection: number, world: World): void {
    for (const message of world.messages) {
      repository.insertMessage({
        collection,
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

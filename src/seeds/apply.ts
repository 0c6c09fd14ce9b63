import { WALL } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import type { EnvironmentData } from './environment-data.js'
import type { SeedGenerate } from './format.js'
import type { EnvironmentInput } from './generate/input.js'
import { loadedGenerator } from './generate/load.js'
import type { SeedRepository } from './repository.js'

/** Messages between two pauses: some hundredths of a second. */
const PAUSE = 2000

/** From so many messages on, dropping the indexes and making them again at the end is faster. */
const MANY = 20_000

/** What puts data into environments. All of it within a transaction. */
export function seedApplier(environments: EnvironmentService, repository: SeedRepository) {
  return {
    generate,
    replace,

    /** Makes an environment what a start with the data makes of it. The keys it has stay too. */
    become(environment: Environment, data: EnvironmentData): void {
      environments.dropBaseline(environment)
      environments.rename(environment, data)
      environments.setRandomSeed(environment, data.randomSeed ?? null)
      replace(environment, data)
      for (const key of data.apiKeys) environments.addApiKey(environment, key)
      environments.setBaseline(environment)
    }
  }

  /** Gives an environment the settings, and the data in place of its records of these kinds. */
  function replace(
    environment: Environment,
    data: Omit<EnvironmentData, 'apiKeys'>,
    kinds: readonly DatasetKind[] = DATASET_KINDS
  ): void {
    for (const kind of kinds) environments.empty(environment, kind)
    environments.setProfile(environment, data.profile, data.assumptions)
    environments.setClock(environment, data.clock ?? WALL)
    const dataset = environments.ensureOwned(environment, 'integrations')
    for (const integration of data.integrations) {
      const { _id, identifier, channel, active, primary, deleted } = integration
      const document = JSON.stringify(integration)
      repository.insertIntegration({ dataset, id: _id, identifier, channel, active, primary, deleted, document })
    }
    insertSubscribers(environment, data.subscribers)
    insertWorkflows(environment, data)
    if (data.messages.length > 0) insertMessages(environment, data.messages)
    // To the end, without pauses.
    if (data.generate) Array.from(generate(environment, data, data.generate))
  }

  /** Adds generated messages, and the subscribers they need. Yields how many there are after each `PAUSE` of them. */
  function* generate(environment: Environment, data: EnvironmentInput, options: SeedGenerate): Generator<number, void> {
    const { subscribers, messages } = loadedGenerator().generation(data, options, environment.now())
    insertSubscribers(environment, subscribers)
    const dataset = environments.ensureOwned(environment, 'messages')
    const areMost = options.messages >= MANY && !repository.hasMoreMessagesThan(options.messages)
    yield* areMost ? repository.withoutIndexes(insertAll) : insertAll()

    function* insertAll(): Generator<number, void> {
      let done = 0
      for (const message of messages()) {
        repository.insertMessage(dataset, toMessageRow(message))
        done += 1
        if (done % PAUSE === 0) yield done
      }
    }
  }

  function insertSubscribers(environment: Environment, subscribers: EnvironmentData['subscribers']): void {
    const dataset = environments.ensureOwned(environment, 'subscribers')
    for (const subscriber of subscribers) {
      const { _id, subscriberId } = subscriber
      repository.insertSubscriber({ dataset, id: _id, subscriberId, document: JSON.stringify(subscriber) })
    }
  }

  function insertWorkflows(environment: Environment, { workflows, steps }: Omit<EnvironmentData, 'apiKeys'>): void {
    const dataset = environments.ensureOwned(environment, 'workflows')
    for (const workflow of workflows) {
      const { _id, identifier } = workflow
      repository.insertWorkflow({ dataset, id: _id, identifier, document: JSON.stringify(workflow) })
      const own = steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === _id)
      for (const [position, step] of own.entries()) {
        const { _id: id, stepId } = step
        repository.insertStep({ dataset, id, workflowId: _id, stepId, position, document: JSON.stringify(step) })
      }
    }
  }

  function insertMessages(environment: Environment, messages: EnvironmentData['messages']): void {
    const dataset = environments.ensureOwned(environment, 'messages')
    for (const message of messages) repository.insertMessage(dataset, toMessageRow(message))
  }
}

import { WALL } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import { canonicalContext } from '../messages/service.js'
import type { EnvironmentData } from './environment-data.js'
import type { SeedGenerate } from './format.js'
import type { EnvironmentInput } from './generate/input.js'
import { loadedGenerator } from './generate/load.js'
import type { seedRepository } from './repository.js'

/** How far the generating of messages is. */
export interface Generated {
  /** The environment's name. */
  environment: string
  done: number
  total: number
}

/** Messages between two pauses: some hundredths of a second. */
const PAUSE = 2000

/** From so many messages on, dropping the indexes and making them again at the end is faster. */
const MANY = 20_000

interface Dependencies {
  environments: EnvironmentService
  repository: ReturnType<typeof seedRepository>
}

/** What puts data into environments. All of it within a transaction. */
export function seedApplier({ environments, repository }: Dependencies) {
  return {
    fill,
    generate,

    /** Gives an environment the settings, and the data in place of its records of these kinds. */
    *replace(
      environment: Environment,
      data: Omit<EnvironmentData, 'apiKeys'>,
      kinds: readonly DatasetKind[] = DATASET_KINDS
    ): Generator<Generated, void, undefined> {
      for (const kind of kinds) environments.empty(environment, kind)
      environments.setProfile(environment, data.profile, data.assumptions)
      environments.setClock(environment, data.clock ?? WALL)
      yield* fill(environment, data)
    }
  }

  /** Adds the records to those of an environment, with a pause after each number of generated messages. */
  function* fill(
    environment: Environment,
    data: Omit<EnvironmentData, 'apiKeys'>
  ): Generator<Generated, void, undefined> {
    const dataset = environments.ensureOwned(environment, 'integrations')
    for (const integration of data.integrations) {
      const { _id, identifier, channel, active, primary, deleted } = integration
      const document = JSON.stringify(integration)
      repository.insertIntegration({ dataset, id: _id, identifier, channel, active, primary, deleted, document })
    }
    fillSubscribers(environment, data.subscribers)
    fillWorkflows(environments.ensureOwned(environment, 'workflows'), data)
    if (data.messages.length > 0) fillMessages(environments.ensureOwned(environment, 'messages'), data)
    if (data.generate) yield* generate(environment, data, data.generate)
  }

  /** Adds generated messages, and the subscribers they need. */
  function* generate(
    environment: Environment,
    data: EnvironmentInput,
    options: SeedGenerate
  ): Generator<Generated, void, undefined> {
    const { subscribers, messages } = loadedGenerator().generation(data, options, environment.now())
    fillSubscribers(environment, subscribers)
    const dataset = environments.ensureOwned(environment, 'messages')
    const areMost = options.messages >= MANY && !repository.hasMoreMessagesThan(options.messages)
    yield* areMost ? repository.withoutIndexes(insertAll) : insertAll()

    function* insertAll(): Generator<Generated, void, undefined> {
      let done = 0
      for (const message of messages()) {
        repository.insertMessage(dataset, message)
        done += 1
        if (done % PAUSE === 0) yield { environment: environment.name, done, total: options.messages }
      }
    }
  }

  function fillSubscribers(environment: Environment, subscribers: EnvironmentData['subscribers']): void {
    const dataset = environments.ensureOwned(environment, 'subscribers')
    for (const subscriber of subscribers) {
      const { _id, subscriberId } = subscriber
      repository.insertSubscriber({ dataset, id: _id, subscriberId, document: JSON.stringify(subscriber) })
    }
  }

  function fillWorkflows(dataset: number, { workflows, steps }: Pick<EnvironmentData, 'workflows' | 'steps'>): void {
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

  function fillMessages(dataset: number, { messages }: Pick<EnvironmentData, 'messages'>): void {
    for (const message of messages) {
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

/** Runs to the end without pausing. */
export function finish<Result>(steps: Generator<unknown, Result, undefined>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

import { WALL } from '../core/clock.js'
import { DATASET_KINDS, type DatasetKind } from '../core/enums.js'
import type { Environment, EnvironmentService, Settings } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import type { EnvironmentData, EnvironmentInput } from './environment-data.js'
import type { SeedGenerate } from './format.js'
import { loadedGenerator } from './generate/load.js'
import type { SeedRepository } from './repository.js'

/** Messages between two pauses: some hundredths of a second. */
const PAUSE = 2000

/** From so many messages on, dropping the indexes and making them again at the end is faster. */
const MANY = 20_000

/** Returns the functions that write data into environments. They must be called within a transaction. */
export function seedApplier(environments: EnvironmentService, repository: SeedRepository) {
  return {
    generate,
    replace,

    /** Creates an environment of the data. */
    create(data: EnvironmentData): Environment {
      const environment = environments.create(data)
      insert(environment, data)
      complete(environment, data)
      return environment
    },

    /** Makes an environment what `create` makes of the data. The keys it has stay too. */
    become(environment: Environment, data: EnvironmentData): void {
      const { name, organizationId, randomSeed = null } = data
      environments.dropBaseline(environment)
      replace(environment, data, DATASET_KINDS, { name, organizationId, randomSeed })
      complete(environment, data)
    }
  }

  function complete(environment: Environment, { apiKeys }: EnvironmentData): void {
    for (const key of apiKeys) environments.addApiKey(environment, key)
    environments.setBaseline(environment)
  }

  /** Gives an environment the settings, and the data in place of its records of these kinds. */
  function replace(
    environment: Environment,
    data: EnvironmentData,
    kinds: readonly DatasetKind[],
    settings: Partial<Settings> = {}
  ): void {
    const { profile, assumptions, clock = WALL } = data
    environments.empty(environment, kinds)
    environments.change(environment, { profile, assumptions, clock, ...settings })
    insert(environment, data)
  }

  function insert(environment: Environment, data: EnvironmentData): void {
    insertAll(environment, 'integrations', data.integrations, repository.insertIntegration)
    insertAll(environment, 'subscribers', data.subscribers, repository.insertSubscriber)
    insertAll(environment, 'workflows', data.workflows, repository.insertWorkflow)
    insertAll(environment, 'workflows', data.steps, (step) => {
      repository.insertStep({ ...step, workflowId: step.workflowDatabaseId })
    })
    if (data.messages.length > 0) {
      const dataset = environments.ensureOwned(environment, 'messages')
      for (const message of data.messages) repository.insertMessage(dataset, toMessageRow(message))
    }
    // To the end, without pauses.
    if (data.generate) Array.from(generate(environment, data, data.generate))
  }

  /** Inserts the documents as rows: with the columns that all tables have, and the fields that are columns too. */
  function insertAll<Document extends { _id: string }>(
    environment: Environment,
    kind: DatasetKind,
    documents: readonly Document[],
    insertRow: (row: Document & { dataset: number; id: string; position: number; document: string }) => void
  ): void {
    if (documents.length === 0) return
    const dataset = environments.ensureOwned(environment, kind)
    for (const [position, document] of documents.entries()) {
      insertRow({ ...document, dataset, id: document._id, position, document: JSON.stringify(document) })
    }
  }

  /** Adds generated messages, and the subscribers they need. Yields how many there are after each `PAUSE` of them. */
  function* generate(environment: Environment, data: EnvironmentInput, options: SeedGenerate): Generator<number, void> {
    const { messages: present } = repository.countRecords(environment)
    const { subscribers, messages } = loadedGenerator().generation(data, options, environment.now(), present)
    insertAll(environment, 'subscribers', subscribers, repository.insertSubscriber)
    const dataset = environments.ensureOwned(environment, 'messages')
    const areMost = options.messages >= MANY && !repository.hasMoreMessagesThan(options.messages)
    yield* areMost ? repository.withoutIndexes(insertMessages) : insertMessages()

    function* insertMessages(): Generator<number, void> {
      let done = 0
      for (const message of messages()) {
        repository.insertMessage(dataset, toMessageRow(message))
        done += 1
        if (done % PAUSE === 0) yield done
      }
    }
  }
}

import { type Clock, timeBy, WALL } from '../core/clock.js'
import type { Datasets, Environment, EnvironmentService, HeldDatasets } from '../environments/service.js'
import { toMessageRow } from '../messages/row.js'
import type { EnvironmentData, EnvironmentInput } from './environment-data.js'
import type { SeedGenerate } from './format.js'
import { loadedGenerator } from './generate/load.js'
import type { SeedRepository } from './repository.js'

/** From so many messages on, dropping the indexes and making them again at the end is faster. */
const MANY = 20_000

/** An environment's records, stored but not yet referred to. */
export interface StoredData {
  data: EnvironmentData
  datasets: Datasets
}

/** Whether nobody else uses the database until the transaction ends, so that indexes may be dropped meanwhile. */
type IsAlone = boolean

/** Returns the functions that write data into environments, in steps. They must be called within transactions. */
export function seedApplier(environments: EnvironmentService, repository: SeedRepository, clock: Clock) {
  return {
    insert,
    generate,

    /** Stores the data in new datasets. */
    *storing(held: HeldDatasets, data: EnvironmentData, isAlone: IsAlone): Generator<unknown, StoredData> {
      const datasets = held.createAll()
      yield* insert(datasets, data, isAlone)
      return { data, datasets }
    },

    /** Creates an environment of the data. */
    create({ data, datasets }: StoredData): Environment {
      const environment = environments.create(data, datasets)
      complete(environment, data)
      return environment
    },

    /** Makes an environment what `create` makes of the data. The keys it has stay too. */
    become(environment: Environment, { data, datasets }: StoredData): void {
      const { name, organizationId, profile, assumptions, clock: setting = WALL, randomSeed = null } = data
      const settings = { name, organizationId, profile, assumptions, clock: setting, randomSeed }
      environments.change(environment, settings, datasets)
      complete(environment, data)
    }
  }

  function complete(environment: Environment, { apiKeys }: EnvironmentData): void {
    for (const key of apiKeys) environments.addApiKey(environment, key)
    environments.setBaseline(environment)
  }

  /** Inserts the records into datasets to which nothing else refers. */
  function* insert(datasets: Datasets, data: EnvironmentData, isAlone: IsAlone): Generator<unknown, void> {
    yield* insertAll(datasets.integrations, data.integrations, repository.insertIntegration)
    yield* insertAll(datasets.subscribers, data.subscribers, repository.insertSubscriber)
    yield* insertAll(datasets.workflows, data.workflows, repository.insertWorkflow)
    yield* insertAll(datasets.workflows, data.steps, (step) => {
      repository.insertStep({ ...step, workflowId: step.workflowDatabaseId })
    })
    for (const message of data.messages) {
      repository.insertMessage(datasets.messages, toMessageRow(message))
      yield
    }
    if (data.generate) yield* generate(datasets, data, data.generate, isAlone)
  }

  /** Inserts the documents as rows: with the columns that all tables have, and the fields that are columns too. */
  function* insertAll<Document extends { _id: string }>(
    dataset: number,
    documents: readonly Document[],
    insertRow: (row: Document & { dataset: number; id: string; position: number; document: string }) => void
  ): Generator<undefined, void> {
    for (const [position, document] of documents.entries()) {
      insertRow({ ...document, dataset, id: document._id, position, document: JSON.stringify(document) })
      yield
    }
  }

  /**
   * Adds generated messages, and the subscribers they need. Yields how many there are after each of them, and anything
   * while it prepares and completes that.
   */
  function* generate(
    datasets: Datasets,
    data: EnvironmentInput & Pick<EnvironmentData, 'clock' | 'countGenerated'>,
    options: SeedGenerate,
    isAlone: IsAlone
  ): Generator<unknown, void> {
    const { messages: present } = repository.countRecords(datasets)
    const now = timeBy(data.clock ?? WALL, clock)
    const { subscribers, messages } = yield* loadedGenerator().preparing(data, options, now, present)
    yield* insertAll(datasets.subscribers, subscribers, repository.insertSubscriber)
    const areMost = options.messages >= MANY && !repository.hasMoreMessagesThan(options.messages)
    yield* isAlone && areMost ? repository.withoutIndexes(insertMessages) : insertMessages()

    function* insertMessages(): Generator<number, void> {
      let done = 0
      for (const message of messages()) {
        const row = toMessageRow(message)
        data.countGenerated?.(row.document.length)
        repository.insertMessage(datasets.messages, row)
        yield ++done
      }
    }
  }
}

import type { Db } from '../db/open.js'
import type { DatasetKind } from '../domain/enums.js'
import type { Environment, EnvironmentStore } from './environment.js'
import {
  type DatasetKeys,
  type EnvironmentRow,
  idReplacements,
  type OwnerIds,
  perKind
} from './repository.js'
import type { KeptBaseline } from './settings.js'

/**
 * Implements copy on write: environments and snapshots share a dataset until one of them writes to
 * it.
 */
export class Datasets {
  readonly #db: Db
  readonly #store: EnvironmentStore

  constructor(db: Db, store: EnvironmentStore) {
    this.#db = db
    this.#store = store
  }

  /** Creates one empty dataset of each kind, and returns the keys of these datasets. */
  createAll(owner: OwnerIds): DatasetKeys {
    return perKind(() => this.#create(owner))
  }

  /**
   * Returns the key of a dataset that only this environment uses. A shared dataset is copied first.
   */
  writable(environment: Environment, kind: DatasetKind): number {
    this.#store.assertExists(environment)
    if (!this.#db.client.inTransaction) {
      throw new Error('writable() must be called in the transaction that writes to the dataset')
    }
    const { repository } = this.#store
    const dataset = environment.datasets[kind]
    const foreignOwner = environment.foreignOwners[kind]
    if (!foreignOwner && !repository.isShared(kind, dataset, environment.key)) {
      this.#notifyWrite(dataset)
      return dataset
    }
    const copy = this.#create(environment)
    const owners = foreignOwner && { from: foreignOwner, to: environment }
    repository.copyRows(kind, { from: dataset, to: copy }, owners)
    this.#store.update(environment, { [kind]: copy })
    return copy
  }

  /**
   * Keeps the datasets unchanged while they are read over several turns of the event loop. Writes
   * in the meantime go to copies. Call the returned function once, after the last read.
   */
  retain(datasets: DatasetKeys): () => void {
    const { repository } = this.#store
    const reader = { ...datasets }
    repository.addReader(reader)
    return () => {
      repository.removeReader(reader)
      // If the data file is lost, the database rejects writes. Skip the cleanup then, so that users
      // can still export their data.
      const canWrite = this.#db.client.open && !this.#db.fileProblem()
      if (canWrite) this.#db.transaction(() => repository.deleteUnused(reader))
    }
  }

  /** Keeps a state of the environment, such as its baseline, for a later export. */
  keepState(environment: Environment, state: EnvironmentRow): KeptBaseline {
    const datasets = perKind((kind) => state[kind])
    return {
      environment: {
        ...environment,
        datasets,
        foreignOwners: this.#store.foreignOwnersOf(state)
      },
      settings: state,
      countRows: () => this.#store.repository.countRows(datasets),
      release: this.retain(datasets)
    }
  }

  #create(owner: OwnerIds): number {
    const dataset = this.#store.repository.insertDataset(owner)
    this.#notifyWrite(dataset)
    return dataset
  }

  #notifyWrite(dataset: number): void {
    const notify = () => {
      for (const listener of this.#store.listeners) listener.onWrite?.(dataset)
    }
    notify()
    this.#db.onRollback(notify)
  }
}

/**
 * Takes JSON from one of the environment's datasets, and returns it with the environment's own ids.
 * JSON in a shared dataset may contain the ids of another environment.
 */
export function withEnvironmentIds<T extends string | Buffer>(
  environment: Environment,
  kind: DatasetKind,
  json: T
): T {
  const owner = environment.foreignOwners[kind]
  return owner ? replaceOwnerIds(json, owner, environment) : json
}

/** Replaces the environment id and organization id of `from` in JSON with the ids of `to`. */
export function replaceOwnerIds<T extends string | Buffer>(
  json: T,
  from: OwnerIds,
  to: OwnerIds
): T {
  if (typeof json !== 'string') {
    // Latin-1 maps each byte to one character and back, so bytes outside the ids don't change. The
    // ids are ASCII, so they are the same in Latin-1.
    const replaced = replaceOwnerIds(json.toString('latin1'), from, to)
    return Buffer.from(replaced, 'latin1') as T
  }
  const { oldEnvironment, environment, oldOrganization, organization } = idReplacements(from, to)
  // `split` and `join` are twice as fast as `replaceAll`.
  return json.split(oldEnvironment).join(environment).split(oldOrganization).join(organization) as T
}

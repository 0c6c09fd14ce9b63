import type { Db } from '../db/open.js'
import type { DatasetKind } from '../domain/enums.js'
import type { Environment, EnvironmentStore } from './environment.js'
import { type Datasets, type Home, perKind, replacements } from './repository.js'

/** Copy on write: environments and snapshots share a dataset until one of them writes to it, and so gets a copy. */
export function datasetService(db: Db, { repository, listeners, update }: EnvironmentStore) {
  return {
    createAll,

    /** Gives the environment new, empty datasets. */
    clear: (environment: Environment): void =>
      db.transaction(() => update(environment, createAll(environment))),

    /**
     * Before rows are written: returns the dataset to write to, to which nothing but the environment refers, and which is
     * at home in it. To be called in the transaction of the write.
     */
    ensureOwned(environment: Environment, kind: DatasetKind): number {
      const dataset = environment.datasets[kind]
      const home = environment.otherHomes[kind]
      if (!home && !repository.isShared(kind, dataset)) return announced(dataset)
      const copy = create(environment)
      repository.copyRows(kind, dataset, copy, home && replacements(home, environment))
      update(environment, { [kind]: copy })
      return copy
    },

    /**
     * Keeps the present datasets as they are, for who reads them over several turns of the event loop: a write meanwhile
     * goes to a copy. The returned function lets go of them, and is to be called once.
     */
    reading({ datasets }: Environment): () => void {
      const reader = { ...datasets }
      repository.readers.add(reader)
      return () => {
        repository.readers.delete(reader)
        // Not where nothing is written any more: to export is the way out then.
        if (db.client.open && !db.fileProblem())
          db.transaction(() => repository.deleteUnused(reader))
      }
    }
  }

  /** Creates an empty dataset of each kind, which are at home there. */
  function createAll(home: Home): Datasets {
    return perKind(() => create(home))
  }

  function create(home: Home): number {
    return announced(
      repository.insertDataset({ environmentId: home.id, organizationId: home.organizationId })
    )
  }

  function announced(dataset: number): number {
    const tell = () => {
      for (const listener of listeners) listener.onWrite?.(dataset)
    }
    tell()
    db.onRollback(tell)
    return dataset
  }
}

/** Returns stored JSON of a dataset as the environment shows it: with its own two ids in place of those of the dataset's home. */
export function withOwnIds<T extends string | Buffer>(
  environment: Environment,
  kind: DatasetKind,
  json: T
): T {
  const home = environment.otherHomes[kind]
  return home ? withIdsOf(environment, home, json) : json
}

/** Returns JSON with the ids of an environment in place of those of another home. */
export function withIdsOf<T extends string | Buffer>(owner: Home, home: Home, json: T): T {
  // As latin1, in which each byte is a character: the ids are ASCII.
  if (typeof json !== 'string')
    return Buffer.from(withIdsOf(owner, home, json.toString('latin1')), 'latin1') as T
  const { oldEnvironment, environment, oldOrganization, organization } = replacements(home, owner)
  // Twice as fast as replaceAll.
  return json.split(oldEnvironment).join(environment).split(oldOrganization).join(organization) as T
}

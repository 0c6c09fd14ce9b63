import type { DatasetKind } from '../core/enums.js'
import type { Db } from '../db/open.js'
import type { Datasets, Environment, EnvironmentStore } from './environment.js'
import { type Owners, perKind } from './repository.js'

/** Datasets that are read or filled over several turns of the event loop. */
export interface HeldDatasets {
  /** Keeps these as they are: a write to one goes to a copy of it, and none is deleted. */
  keep(datasets: Partial<Datasets>): void
  /** Creates a dataset, to which nothing refers yet. */
  create(): number
  createAll(): Datasets
  /** Creates a copy of a dataset, in steps; with owners, their ids in the documents are replaced. */
  copying(kind: DatasetKind, from: number, owners?: Owners): Generator<undefined, number>
  /** To be called once, in the end: deletes what nothing refers to then. */
  release(): void
}

/**
 * Copy on write: environments and snapshots share a dataset until one of them writes to it, and so gets a copy. All
 * methods run within a transaction. `onWrite` is called when a dataset is new or about to be written to, and when that
 * is rolled back.
 */
export function datasetService(
  db: Db,
  { repository, unused, update }: EnvironmentStore,
  onWrite: (dataset: number) => void
) {
  return {
    create,

    hold(): HeldDatasets {
      const held: number[] = []
      const hold = (dataset: number) => {
        repository.hold(dataset)
        held.push(dataset)
        return dataset
      }
      return {
        keep: (datasets) => Object.values(datasets).forEach(hold),
        create: () => hold(create()),
        createAll: () => perKind(() => hold(create())),
        *copying(kind, from, owners) {
          const copy = hold(create())
          yield* repository.copyingRows(kind, from, copy, owners)
          return copy
        },
        release() {
          for (const dataset of held.splice(0)) {
            repository.release(dataset)
            // Not at once: the transaction that this may be in may still be rolled back.
            unused.add(dataset)
          }
        }
      }
    },

    /** Before rows are written: returns the dataset to write to, to which nothing but the environment refers. */
    ensureOwned(environment: Environment, kind: DatasetKind): number {
      const dataset = environment.datasets[kind]
      if (!repository.isShared(kind, dataset)) return announced(dataset)
      const copy = create()
      repository.copyRows(kind, dataset, copy)
      update(environment, { [kind]: copy })
      return copy
    },

    /** Whether another environment or snapshot refers to the dataset too, so that a write would copy it. */
    isShared: ({ datasets }: Environment, kind: DatasetKind): boolean => repository.isShared(kind, datasets[kind])
  }

  function create(): number {
    return announced(repository.insertDataset())
  }

  function announced(dataset: number): number {
    onWrite(dataset)
    db.onRollback(() => onWrite(dataset))
    return dataset
  }
}

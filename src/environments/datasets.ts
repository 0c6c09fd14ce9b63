import type { DatasetKind } from '../core/enums.js'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentStore } from './environment.js'

/**
 * Copy on write: environments and snapshots share a dataset until one of them writes to it, and so gets a copy. All
 * methods run within a transaction. `onWrite` is called when a dataset is new or about to be written to, and when that
 * is rolled back.
 */
export function datasetService(
  db: Db,
  { repository, update }: EnvironmentStore,
  onWrite: (kind: DatasetKind, dataset: number) => void
) {
  return {
    create,

    /** Before rows are written: returns the dataset to write to, to which nothing but the environment refers. */
    ensureOwned(environment: Environment, kind: DatasetKind): number {
      const dataset = environment.datasets[kind]
      if (!repository.isShared(kind, dataset)) return announced(kind, dataset)
      const copy = create(kind)
      repository.copyRows(kind, dataset, copy)
      update(environment, { [kind]: copy })
      return copy
    },

    /** Gives the environment empty datasets of these kinds in place of those it has. */
    empty: (environment: Environment, kinds: readonly DatasetKind[]): void =>
      update(environment, Object.fromEntries(kinds.map((kind) => [kind, create(kind)])))
  }

  function create(kind: DatasetKind): number {
    return announced(kind, repository.insertDataset())
  }

  function announced(kind: DatasetKind, dataset: number): number {
    onWrite(kind, dataset)
    db.onRollback(() => onWrite(kind, dataset))
    return dataset
  }
}

import { nextTurn } from '../core/slices.js'
import type { Db } from '../db/open.js'
import type { EnvironmentRepository } from './repository.js'

/** Deletes datasets that nothing refers to, some rows at a time, so that requests are answered meanwhile. */
export function unusedDatasets({ client, transaction }: Db, repository: EnvironmentRepository) {
  const waiting = new Set<number>()
  let isRunning = false
  // Those that a process that was killed has left behind.
  for (const dataset of repository.listUnreferenced()) add(dataset)

  return { add }

  /** Deletes the dataset later, unless it is in use then. */
  function add(dataset: number): void {
    waiting.add(dataset)
    if (isRunning) return
    isRunning = true
    // What it can't delete, be it that the disk is full, the next start deletes.
    void deleteAll()
      .catch(() => {})
      .finally(() => {
        isRunning = false
      })
  }

  async function deleteAll(): Promise<void> {
    while (waiting.size > 0) {
      for (const dataset of waiting) {
        await nextTurn()
        if (!client.open) return
        // Somebody works in steps, and nobody else uses the database meanwhile.
        if (client.inTransaction) continue
        if (repository.isInUse(dataset) || transaction(() => repository.deleteSome(dataset))) waiting.delete(dataset)
      }
    }
  }
}

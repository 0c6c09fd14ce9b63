import type Database from 'better-sqlite3'
import { dataLost } from '../domain/errors.js'

export function transactions(client: Database.Database, fileProblem: () => string | undefined) {
  const run = client.transaction((work: () => unknown) => work())
  const undos: (() => void)[] = []
  return {
    /**
     * Runs synchronous work in a transaction, or in a savepoint of the open one, and rolls back when it throws. Throws
     * `data-lost` when what it writes would not be kept.
     */
    transaction<T>(work: () => T): T {
      const reason = client.inTransaction ? undefined : fileProblem()
      if (reason) throw dataLost(reason)
      const before = undos.length
      try {
        return run.immediate(work) as T
      } catch (error) {
        undoSince(before)
        throw error
      } finally {
        if (!client.inTransaction) undos.length = 0
      }
    },

    /** Calls back when what is done now is rolled back: the open transaction or savepoint. Without one it does nothing. */
    onRollback: (undo: () => void): void => void (client.inTransaction && undos.push(undo))
  }

  /** What was done last is undone first; what was done before a savepoint stays when only that is rolled back. */
  function undoSince(index: number): void {
    for (const undo of undos.splice(index).reverse()) undo()
  }
}

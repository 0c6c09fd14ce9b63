import type Database from 'better-sqlite3'
import { nextTurn, runSlice } from '../core/slices.js'

export interface Transactions {
  /**
   * Runs the work in a transaction, or in a savepoint of the open one, and rolls back when it throws. The work must be
   * synchronous: better-sqlite3 has no other transactions.
   */
  transaction<T>(work: () => T): T
  /** The same for work that pauses, while nobody else uses the database. Ending it early rolls it back too. */
  transactionInSteps<Step, T>(work: () => Generator<Step, T, undefined>): Generator<Step, T, undefined>
  /**
   * Runs the work in slices of some milliseconds, each a transaction of its own, and lets others use the database between
   * them. What stands between two steps is done whole or not at all. Before each slice it calls `check`. When that or the
   * work throws, rejects with it; the slices before are undone only by what the work does in `finally`.
   */
  transactionPerSlice<T>(work: Generator<unknown, T>, check: () => void): Promise<T>
  /** Calls back when what is done now is rolled back: the open transaction or savepoint. Without one it does nothing. */
  onRollback(undo: () => void): void
}

export function transactions(client: Database.Database): Transactions {
  const run = client.transaction((work: () => unknown) => work())
  const undos: (() => void)[] = []
  return {
    transaction,

    async transactionPerSlice(work, check) {
      try {
        while (true) {
          await nextTurn()
          if (!client.open) throw new Error('the database was closed meanwhile')
          check()
          const step = transaction(() => runSlice(work))
          if (step.done) return step.value
        }
      } finally {
        work.return(undefined as never)
      }
    },

    *transactionInSteps(work) {
      client.exec('BEGIN IMMEDIATE')
      try {
        const result = yield* work()
        client.exec('COMMIT')
        return result
      } finally {
        if (client.inTransaction) {
          client.exec('ROLLBACK')
          undoSince(0)
        }
        undos.length = 0
      }
    },

    onRollback(undo) {
      if (client.inTransaction) undos.push(undo)
    }
  }

  function transaction<T>(work: () => T): T {
    const before = undos.length
    try {
      return run.immediate(work) as T
    } catch (error) {
      undoSince(before)
      throw error
    } finally {
      if (!client.inTransaction) undos.length = 0
    }
  }

  /** What was done before a savepoint stays when only that is rolled back. */
  function undoSince(index: number): void {
    for (const undo of undos.splice(index)) undo()
  }
}

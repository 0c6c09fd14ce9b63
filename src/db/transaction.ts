import type Database from 'better-sqlite3'

export interface Transactions {
  /**
   * Runs the work in a transaction, or in a savepoint of the open one, and rolls back when it throws. The work must be
   * synchronous: better-sqlite3 has no other transactions.
   */
  transaction<T>(work: () => T): T
  /** The same for work that pauses, while nobody else uses the database. Ending it early rolls it back too. */
  inSteps<Step, T>(work: () => Generator<Step, T, undefined>): Generator<Step, T, undefined>
  /** Calls back when the open transaction, or a savepoint in it, is rolled back. Without one it does nothing. */
  onRollback(undo: () => void): void
}

export function transactions(client: Database.Database): Transactions {
  const run = client.transaction((work: () => unknown) => work())
  let undos: (() => void)[] = []
  return {
    transaction<T>(work: () => T): T {
      try {
        return run.immediate(work) as T
      } catch (error) {
        for (const undo of undos) undo()
        throw error
      } finally {
        if (!client.inTransaction) undos = []
      }
    },

    *inSteps(work) {
      client.exec('BEGIN IMMEDIATE')
      try {
        const result = yield* work()
        client.exec('COMMIT')
        return result
      } finally {
        if (client.inTransaction) {
          client.exec('ROLLBACK')
          for (const undo of undos) undo()
        }
        undos = []
      }
    },

    onRollback(undo) {
      if (client.inTransaction) undos.push(undo)
    }
  }
}

import type Database from 'better-sqlite3'
import { dataLost } from '../domain/errors.js'

/**
 * Runs database transactions. Code that changes state in memory during a transaction registers an
 * `onRollback` callback that undoes the change if the transaction rolls back.
 */
export class Transactions {
  readonly #client: Database.Database
  readonly #fileProblem: () => string | undefined
  readonly #run: Database.Transaction<(work: () => unknown) => unknown>
  readonly #undoCallbacks: (() => void)[] = []

  constructor(client: Database.Database, fileProblem: () => string | undefined) {
    this.#client = client
    this.#fileProblem = fileProblem
    this.#run = client.transaction((work: () => unknown) => work())
  }

  /**
   * Runs synchronous work in a transaction, or in a savepoint if a transaction is already open.
   * Rolls back if the work throws. Throws `data-lost` if the data file can no longer be written.
   */
  transaction<T>(work: () => T): T {
    const problem = this.#client.inTransaction ? undefined : this.#fileProblem()
    if (problem) throw dataLost(problem)
    const callbacksBefore = this.#undoCallbacks.length
    try {
      return this.#run.immediate(work) as T
    } catch (error) {
      this.#undoSince(callbacksBefore)
      throw error
    } finally {
      if (!this.#client.inTransaction) this.#undoCallbacks.length = 0
    }
  }

  /**
   * Registers a callback that is called if the open transaction or savepoint rolls back. Does
   * nothing if no transaction is open.
   */
  onRollback(undo: () => void): void {
    if (this.#client.inTransaction) this.#undoCallbacks.push(undo)
  }

  /**
   * Removes the undo callbacks from `index` on, and calls them, newest first. The callbacks before
   * `index` belong to work that isn't rolled back.
   */
  #undoSince(index: number): void {
    for (const undo of this.#undoCallbacks.splice(index).reverse()) undo()
  }
}

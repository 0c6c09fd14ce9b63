import type { Environment } from '../environments/service.js'
import { Journal, type JournalOptions } from './journal.js'
import { BlockPool, ResponseStore } from './response-store.js'

type SharedOptions = Pick<JournalOptions, 'capacity' | 'clock' | 'describer' | 'count'>

/** Keeps one journal per environment, and another for requests without a valid key. */
export class JournalService {
  readonly #options: SharedOptions
  /**
   * Maps the `key` of each environment to its journal. The journal of unauthenticated requests is
   * under `undefined`.
   */
  readonly #journals = new Map<number | undefined, Journal>()
  readonly #blocks = new BlockPool()
  #isClosed = false

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /**
   * Returns the environment's journal. Without an environment, returns the journal of
   * unauthenticated requests.
   */
  of(environment: Environment | undefined): Journal {
    const key = environment?.key
    const existing = this.#journals.get(key)
    if (existing) return existing
    const journal = new Journal({
      ...this.#options,
      clock: environment?.now ?? this.#options.clock,
      environment,
      responses: new ResponseStore(this.#blocks),
      isClosed: this.#isClosed
    })
    this.#journals.set(key, journal)
    return journal
  }

  /**
   * Removes an environment's journal or, if `environmentKey` is undefined, the journal of
   * unauthenticated requests. Closes the journal, and clears it unless it is kept for the report.
   */
  drop(environmentKey: number | undefined): void {
    const journal = this.#journals.get(environmentKey)
    if (!journal?.isKept) journal?.clear()
    journal?.close()
    this.#journals.delete(environmentKey)
  }

  /**
   * Closes all journals, including those that are created later. Streams end at once, and
   * verifications no longer wait for requests.
   */
  close(): void {
    this.#isClosed = true
    for (const journal of this.#journals.values()) journal.close()
  }
}

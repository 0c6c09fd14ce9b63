import type { Environment } from '../environments/service.js'
import { Journal, type JournalOptions } from './journal.js'
import { BlockPool, ResponseStore } from './response-store.js'

type SharedOptions = Pick<JournalOptions, 'capacity' | 'clock' | 'describer' | 'count'>

/** Keeps one journal per environment, and another for requests without a valid key. */
export class JournalService {
  readonly #options: SharedOptions
  /**
   * Maps an environment's key to its journal. The journal of unauthenticated requests has the key
   * `undefined`.
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
   * Removes an environment's journal. Without a key, removes the journal of unauthenticated
   * requests. Ends the journal's streams, and the verifications that wait for its requests. Clears
   * the journal unless it is kept for the report.
   */
  drop(environmentKey: number | undefined): void {
    const journal = this.#journals.get(environmentKey)
    if (!journal?.isKept) journal?.clear()
    journal?.close()
    this.#journals.delete(environmentKey)
  }

  /**
   * Ends all streams, and all verifications that wait for requests. A stream or a verification that
   * starts later ends at once.
   */
  close(): void {
    this.#isClosed = true
    for (const journal of this.#journals.values()) journal.close()
  }
}

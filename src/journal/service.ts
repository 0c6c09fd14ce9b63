import type { Environment } from '../environments/service.js'
import { Journal, type JournalOptions } from './journal.js'
import { BlockPool, ResponseStore } from './response-store.js'

type SharedOptions = Pick<JournalOptions, 'capacity' | 'clock' | 'describer' | 'count'>

/** Keeps a journal per environment, and one for the requests without a valid key. */
export class JournalService {
  readonly #options: SharedOptions
  /** By the environment's key. Undefined is the key of the unauthenticated requests. */
  readonly #journals = new Map<number | undefined, Journal>()
  readonly #blocks = new BlockPool()
  #isClosed = false

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /** Returns the journal of an environment, or that of the unauthenticated requests. */
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
   * Ends the streams and waits of a journal, and forgets it. Undefined is the key of the
   * unauthenticated requests.
   */
  drop(environmentKey: number | undefined): void {
    const journal = this.#journals.get(environmentKey)
    journal?.clear()
    journal?.close()
    this.#journals.delete(environmentKey)
  }

  /** Ends all streams and waits, and any that start later. */
  close(): void {
    this.#isClosed = true
    for (const journal of this.#journals.values()) journal.close()
  }
}

import {
  type AttachedEnvironment,
  type Change,
  MockError,
  type RecordedRequest
} from '../../client/index.js'
import { messageOf } from '../parts/error-note.js'

/** The requests to an environment and the changes between them, updated as they arrive. */
export interface Feed {
  /** Newest first. Each update creates a new array. */
  requests: readonly RecordedRequest[]
  /** The changes to the environment between requests, oldest first. */
  changes: readonly Change[]
  isLoaded: boolean
  /** Whether older requests can be loaded. */
  hasMore: boolean
  /** Undefined while connected. */
  problem?: ConnectionProblem | undefined
}

/** `removed` means that the server no longer accepts the environment's API key. */
export type ConnectionProblem = { kind: 'removed' } | { kind: 'unreachable'; message: string }

function problemOf(error: unknown): ConnectionProblem {
  if (error instanceof MockError && error.status === 401) return { kind: 'removed' }
  return { kind: 'unreachable', message: messageOf(error) }
}

/** The number of requests to keep, which is the journal's default limit. */
const KEPT_REQUESTS = 1000
/** The number of requests to keep after the user has scrolled to older ones. */
const MAX_KEPT_REQUESTS = 10_000
const PAGE_SIZE = 300
/** Milliseconds during which arriving requests are collected into one update. */
const UPDATE_DELAY = 250
/** The delay while many requests arrive. It is longer because each update renders the list. */
const BUSY_UPDATE_DELAY = 1000
/** If an update contains at least this many requests, the next one waits for the longer delay. */
const BUSY_COUNT = 4
/** Milliseconds between a change and the reload of the visible data. */
const RELOAD_DELAY = 300
/** Minimum milliseconds between two reloads after changes. */
const RELOAD_INTERVAL = 1500
const RETRY_DELAY = 2000
/**
 * Matches elements in use: an open form, a list under the mouse, or a list with the keyboard focus.
 * While an element is in use, the visible data isn't reloaded, except for the list of requests.
 */
const IN_USE =
  'form[data-held="true"], .pane > .list:hover, .pane > .list [data-item]:focus-visible'
/** Operations that may delete requests from the journal. */
const DELETING_OPERATIONS = ['clearRequests', 'resetEnvironment']

const EMPTY_FEED: Feed = {
  requests: [],
  changes: [],
  isLoaded: false,
  hasMore: false
}

/** Called when the feed changes, with the requests that arrived since the last call, if any. */
type Listener = (requests: readonly RecordedRequest[]) => void

/**
 * What to reload. `records` is used after a request that changed records. `settings` is used after
 * other changes, and also reloads the clock, the faults and the latency. `everything` also reloads
 * the list of environments.
 */
export type ReloadScope = 'records' | 'settings' | 'everything'

type Timer = ReturnType<typeof setTimeout>

interface LoadedJournal {
  requests: Map<number, RecordedRequest>
  changes: Map<number, Change>
  isLoaded: boolean
  hasMore: boolean
}

const emptyJournal = (): LoadedJournal => ({
  requests: new Map(),
  changes: new Map(),
  isLoaded: false,
  hasMore: false
})

const bySequence = <Item extends { sequence: number }>(items: Iterable<Item>) =>
  new Map([...items].map((item) => [item.sequence, item]))

/**
 * Follows an environment's event stream and keeps the newest requests. Calls `reload` after changes
 * and after reconnecting, so that the views load their data again. Combines changes in quick
 * succession into one reload.
 */
export class LiveRequests {
  readonly #env: AttachedEnvironment
  readonly #reload: (scope: ReloadScope) => void
  readonly #listeners = new Set<Listener>()
  #feed = EMPTY_FEED
  /** The loaded requests, and the requests that arrived since loading started. */
  #journal = emptyJournal()
  #keptRequests = KEPT_REQUESTS
  #arrivedRequests: RecordedRequest[] = []
  #signal: AbortSignal | undefined
  #updateTimer: Timer | undefined
  #updateDelay = UPDATE_DELAY
  #reloadTimer: Timer | undefined
  #reloadScope: ReloadScope = 'records'
  #reloadedAt = Number.NEGATIVE_INFINITY

  constructor(env: AttachedEnvironment, reload: (scope: ReloadScope) => void) {
    this.#env = env
    this.#reload = reload
  }

  get feed(): Feed {
    return this.#feed
  }

  /** Calls a listener on every update. Returns a function that removes the listener. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Reads the stream until the signal is aborted. Reconnects if the connection breaks. */
  async follow(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    while (!signal.aborted) {
      try {
        await this.#readStream(signal)
        if (signal.aborted) return
        // The stream ends without an error only if the environment was removed.
        this.#publish({ problem: { kind: 'removed' } })
      } catch (error) {
        this.#publish({ problem: problemOf(error) })
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
    }
  }

  /** Loads the next page of older requests. */
  async loadMore(): Promise<void> {
    const journal = this.#journal
    const before = this.#feed.requests.at(-1)?.sequence
    if (!journal.hasMore || before === undefined) return
    journal.hasMore = false
    this.#keptRequests = MAX_KEPT_REQUESTS
    let older: RecordedRequest[]
    try {
      older = await this.#env.requests.list({ order: 'newest', before, limit: PAGE_SIZE })
    } catch {
      // Ignore the failure. The list calls this method again when it is scrolled.
      journal.hasMore = true
      return
    }
    journal.hasMore = older.length === PAGE_SIZE
    if (this.#journal !== journal) return
    journal.requests = bySequence([...older, ...journal.requests.values()])
    this.#update()
  }

  async #readStream(signal: AbortSignal): Promise<void> {
    const stream = this.#env.requests.stream({
      signal,
      onOpen: () => this.#onOpen(),
      onChange: (change) => this.#onChange(change),
      onPending: (request) => {
        this.#journal.requests.set(request.sequence, request)
        this.#updateSoon()
      }
    })
    for await (const request of stream) {
      this.#journal.requests.set(request.sequence, request)
      this.#arrivedRequests.push(request)
      if (request.changed?.length) this.#reloadSoon('records')
      this.#updateSoon()
    }
  }

  #onOpen(): void {
    if (this.#feed !== EMPTY_FEED) this.#reload('everything')
    // Load only after the stream is open. Otherwise requests that arrive between the load and the
    // opening of the stream would be missed.
    this.#load()
  }

  #onChange(change: Change): void {
    this.#reloadSoon('settings')
    if (DELETING_OPERATIONS.includes(change.operation ?? '')) {
      this.#load()
      return
    }
    this.#journal.changes.set(change.sequence, change)
    this.#updateSoon()
  }

  /**
   * Loads the newest requests and all changes. Never rejects: after a failure, publishes the
   * problem and retries.
   */
  async #load(): Promise<void> {
    const journal = emptyJournal()
    this.#journal = journal
    const isOutdated = () => this.#journal !== journal
    try {
      const [requests, changes] = await Promise.all([
        this.#env.requests.list({ order: 'newest', limit: PAGE_SIZE }),
        this.#env.requests.changes()
      ])
      journal.requests = bySequence([...requests, ...journal.requests.values()])
      journal.changes = bySequence([...changes, ...journal.changes.values()])
      journal.hasMore = requests.length === PAGE_SIZE
      journal.isLoaded = true
      if (!isOutdated()) this.#update()
    } catch (error) {
      if (isOutdated()) return
      this.#publish({ problem: problemOf(error) })
      if (this.#signal?.aborted) return
      setTimeout(() => {
        if (!isOutdated()) this.#load()
      }, RETRY_DELAY)
    }
  }

  #updateSoon(): void {
    this.#updateTimer ??= setTimeout(() => this.#update(), this.#updateDelay)
  }

  #update(): void {
    clearTimeout(this.#updateTimer)
    this.#updateTimer = undefined
    const journal = this.#journal
    if (!journal.isLoaded) return
    const requests = [...journal.requests.values()].sort((a, b) => b.sequence - a.sequence)
    const dropped = requests.splice(this.#keptRequests)
    for (const { sequence } of dropped) journal.requests.delete(sequence)
    if (dropped.length > 0) journal.hasMore = this.#keptRequests < MAX_KEPT_REQUESTS
    const arrivedRequests = this.#arrivedRequests
    this.#arrivedRequests = []
    this.#updateDelay = arrivedRequests.length < BUSY_COUNT ? UPDATE_DELAY : BUSY_UPDATE_DELAY
    const part = {
      requests,
      changes: [...journal.changes.values()],
      isLoaded: true,
      hasMore: journal.hasMore,
      problem: undefined
    }
    this.#publish(part, arrivedRequests)
  }

  #publish(part: Partial<Feed>, arrivedRequests: readonly RecordedRequest[] = []): void {
    this.#feed = { ...this.#feed, ...part }
    for (const listener of this.#listeners) listener(arrivedRequests)
  }

  #reloadSoon(scope: ReloadScope): void {
    if (scope !== 'records') this.#reloadScope = scope
    const rest = this.#reloadedAt + RELOAD_INTERVAL - performance.now()
    this.#reloadTimer ??= setTimeout(() => this.#reloadUnlessInUse(), Math.max(RELOAD_DELAY, rest))
  }

  #reloadUnlessInUse(): void {
    this.#reloadTimer = undefined
    const scope = this.#reloadScope
    if (document.querySelector(IN_USE)) {
      this.#reloadSoon(scope)
      return
    }
    this.#reloadScope = 'records'
    this.#reloadedAt = performance.now()
    this.#reload(scope)
  }
}

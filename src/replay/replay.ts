import { targetOf } from '../domain/query-string.js'
import type { Environment } from '../environments/service.js'
import type { LatencyService } from '../faults/latency.js'
import type { ControlRequest } from '../journal/control-requests.js'
import type { Journal, JournalEvent } from '../journal/journal.js'
import type { RecordedExchange } from '../journal/schemas.js'
import { causeOf, type ReplayFacts } from './causes.js'
import { compareResponses } from './compare.js'
import type { ReplayedRequest, ReplayState } from './schemas.js'
import { sendRequest, toRequest } from './send.js'

/** A control request in a report. */
type RecordedControlRequest = Omit<ControlRequest, 'url'> & { target: string }

/** The recorded test. */
export interface RecordedTest extends ReplayFacts {
  title: string
  warnings: string[]
  controlRequests: readonly RecordedControlRequest[]
  /** The path and query of each request whose URL has an unusual encoding, by sequence number. */
  targets: Record<string, string>
  /**
   * The time that each request read from the environment's clock, in milliseconds, by sequence
   * number. A request that read its arrival time has no entry.
   */
  times: Record<string, number>
}

/**
 * The environment that gets the repeated requests, and the parts of its server that a replay needs.
 */
export interface ReplayTarget {
  url: string
  apiKey: string
  environment: Environment
  journal: Journal
  latency: LatencyService
  /** The server's clock. It stands still unless the replay changes `now`. */
  clock: { now: number }
}

/** Repeats the requests of a recorded test one by one, and compares the responses. */
export class Replay {
  readonly test: RecordedTest
  readonly #target: ReplayTarget
  readonly #repeated: ReplayedRequest[] = []
  #controlCount = 0
  #isSending = false

  constructor(test: RecordedTest, target: ReplayTarget) {
    this.test = test
    this.#target = target
  }

  /** The next request to repeat; undefined after the last one. */
  get next(): RecordedExchange | undefined {
    return this.test.requests[this.#repeated.length]
  }

  /** Whether a request is being repeated. */
  get isSending(): boolean {
    return this.#isSending
  }

  state(): ReplayState {
    const { title, warnings, requests } = this.test
    const rest = requests.slice(this.#repeated.length).map((request, index) => ({
      ...this.#describe(request),
      result: index === 0 ? ('next' as const) : ('later' as const)
    }))
    return { title, warnings, requests: [...this.#repeated, ...rest] }
  }

  /** Repeats the requests before this sequence number. By default, repeats all requests. */
  async repeatUntil(sequence = Infinity): Promise<void> {
    while (this.next && this.next.sequence < sequence) await this.repeatNext()
    await this.#prepareNext()
  }

  /**
   * Repeats the next request. Must not be called after the last request, or while a request is
   * being repeated.
   */
  async repeatNext(): Promise<ReplayedRequest> {
    const { next } = this
    if (!next) throw new Error('all requests were repeated')
    this.#isSending = true
    this.#target.latency.isInstant = true
    try {
      await this.#prepareNext()
      const repeated = await this.#send(next)
      this.#repeated.push(repeated)
      // Prepare the next request now, because the user may send it with another client.
      await this.#prepareNext()
      return repeated
    } finally {
      this.#isSending = false
      this.#target.latency.isInstant = false
    }
  }

  async #send(recorded: RecordedExchange): Promise<ReplayedRequest> {
    const { url, apiKey, journal } = this.#target
    const ended = nextEnd(journal)
    const before = journal.lastSequence
    await sendRequest(url, toRequest(recorded, this.targetOf(recorded), apiKey))
    const entry = journal.lastSequence > before ? await ended : undefined
    const repeated = entry && journal.describer.exchange(entry)
    const differences = compareResponses(recorded.response, repeated?.response)
    const cause = differences.length > 0 ? causeOf(recorded, repeated, this.test) : undefined
    return {
      ...this.#describe(recorded),
      result: differences.length === 0 ? 'equal' : 'different',
      ...(entry && { repeatedAs: entry.sequence }),
      ...(differences.length > 0 && { differences }),
      ...(cause !== undefined && { cause })
    }
  }

  /** Returns the path and query of a recorded request. */
  targetOf({ sequence, path, query }: RecordedExchange): string {
    return this.test.targets[sequence] ?? targetOf(path, query)
  }

  /**
   * Repeats the control requests that come before the next request. Sets the clock to the time of
   * that request.
   */
  async #prepareNext(): Promise<void> {
    const { next } = this
    await this.#repeatControlRequests(next?.sequence ?? Infinity)
    if (next) this.#setTime(this.test.times[next.sequence] ?? Date.parse(next.time))
  }

  async #repeatControlRequests(sequence: number): Promise<void> {
    const { url, apiKey } = this.#target
    for (;;) {
      const request = this.test.controlRequests[this.#controlCount]
      if (!request || request.after >= sequence) return
      this.#controlCount += 1
      this.#setTime(request.time)
      const headers = { authorization: `ApiKey ${apiKey}` }
      const status = await sendRequest(url, { ...request, headers })
      if (status === undefined || status >= 300) {
        const { method, target, after } = request
        this.test.warnings.push(
          `could not repeat ${method} ${target} (${status}), which was sent after request ${after}`
        )
      }
    }
  }

  /** Sets the server's clock so that the environment's clock shows this time. */
  #setTime(time: number): void {
    const { environment, clock } = this.#target
    if (environment.clock.mode !== 'fixed') clock.now += time - environment.now()
  }

  #describe(recorded: RecordedExchange) {
    const { sequence, method, status } = recorded
    const target = this.targetOf(recorded)
    return { sequence, method, target, ...(status !== undefined && { status }) }
  }
}

/** Resolves to the entry of the next request that ends. */
function nextEnd(journal: Journal) {
  return new Promise<Extract<JournalEvent, { kind: 'request' }>['entry']>((resolve) => {
    const listener = (event: JournalEvent) => {
      if (event.kind !== 'request' || event.entry.endSequence === 0) return
      journal.listeners.delete(listener)
      resolve(event.entry)
    }
    journal.listeners.add(listener)
  })
}

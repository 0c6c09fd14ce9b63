import { type Connection, path, type Signal } from './connection.js'
import type {
  AnsweredRequest,
  Change,
  Operation,
  RecordedRequest,
  RequestPattern,
  Verification,
  VerificationResult
} from './control-api.js'
import { type Duration, milliseconds } from './duration.js'
import { MockError } from './errors.js'
import { type StreamOptions, streamRequests } from './stream.js'

/** Which of the recorded requests to list; all if left out. */
export interface RequestFilter {
  operation?: Operation | undefined
  method?: string | undefined
  /** A status, a class of them such as `4xx`, or `none` for what was not answered. */
  status?: number | `${1 | 2 | 3 | 4 | 5}xx` | 'none' | undefined
  /** Exactly this path. */
  path?: string | undefined
  /** Only paths that begin with this. */
  pathPrefix?: string | undefined
  /** Only requests with all these words in method, path, parameters, ids, body or reason; in any case. */
  text?: string | undefined
  /** Only requests at or after this time. */
  since?: string | Date | undefined
  /** Only requests with a greater sequence. */
  after?: number | undefined
  /** Only requests with a smaller sequence. */
  before?: number | undefined
  /** Which come first: `oldest` if left out. */
  order?: 'oldest' | 'newest' | undefined
  /** At most this many, the first ones. */
  limit?: number | undefined
}

/** What to expect of the recorded requests; `within` waits for it. */
export interface ExpectedRequests extends Omit<Verification, 'within'> {
  within?: Duration
}

interface WaitOptions {
  /** How long to wait; 5 seconds by default. */
  within?: Duration
  /** Only requests with a greater sequence; by default those that are there already count. */
  after?: number
  signal?: Signal
}

/** The requests to the service that an environment has recorded. */
export interface Requests {
  /** Returns the requests, newest last unless another order is asked for. */
  list(filter?: RequestFilter): Promise<RecordedRequest[]>
  /** Returns a request with its answer. Rejects with `MockError` of status 404 if the journal does not have it any more. */
  get(sequence: number): Promise<AnsweredRequest>
  /** Returns what was done to the environment between the requests: the last 200 changes, newest last. */
  changes(): Promise<Change[]>
  /** Removes all recorded requests, and the changes between them. */
  clear(): Promise<void>
  /**
   * Verifies that the expected requests were made: at least one, unless a number is given. Rejects with `MockError` of
   * status 417 if not; its message says which request came nearest and what differs.
   */
  verify(expected: ExpectedRequests, options?: { signal?: Signal }): Promise<VerificationResult>
  /** Returns the first request that matches, and waits for it. Rejects as `verify` does when none comes in time. */
  waitFor(pattern: RequestPattern, options?: WaitOptions): Promise<RecordedRequest>
  /**
   * Yields each request when it has ended. Continues after a connection that was cut, and ends by `break`, by the signal,
   * or when the environment is removed.
   */
  stream(options?: StreamOptions): AsyncGenerator<RecordedRequest, void>
}

export function requestsOf(connection: Connection): Requests {
  const { json, list, done } = connection
  const verify: Requests['verify'] = async ({ within, ...expected }, options) => {
    const body = within === undefined ? expected : { ...expected, within: milliseconds(within) }
    return json('POST', '/_mock/requests/verify', { body, ...options })
  }
  return {
    list: (filter) => list('/_mock/requests', 'requests', { ...filter }),
    get: (sequence) => json('GET', path`/_mock/requests/${String(sequence)}`),
    changes: () => list('/_mock/requests/changes', 'changes'),
    clear: () => done('DELETE', '/_mock/requests'),
    verify,
    waitFor: async (pattern, { within = '5s', after, signal } = {}) => {
      const expected = { ...pattern, within, ...(after !== undefined && { after }) }
      const { requests } = await verify(expected, signal && { signal })
      const [sequence = 0] = requests
      const query = { after: sequence - 1, limit: 1 }
      const [found] = await list<RecordedRequest>('/_mock/requests', 'requests', query)
      if (found?.sequence === sequence) return found
      throw new MockError(`request ${sequence} has matched, but is no longer in the journal`)
    },
    stream: (options = {}) => streamRequests(connection, options)
  }
}

import { type Connection, type Duration, milliseconds, path, type Signal } from './connection.js'
import type * as wire from './control-api.js'
import { MockError } from './errors.js'
import { type StreamOptions, streamRequests } from './stream.js'

interface Filter extends Omit<wire.JournalQuery, 'status' | 'since'> {
  /** A status, a class of them such as `4xx`, or `none` for what was not answered. */
  status: number | `${1 | 2 | 3 | 4 | 5}xx` | 'none'
  /** Only requests at or after this time. */
  since: string | Date
}

/** Which of the recorded requests to list, the oldest first unless another order is asked for; all if left out. */
export type RequestFilter = { [Name in keyof Filter]?: Filter[Name] | undefined }

/** What to expect of the recorded requests; `within` waits for it. */
export interface ExpectedRequests extends Omit<wire.Verification, 'within'> {
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
export interface Requests extends ReturnType<typeof requestsOf> {}

export function requestsOf(connection: Connection) {
  const { json, list, done } = connection
  return {
    /** Returns the requests, newest last unless another order is asked for. */
    list: (filter?: RequestFilter) => list<wire.RecordedRequest>('/_mock/requests', 'requests', { ...filter }),
    /** Returns a request with its answer. Rejects with `MockError` of status 404 if the journal does not have it any more. */
    get: (sequence: number) => json<wire.AnsweredRequest>('GET', path`/_mock/requests/${String(sequence)}`),
    /** Returns what was done to the environment between the requests: the last 200 changes, newest last. */
    changes: () => list<wire.Change>('/_mock/requests/changes', 'changes'),
    /** Removes all recorded requests, and the changes between them. */
    clear: () => done('DELETE', '/_mock/requests'),
    /**
     * Verifies that the expected requests were made: at least one, unless a number is given. Rejects with `MockError` of
     * status 417 if not; its message says which request came nearest and what differs.
     */
    verify,
    /** Returns the first request that matches, and waits for it. Rejects as `verify` does when none comes in time. */
    async waitFor(pattern: wire.RequestPattern, { within = '5s', after, signal }: WaitOptions = {}) {
      const expected = { ...pattern, within, ...(after !== undefined && { after }) }
      const [sequence = 0] = (await verify(expected, { signal })).requests
      const query = { after: sequence - 1, limit: 1 }
      const [found] = await list<wire.RecordedRequest>('/_mock/requests', 'requests', query)
      if (found?.sequence === sequence) return found
      throw new MockError(`request ${sequence} has matched, but is no longer in the journal`)
    },
    /**
     * Yields each request when it has ended. Continues after a connection that was cut, and ends by `break`, by the signal,
     * or when the environment is removed.
     */
    stream: (options: StreamOptions = {}) => streamRequests(connection, options)
  }

  async function verify({ within, ...expected }: ExpectedRequests, options?: { signal?: Signal | undefined }) {
    const body = within === undefined ? expected : { ...expected, within: milliseconds(within) }
    return json<wire.VerificationResult>('POST', '/_mock/requests/verify', { body, ...options })
  }
}

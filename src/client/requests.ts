import {
  type Connection,
  type Duration,
  MockError,
  milliseconds,
  path,
  type Signal
} from './connection.js'
import type * as wire from './control-api.js'
import { type StreamOptions, streamRequests } from './stream.js'

interface Filter extends Omit<wire.JournalQuery, 'status' | 'since'> {
  /**
   * Only requests with this status, or a status in this class, such as `4xx`. `none` selects
   * requests that got no response.
   */
  status: number | `${1 | 2 | 3 | 4 | 5}xx` | 'none'
  /** Only requests that arrived at or after this time. */
  since: string | Date
}

/**
 * Which recorded requests to list. A request must match all conditions. The default order is oldest
 * first.
 */
export type RequestFilter = { [Name in keyof Filter]?: Filter[Name] | undefined }

/** The requests to expect. `within` is how long the server may wait for them. */
export interface ExpectedRequests extends Omit<wire.Verification, 'within'> {
  within?: Duration
}

interface WaitOptions {
  /** The longest time to wait. The default is 5 seconds. */
  within?: Duration
  /**
   * Ignores requests up to this sequence number. By default, a request that is already recorded
   * counts too.
   */
  after?: number
  signal?: Signal
}

/** The recorded requests of an environment. */
export interface Requests extends ReturnType<typeof requestsOf> {}

export function requestsOf(connection: Connection) {
  const { json, list, done } = connection
  return {
    /** Returns the matching requests, oldest first unless `order` is `newest`. */
    list: (filter?: RequestFilter) =>
      list<wire.RecordedRequest>('/_mock/requests', 'requests', { ...filter }),
    /**
     * Returns a request with its response. Rejects with a `MockError` of status 404 if the journal
     * no longer has the request.
     */
    get: (sequence: number) =>
      json<wire.RecordedExchange>('GET', path`/_mock/requests/${String(sequence)}`),
    /**
     * Returns the last 200 changes to the environment, such as a seed or a reset, oldest first.
     * Changes that the app's own requests made aren't included.
     */
    changes: () => list<wire.Change>('/_mock/requests/changes', 'changes'),
    /** Removes all recorded requests and changes. */
    clear: () => done('DELETE', '/_mock/requests'),
    /**
     * Verifies that the app sent the expected requests. By default, at least one request must
     * match. If the verification fails, rejects with a `MockError` of status 417. The error's
     * message shows the closest request and how that request differs.
     */
    verify,
    /**
     * Waits for a matching request and returns the first one. If no such request arrives in time,
     * rejects as `verify` does.
     */
    async waitFor(
      pattern: wire.RequestPattern,
      { within = '5s', after, signal }: WaitOptions = {}
    ) {
      const expected = { ...pattern, within, ...(after !== undefined && { after }) }
      const [sequence = 0] = (await verify(expected, { signal })).requests
      const query = { after: sequence - 1, limit: 1 }
      const [request] = await list<wire.RecordedRequest>('/_mock/requests', 'requests', query)
      if (request?.sequence === sequence) return request
      throw new MockError(`request ${sequence} matched, but is no longer in the journal`)
    },
    /**
     * Yields each request as soon as it has ended. Reconnects if the connection breaks. Ends when
     * you `break`, when the signal aborts, or when the environment is removed.
     */
    stream: (options: StreamOptions = {}) => streamRequests(connection, options)
  }

  async function verify(
    { within, ...expected }: ExpectedRequests,
    options?: { signal?: Signal | undefined }
  ) {
    const body = within === undefined ? expected : { ...expected, within: milliseconds(within) }
    return json<wire.VerificationResult>('POST', '/_mock/requests/verify', { body, ...options })
  }
}

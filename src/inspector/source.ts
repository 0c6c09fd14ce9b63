import type { Change, Coverage, RecordedRequest } from '../client/index.js'

/** Which requests of a journal; all that is left out matches. */
export interface RequestQuery {
  /** Words, each of which the request or its answer has. */
  text?: string | undefined
  /** A status such as `404`, a class such as `4xx`, or `none` for those without an answer. */
  status?: string | undefined
  /** A part of the path. */
  path?: string | undefined
  operation?: string | undefined
  /** A time, as ISO. */
  since?: string | undefined
  /** Only requests with a smaller sequence. */
  before?: number | undefined
  /** How many at most, the newest ones. */
  limit?: number | undefined
}

/**
 * Where the components have from what they show: the page asks its server by the client, the report of a run has it in its
 * own file. Neither may be taken to have all requests at once.
 */
export interface Source {
  /** The base url of the service, without a slash at the end, for what is copied. */
  url: string
  /** The header that opens the environment, as it is to stand in what is copied. */
  authorization: string
  /** Returns requests without their answers, newest first. */
  requests(query?: RequestQuery): Promise<readonly RecordedRequest[]>
  /** Returns a request with its answer; undefined if it is no longer there. */
  request(sequence: number): Promise<RecordedRequest | undefined>
  /** Returns what was done to the environment between the requests, oldest first. */
  changes(): Promise<readonly Change[]>
  coverage(): Promise<Coverage>
}

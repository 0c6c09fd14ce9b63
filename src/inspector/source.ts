import type { AnsweredRequest, AttachedEnvironment, Change, ConnectedMock, RecordedRequest } from '../client/index.js'
import { MockError, type RequestFilter } from '../client/index.js'

/** Which requests of a journal; all that is left out matches. `path` is the beginning of one. */
export type RequestQuery = Pick<RequestFilter, 'text' | 'status' | 'path' | 'operation' | 'since' | 'before' | 'limit'>

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
  request(sequence: number): Promise<AnsweredRequest | undefined>
  /** Returns what was done to the environment between the requests, oldest first. */
  changes(): Promise<readonly Change[]>
}

/** What an environment of a server has. */
export function sourceOf(env: AttachedEnvironment): Source {
  return {
    url: env.url,
    authorization: env.headers.authorization,
    requests: (query) => env.requests.list(filterOf(query)),
    request: (sequence) => env.requests.get(sequence).catch(ifGone),
    changes: () => env.requests.changes()
  }
}

/** The requests without a valid key, as of an environment whose key would open it. */
export function keylessSourceOf(mock: ConnectedMock, env: AttachedEnvironment): Source {
  return {
    ...sourceOf(env),
    requests: (query) => mock.keylessRequests(filterOf(query)),
    request: (sequence) => mock.keylessRequest(sequence).catch(ifGone),
    changes: async () => []
  }
}

function filterOf({ path, ...query }: RequestQuery = {}): RequestFilter {
  return { ...query, pathPrefix: path, order: 'newest' }
}

function ifGone(error: unknown): undefined {
  if (!(error instanceof MockError && error.status === 404)) throw error
}

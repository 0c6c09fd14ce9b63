import type { Change, RecordedRequest } from './control-api.js'

/** A likely mistake in how an app uses the API. */
export interface Hint {
  id: HintId
  /** Describes the mistake, as a sentence without a full stop. */
  message: string
  /** Sequence numbers of the requests that the hint is about. */
  requests: number[]
  /** True if the hint comes from a run that allowed it. Only set in merged reports. */
  isAllowed?: boolean
}

type Requests = readonly RecordedRequest[]

/**
 * Returns hints about likely mistakes in the requests to one environment. Pass the requests oldest
 * first.
 *
 * An error that a fault caused doesn't count as a mistake. Neither does repeating a failed request
 * after the environment has changed, so pass the environment's `changes`.
 */
export function hintsOf(requests: Requests, changes: readonly Change[] = []): Hint[] {
  const epochs = requests.map(({ sequence }) => countChangesBefore(sequence, changes))
  const laterPages = requests.filter(isLaterPage)
  return HINT_IDS.flatMap((id) => hintsFrom(id, requests, epochs, laterPages))
}

const countChangesBefore = (sequence: number, changes: readonly Change[]) =>
  changes.filter(({ after }) => after < sequence).length

function hintsFrom(
  id: HintId,
  requests: Requests,
  epochs: readonly number[],
  laterPages: Requests
): Hint[] {
  const finder: Finder = FINDERS[id]
  return [...groupRequests(finder, requests, epochs)].flatMap(([group, members]) => {
    const affected = finder.select?.(members, laterPages) ?? members
    if (affected.length === 0) return []
    const message = finder.message(group, affected)
    return { id, message, requests: affected.map(({ sequence }) => sequence) }
  })
}

function groupRequests(
  { groupsOf }: Finder,
  requests: Requests,
  epochs: readonly number[]
): Map<string, RecordedRequest[]> {
  const groups = new Map<string, RecordedRequest[]>()
  for (const [index, request] of requests.entries()) {
    for (const group of groupsOf(request, epochs[index] ?? 0)) {
      const members = groups.get(group)
      if (members) members.push(request)
      else groups.set(group, [request])
    }
  }
  return groups
}

/** Finds one kind of mistake. Groups the requests, and creates at most one hint for each group. */
interface Finder {
  /**
   * Returns the names of the groups that a request belongs to. `epoch` is the number of changes
   * made to the environment before the request.
   */
  groupsOf(request: RecordedRequest, epoch: number): readonly string[]
  /**
   * Returns the group's requests that the hint is about, or an empty list to create no hint.
   * Without this function, the hint is about the whole group. `laterPages` contains the requests
   * for pages after the first page, from all groups.
   */
  select?(members: Requests, laterPages: Requests): Requests
  message(group: string, affected: Requests): string
}

const FINDERS = {
  'path-not-mocked': {
    groupsOf: (request: RecordedRequest) => (request.flags.unmocked ? [targetOf([request])] : []),
    message: (target: string, [request]: Requests) =>
      request?.status === 405
        ? `${target} is not mocked, but other methods of this path are`
        : `${target} is not mocked; add a stub, or forward such requests with --fallback`
  },
  'unknown-parameter': {
    groupsOf: (request: RecordedRequest) =>
      // Only operations declare parameters. Skip other requests, such as requests to a stub.
      request.operation === undefined
        ? []
        : request.unknown.query.map((name) => describeUnknownParameter(name, request)),
    message: (description: string) => description
  },
  'idempotency-key-reused': {
    groupsOf({ method, headers }: RecordedRequest) {
      const key = String(headers['idempotency-key'] ?? '')
      return method === 'POST' && key !== '' ? [key] : []
    },
    select(members: Requests) {
      const contents = new Set(members.map(({ path, body }) => `${path} ${bodyText(body)}`))
      return contents.size > 1 ? members : []
    },
    message: (key: string) =>
      `the idempotency key ${key} was sent with different requests; use a new key for each`
  },
  'unsafe-retry': {
    groupsOf: (request: RecordedRequest) => (isUnsafe(request) ? [signatureOf(request)] : []),
    select(members: Requests) {
      const firstLost = members.findIndex(gotNoResponse)
      return firstLost < 0 ? [] : onlyRepeated(members.slice(firstLost))
    },
    message: (_group: string, affected: Requests) =>
      `${targetOf(affected)} was retried without an idempotency key after it got no response, ` +
      'so it may run twice'
  },
  'repeated-error': {
    groupsOf: (request: RecordedRequest, epoch: number) =>
      isClientError(request) ? [`${request.status} ${epoch} ${signatureOf(request)}`] : [],
    select: onlyRepeated,
    message: (_group: string, affected: Requests) =>
      `${targetOf(affected)} was sent ${affected.length} times unchanged ` +
      `and got ${affected[0]?.status} each time`
  },
  'many-requests': {
    groupsOf: (request: RecordedRequest) => [signatureOf(request)],
    select: selectBurst,
    message: (_group: string, affected: Requests) =>
      `${targetOf(affected)} was sent ${affected.length} times within 2 seconds`
  },
  'page-not-requested': {
    groupsOf({ operation, status, query }: RecordedRequest) {
      const { page, limit, ...filters } = query
      const isList = operation === 'listMessages' && status === 200
      return isList ? [JSON.stringify(Object.entries(filters).sort())] : []
    },
    select(members: Requests, laterPages: Requests) {
      if (!members.every(isFirstPage)) return []
      // A client may need only the first page. Create a hint only if the client later pages
      // through a list with the same limit.
      return members.filter(
        ({ hasMore, sequence, query: { limit } }) =>
          hasMore &&
          laterPages.some((page) => page.sequence > sequence && page.query.limit === limit)
      )
    },
    message: () =>
      'the app never requested the next page, although hasMore was true ' +
      'and the app paged through a later list'
  },
  'called-from-a-page': {
    groupsOf: (request: RecordedRequest) =>
      isFromForeignPage(request) ? [String(request.headers.origin)] : [],
    message: (origin: string) =>
      `a web page at ${origin} sent the API key, which exposes the key; send these requests from ` +
      "your server, because Novu's API rejects requests from web pages"
  }
} satisfies Record<string, Finder>

export type HintId = keyof typeof FINDERS

/** The ids of all hints. `hintsOf` returns hints in this order. */
export const HINT_IDS: readonly HintId[] = Object.keys(FINDERS) as HintId[]

/**
 * The hints that `strict` ignores unless `failOn` names them, because correct code may cause them.
 */
const ADVISORY_HINTS: readonly HintId[] = ['page-not-requested']

/** Which hints make a test or a run fail. */
export interface StrictOptions {
  /** Hints to ignore. */
  allow?: readonly HintId[]
  /** Hints that cause a failure, in addition to the default ones. */
  failOn?: readonly HintId[]
}

/** Returns the hints that make a test or a run fail. */
export function failingHints<Item extends { id: HintId }>(
  hints: readonly Item[],
  { allow = [], failOn = [] }: StrictOptions = {}
): Item[] {
  const ignored = [...allow, ...ADVISORY_HINTS].filter((id) => !failOn.includes(id))
  return hints.filter(({ id }) => !ignored.includes(id))
}

/** More than this many identical requests within `BURST_WINDOW` milliseconds cause a hint. */
const MAX_BURST = 20
const BURST_WINDOW = 2000

/** A client may repeat an unchanged request after one of these statuses. */
const RETRYABLE_STATUSES = [408, 409, 425, 429]

function describeUnknownParameter(name: string, { operation, unknown }: RecordedRequest): string {
  const suggestions = new Map(Object.entries(unknown.suggestions ?? {}))
  const suggestion = suggestions.get(name)
  const question = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return `${operation} has no parameter ${name}${question}`
}

/**
 * Returns the first burst: more than `MAX_BURST` requests within `BURST_WINDOW` milliseconds.
 * Returns an empty list if there is no burst.
 */
function selectBurst(members: Requests): Requests {
  const times = members.map(({ arrived }) => Date.parse(arrived))
  const start = times.find((time, index) => Number(times[index + MAX_BURST]) - time <= BURST_WINDOW)
  if (start === undefined) return []
  return members.filter((_, index) => {
    const elapsed = Number(times[index]) - start
    return elapsed >= 0 && elapsed <= BURST_WINDOW
  })
}

function onlyRepeated(members: Requests): Requests {
  return members.length > 1 ? members : []
}

const isFirstPage = ({ query: { page = '' } }: RecordedRequest) => /^0*(\.0+)?$/.test(String(page))

const isLaterPage = (request: RecordedRequest) =>
  request.operation === 'listMessages' && request.status === 200 && !isFirstPage(request)

/**
 * Returns whether a page of another origin sent the request. The inspector's requests don't count,
 * because the inspector has the server's origin. Requests through a dev server's proxy don't count
 * either: the browser sends them with `sec-fetch-site: same-origin`.
 */
function isFromForeignPage({ headers }: RecordedRequest): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (origin === undefined || site === 'same-origin') return false
  return String(origin).replace(/^https?:\/\//, '') !== host
}

const isUnsafe = ({ operation, headers, method }: RecordedRequest) =>
  operation !== undefined && method === 'POST' && headers['idempotency-key'] === undefined

const gotNoResponse = ({ status, duration }: RecordedRequest) =>
  status === undefined && duration !== undefined

/**
 * Returns whether the API rejected the request because of its content, so that an identical request
 * would be rejected too.
 */
const isClientError = ({ status = 0, flags }: RecordedRequest) =>
  status >= 400 &&
  status < 500 &&
  !RETRYABLE_STATUSES.includes(status) &&
  flags.faulted === undefined &&
  !flags.unmocked

const targetOf = ([request]: Requests) => `${request?.method} ${request?.path}`

/** Returns the same string for identical requests. */
const signatureOf = ({ method, path, query, body }: RecordedRequest) =>
  JSON.stringify([method, path, Object.entries(query).sort(), bodyText(body)])

/**
 * Returns the body, or an empty string for `{}`, because the operations treat `{}` like a missing
 * body.
 */
const bodyText = (body = '') => body.replace(/^\s*\{\s*\}\s*$/, '')

import type { Change, RecordedRequest } from './control-api.js'

/** Something that an app probably does not mean to do. */
export interface Hint {
  id: HintId
  /** A sentence without a full stop. */
  message: string
  /** Sequences of the requests that it is about. */
  requests: number[]
}

type Requests = readonly RecordedRequest[]

/**
 * Returns what the requests to one environment, oldest first, let suspect. Requests that a fault was injected into are
 * seen as what they are: nobody's slip. Between the same requests a change may have been made, so that they are no repetition.
 */
export function hintsOf(requests: Requests, changes: readonly Change[] = []): Hint[] {
  const epochs = requests.map(
    ({ sequence }) => changes.filter(({ after }) => after < sequence).length
  )
  return HINT_IDS.flatMap((id) => {
    const { groupsOf, about = (same) => same, message } = FINDERS[id]
    const groups = new Map<string, RecordedRequest[]>()
    for (const [index, request] of requests.entries()) {
      for (const group of groupsOf(request, epochs[index] ?? 0)) {
        if (group && !groups.get(group)?.push(request)) groups.set(group, [request])
      }
    }
    return [...groups].flatMap(([group, same]) => {
      const found = about(same)
      return found.length === 0
        ? []
        : { id, message: message(group, found), requests: found.map(({ sequence }) => sequence) }
    })
  })
}

interface Finder {
  /** Returns the names of the groups that a request belongs to; the epoch is another one after a change. */
  groupsOf(request: RecordedRequest, epoch: number): readonly (string | false)[]
  /** Returns the requests of a group that a hint is about: all, unless it says otherwise. */
  about?(same: Requests): Requests
  message(group: string, about: Requests): string
}

const repeated = (same: Requests) => (same.length > 1 ? same : [])
const findersOf = <Id extends string>(finders: Record<Id, Finder>) => finders

const FINDERS = findersOf({
  'path-not-served': {
    groupsOf: (request) => [Boolean(request.flags.unmocked) && targetOf([request])],
    message: (target, [request]) =>
      `${target} is not served${request?.status === 405 ? ' with this method' : ''}`
  },
  'parameter-not-read': {
    groupsOf: ({ flags, unknown, operation }) =>
      flags.unmocked ? [] : unknown.query.map((name) => `${name} is not read by ${operation}`),
    message(unread, about) {
      // As the server has guessed.
      const [name] = unread.split(/ by \w+$/)
      const [guess] = about.flatMap(
        ({ reason = '' }) => reason.split(`${name}; did you mean `)[1]?.split('?')[0] ?? []
      )
      return guess ? `${unread}; did you mean ${guess}?` : unread
    }
  },
  'idempotency-key-reused': {
    groupsOf: ({ method, headers }) => [
      method === 'POST' && String(headers['idempotency-key'] ?? '')
    ],
    about: (same) =>
      new Set(same.map(({ path, body }) => `${path} ${bodyText(body)}`)).size > 1 ? same : [],
    message: (key) =>
      `the idempotency-key ${key} was sent with different requests: each needs a fresh one`
  },
  'unsafe-retry': {
    groupsOf: (request) => [isUnsafe(request) && signatureOf(request)],
    about: (same) => (same.some(isLost) ? repeated(same.slice(same.findIndex(isLost))) : []),
    message: (_, about) =>
      `${targetOf(about)} was repeated after no answer, without an idempotency-key: it may run twice`
  },
  'error-repeated': {
    groupsOf: (request, epoch) => [
      isRefusal(request) && `${request.status} ${epoch} ${signatureOf(request)}`
    ],
    about: repeated,
    message: (_, about) =>
      `${targetOf(about)} was sent ${about.length} times unchanged, though it gets a ${about[0]?.status}`
  },
  'many-requests': {
    groupsOf: (request) => [signatureOf(request)],
    about(same) {
      const times = same.map(({ arrived }) => Date.parse(arrived))
      const start =
        times.find((time, index) => Number(times[index + MAX_REQUESTS]) - time <= WINDOW) ??
        Number.NaN
      const since = (index: number) => Number(times[index]) - start
      return same.filter((_, index) => since(index) >= 0 && since(index) <= WINDOW)
    },
    message: (_, about) => `${targetOf(about)} was sent ${about.length} times within 2 seconds`
  },
  'page-not-asked': {
    groupsOf: ({ operation, status, query: { page, limit, ...filters } }) => [
      operation === 'listMessages' &&
        status === 200 &&
        JSON.stringify(Object.entries(filters).sort())
    ],
    about: (same) => (same.every(isFirstPage) ? same.filter(({ hasMore }) => hasMore) : []),
    message: () => 'hasMore was true, and the next page was never asked for'
  }
})

/** What may be wrong with how an app uses the service, in the order in which hints are told. */
export const HINT_IDS: readonly HintId[] = Object.keys(FINDERS) as HintId[]
export type HintId = keyof typeof FINDERS

/** So many of the same requests within so many milliseconds are none too many. */
const MAX_REQUESTS = 20
const WINDOW = 2000

/** On these a client may well send its request again. */
const RETRIED = [408, 409, 425, 429]

const isFirstPage = ({ query: { page = '' } }: RecordedRequest) => /^0*(\.0+)?$/.test(String(page))

const isUnsafe = ({ operation, headers, method }: RecordedRequest) =>
  operation !== undefined && method === 'POST' && headers['idempotency-key'] === undefined

/** Whether it has ended without an answer. */
const isLost = ({ status, duration }: RecordedRequest) =>
  status === undefined && duration !== undefined

const isRefusal = ({ status = 0, flags }: RecordedRequest) =>
  status >= 400 &&
  status < 500 &&
  !RETRIED.includes(status) &&
  flags.faulted === undefined &&
  !flags.unmocked

const targetOf = ([request]: Requests) => `${request?.method} ${request?.path}`

/** Returns what is the same of requests that are sent again. */
const signatureOf = ({ method, path, query, body }: RecordedRequest) =>
  JSON.stringify([method, path, Object.entries(query).sort(), bodyText(body)])

/** An operation without a body takes none, an empty one and `{}` as the same. */
const bodyText = (body = '') => body.replace(/^\s*\{\s*\}\s*$/, '')

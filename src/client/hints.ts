import type { Change, RecordedRequest } from './control-api.js'

/** What may be wrong with how an app uses the service, in the order in which hints are told. */
export const HINT_IDS = [
  'path-not-served',
  'parameter-not-read',
  'idempotency-key-reused',
  'unsafe-retry',
  'error-repeated',
  'many-requests',
  'page-not-asked'
] as const
export type HintId = (typeof HINT_IDS)[number]

/** Something that an app probably does not mean to do. */
export interface Hint {
  id: HintId
  /** A sentence without a full stop. */
  message: string
  /** Sequences of the requests that it is about. */
  requests: number[]
}

type Finder = (requests: readonly RecordedRequest[], changes: readonly Change[]) => Omit<Hint, 'id'>[]

/**
 * Returns what the requests to one environment, oldest first, let suspect. Requests that a fault was injected into are
 * seen as what they are: nobody's slip. Between the same requests a change may have been made, so that they are no repetition.
 */
export function hintsOf(requests: readonly RecordedRequest[], changes: readonly Change[] = []): Hint[] {
  return HINT_IDS.flatMap((id) => FINDERS[id](requests, changes).map((found) => ({ id, ...found })))
}

const FINDERS: Record<HintId, Finder> = {
  'path-not-served': (requests) =>
    grouped(requests, ({ flags, method, path }) => flags.unserved && `${method} ${path}`).map(([target, same]) => ({
      message: `${target} is not served${same[0]?.status === 405 ? ' with this method' : ''}`,
      requests: sequences(same)
    })),

  'parameter-not-read': (requests) => {
    const unread = requests.flatMap((request) =>
      request.flags.unserved ? [] : request.unread.query.map((name) => ({ ...request, name }))
    )
    return grouped(unread, ({ name, operation }) => `${name} is not read by ${operation}`).map(([message, same]) => {
      const meant = same.map(({ name, reason = '' }) => guessOf(name, reason)).find((guess) => guess !== undefined)
      return { message: meant ? `${message}; did you mean ${meant}?` : message, requests: sequences(same) }
    })
  },

  'idempotency-key-reused': (requests) =>
    grouped(requests, ({ method, headers }) => method === 'POST' && String(headers['idempotency-key'] ?? ''))
      .filter(([, same]) => new Set(same.map(({ path, body }) => `${path} ${bodyText(body)}`)).size > 1)
      .map(([key, same]) => ({
        message: `the idempotency-key ${key} was sent with different requests: each needs a fresh one`,
        requests: sequences(same)
      })),

  'unsafe-retry': (requests) =>
    grouped(requests, (request) => isUnsafe(request) && signatureOf(request))
      .map(([, same]) => same.slice(same.findIndex(isLost)))
      .filter(([first, ...later]) => first && isLost(first) && later.length > 0)
      .map((same) => ({
        message: `${same[0]?.method} ${same[0]?.path} was repeated after no answer, without an idempotency-key: it may run twice`,
        requests: sequences(same)
      })),

  'error-repeated': (requests, changes) =>
    grouped(
      requests,
      (request) => isRefusal(request) && `${request.status} ${signatureOf(request)} ${epochOf(request, changes)}`
    )
      .filter(([, same]) => same.length > 1)
      .map(([, same]) => ({
        message: `${same[0]?.method} ${same[0]?.path} was sent ${same.length} times unchanged, though it gets a ${same[0]?.status}`,
        requests: sequences(same)
      })),

  'many-requests': (requests) =>
    grouped(requests, signatureOf).flatMap(([, same]) => {
      const start = same.findIndex((request, index) => {
        const last = same[index + MAX_REQUESTS]
        return last && Date.parse(last.arrived) - Date.parse(request.arrived) <= WINDOW
      })
      if (start < 0) return []
      const times = same.filter(({ arrived }) => {
        const since = Date.parse(arrived) - Date.parse(same[start]?.arrived ?? '')
        return since >= 0 && since <= WINDOW
      })
      const message = `${same[0]?.method} ${same[0]?.path} was sent ${times.length} times within 2 seconds`
      return [{ message, requests: sequences(times) }]
    }),

  'page-not-asked': (requests) => {
    const pages = requests.filter(({ operation, status }) => operation === 'listMessages' && status === 200)
    return grouped(pages, ({ query: { page, limit, ...filters } }) => JSON.stringify(Object.entries(filters).sort()))
      .filter(([, same]) => same.every(isFirstPage) && same.some(({ hasMore }) => hasMore))
      .map(([, same]) => ({
        message: 'hasMore was true, and the next page was never asked for',
        requests: sequences(same.filter(({ hasMore }) => hasMore))
      }))
  }
}

/** So many of the same requests within so many milliseconds are none too many. */
const MAX_REQUESTS = 20
const WINDOW = 2000

/** On these a client may well send its request again. */
const RETRIED = [408, 409, 425, 429]

const isFirstPage = ({ query: { page = '' } }: RecordedRequest) => /^0*(\.0+)?$/.test(String(page))

const isUnsafe = ({ operation, headers, method }: RecordedRequest) =>
  operation !== undefined && method === 'POST' && headers['idempotency-key'] === undefined

/** Whether it has ended without an answer. */
const isLost = ({ status, duration }: RecordedRequest) => status === undefined && duration !== undefined

const isRefusal = ({ status = 0, flags }: RecordedRequest) =>
  status >= 400 && status < 500 && !RETRIED.includes(status) && flags.faulted === undefined && !flags.unserved

/** Returns what is the same of requests that are sent again. */
function signatureOf({ method, path, query, body }: RecordedRequest): string {
  return JSON.stringify([method, path, Object.entries(query).sort(), bodyText(body)])
}

/** An operation without a body takes none, an empty one and `{}` as the same. */
const bodyText = (body = '') => body.replace(/^\s*\{\s*\}\s*$/, '')

/** Returns how many changes came before a request. */
const epochOf = ({ sequence }: RecordedRequest, changes: readonly Change[]) =>
  changes.filter(({ after }) => after < sequence).length

/** Returns which name was probably meant, as the server has said. */
function guessOf(name: string, reason: string): string | undefined {
  const [, said] = reason.split(`${name} is not read; did you mean `)
  return said?.slice(0, said.indexOf('?'))
}

const sequences = (requests: readonly RecordedRequest[]) => requests.map(({ sequence }) => sequence)

/** Returns requests by their group, in the order of the first ones; those of no group are left out. */
function grouped<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string | false | undefined
): [string, Item[]][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groupOf(item)
    if (group) groups.set(group, [...(groups.get(group) ?? []), item])
  }
  return [...groups]
}

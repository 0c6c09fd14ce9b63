import { useEffect, useState } from 'preact/hooks'
import { milliseconds } from '../../../client/connection.js'
import type { Duration, Operation, RequestFilter } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { useFeed, useLive } from '../../shell/live.js'
import { addressOf, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'

export type Place = ReturnType<typeof placeOf>

/**
 * Returns what the list of requests shows according to the URL: the sequence of the open request and the search text.
 * `to` returns the URL with one of them changed.
 */
export function placeOf({ rest: [sequence], params }: Route) {
  const now = { open: Number(sequence) || undefined, line: params.get('q') ?? '' }
  const to = (change: { open?: number | undefined; line?: string }): string => {
    const { open = '', line } = { ...now, ...change }
    return addressOf(['requests', `${open}`].filter(Boolean), {
      ...Object.fromEntries(params),
      q: line
    })
  }
  return { ...now, to }
}

/** The line of search for requests without a valid key. */
export const UNAUTHENTICATED = 'key:none'
export const isUnauthenticated = (line: string) => line.split(/\s+/).includes(UNAUTHENTICATED)
const OPERATIONS: readonly Operation[] = [
  'listMessages',
  'setIntegrationAsPrimary',
  'retrieveWorkflowStep'
]

/** Reads a line of search; a length of time counts back from `now`. What it does not know is a word to be found. */
function readSearch(line: string, now: number): RequestFilter {
  const query: RequestFilter = {}
  const words = line.split(/\s+/).filter((word) => {
    const [name = '', value = ''] = word.split(/:(.*)/s)
    if (word === UNAUTHENTICATED || /^(status|path|operation|since|key):$/.test(word)) return false
    const since = /^\d+[smhd]$/.test(value)
      ? now - milliseconds(value as Duration)
      : Date.parse(value)
    const operation = OPERATIONS.find((each) => each.toLowerCase().includes(value.toLowerCase()))
    if (name === 'path') query.pathPrefix = value
    else if (name === 'status' && /^([1-5](\d\d|xx)|none)$/.test(value))
      query.status = value as '4xx'
    else if (name === 'operation' && operation) query.operation = operation
    else if (name === 'since' && !Number.isNaN(since)) query.since = new Date(since)
    else return true
    return false
  })
  return { ...query, text: words.join(' ') || undefined }
}

/** How many are asked for at a time; milliseconds until it is searched again, and until it is looked for unauthenticated ones. */
const PAGE = 300
const AGAIN = 500
const INTERVAL = 1000
export type Shown = ReturnType<typeof useShown>

/**
 * The requests as they come; with a line of search those that it finds in the whole journal, again as others come: also as
 * the `unauthenticated` ones get more.
 */
export function useShown(line: string, unauthenticated: number) {
  const { mock, env } = useSession()
  const { loadMore } = useLive()
  const feed = useFeed(line === '' ? 0 : AGAIN)
  const [limit, setLimit] = useState(PAGE)
  useEffect(() => setLimit(PAGE), [line])
  const isUnauthenticatedList = isUnauthenticated(line)
  const source = isUnauthenticatedList
    ? { list: mock.unauthenticatedRequests, get: mock.unauthenticatedRequest }
    : env.requests
  const now = Date.parse(feed.requests[0]?.time ?? '') || Date.now()
  const isSearch = line.trim() !== ''
  const { value: found, error } = useResource(
    async () =>
      isSearch
        ? await source.list({ ...readSearch(line, now), order: 'newest', limit })
        : undefined,
    [source.list, line, limit, isSearch && (isUnauthenticatedList ? unauthenticated : feed)]
  )
  const older = found?.length === limit ? () => setLimit(limit + PAGE) : undefined
  return {
    /** The requests newest first, and the changes between them; `isLoaded` says whether it is known what there is. */
    ...feed,
    /** Loads the next older ones, if there are any. */
    loadMore: feed.hasMore ? loadMore : undefined,
    ...(isSearch && { requests: found ?? [], isLoaded: found !== undefined, loadMore: older }),
    // They are of another journal.
    ...(isUnauthenticatedList && { changes: [], seen: Number.POSITIVE_INFINITY }),
    /** Where they are from, to have one with its answer. */
    source,
    isUnauthenticatedList,
    error
  }
}

/** How many requests have come without a valid key, as far as the page may see them. */
export function useUnauthenticatedCount(): number {
  const { mock, listed } = useSession()
  const [count, setCount] = useState(0)
  useEffect(() => {
    const look = async () => {
      if (!listed || document.hidden) return
      const [newest] = await mock
        .unauthenticatedRequests({ order: 'newest', limit: 1 })
        .catch(() => [])
      setCount(newest?.sequence ?? 0)
    }
    void look()
    const timer = setInterval(look, INTERVAL)
    return () => clearInterval(timer)
  }, [mock, listed])
  return count
}

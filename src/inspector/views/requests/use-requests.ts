import { useEffect, useState } from 'preact/hooks'
import type { RecordedExchange, RecordedRequest, RequestFilter } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { useFeed, useLive } from '../../shell/live-provider.js'
import type { Feed } from '../../shell/live-requests.js'
import { useSession } from '../../shell/session.js'
import { isUnauthenticatedSearch, parseRequestSearch } from './location.js'

/** The number of search results to load at a time. */
const PAGE_SIZE = 300
/** Minimum milliseconds between two runs of a search while requests arrive. */
const SEARCH_INTERVAL = 500
/** Milliseconds between two checks for requests without a valid key. */
const UNAUTHENTICATED_INTERVAL = 1000

/** Access to the environment's journal, or to the journal of requests without a valid key. */
export interface RequestSource {
  list(filter?: RequestFilter): Promise<RecordedRequest[]>
  get(sequence: number): Promise<RecordedExchange>
}

/** The requests that the list shows, and how to load more. */
export interface ListedRequests
  extends Pick<Feed, 'requests' | 'changes' | 'isLoaded' | 'hasMore'> {
  /** Loads older requests; undefined if all are loaded. */
  loadMore: (() => unknown) | undefined
  /** The journal that the requests come from. */
  source: RequestSource
  isUnauthenticatedList: boolean
  error: unknown
}

/**
 * Without a search, returns the requests as they arrive. With a search, returns the matches in the
 * whole journal, and searches again when requests arrive. A search for requests without a valid key
 * runs again when `unauthenticatedCount` changes.
 */
export function useRequests(search: string, unauthenticatedCount: number): ListedRequests {
  const { mock, env } = useSession()
  const live = useLive()
  const feed = useFeed(search === '' ? 0 : SEARCH_INTERVAL)
  const [limit, setLimit] = useState(PAGE_SIZE)
  useEffect(() => setLimit(PAGE_SIZE), [search])
  const isUnauthenticatedList = isUnauthenticatedSearch(search)
  const source: RequestSource = isUnauthenticatedList
    ? { list: mock.unauthenticatedRequests, get: mock.unauthenticatedRequest }
    : env.requests
  const isSearch = search.trim() !== ''
  const news = isUnauthenticatedList ? unauthenticatedCount : feed
  const { value: matches, error } = useResource(async () => {
    if (!isSearch) return undefined
    // Durations in the search, such as `since:10m`, count back from the newest request, because the
    // environment's clock may differ from the browser's.
    const now = Date.parse(feed.requests[0]?.time ?? '') || Date.now()
    return source.list({ ...parseRequestSearch(search, now), order: 'newest', limit })
  }, [source.list, search, limit, isSearch && news])
  const common = { source, isUnauthenticatedList, error }
  if (!isSearch) {
    return { ...feed, ...common, loadMore: feed.hasMore ? () => live.loadMore() : undefined }
  }
  const hasMore = matches?.length === limit
  return {
    ...common,
    requests: matches ?? [],
    // Requests without a valid key can't change data, so their list contains no changes.
    changes: isUnauthenticatedList ? [] : feed.changes,
    isLoaded: matches !== undefined,
    hasMore,
    loadMore: hasMore ? () => setLimit(limit + PAGE_SIZE) : undefined
  }
}

/**
 * Returns the number of requests without a valid key. Returns 0 if the user has only an API key,
 * because API keys don't give access to these requests.
 */
export function useUnauthenticatedCount(): number {
  const { mock, listed } = useSession()
  const [count, setCount] = useState(0)
  useEffect(() => {
    const update = async () => {
      if (!listed || document.hidden) return
      const [newest] = await mock
        .unauthenticatedRequests({ order: 'newest', limit: 1 })
        // Ignore the error, because the live connection already reports an unreachable server.
        .catch(() => [])
      setCount(newest?.sequence ?? 0)
    }
    update()
    const timer = setInterval(update, UNAUTHENTICATED_INTERVAL)
    return () => clearInterval(timer)
  }, [mock, listed])
  return count
}

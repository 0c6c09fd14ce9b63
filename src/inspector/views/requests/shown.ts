import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Operation } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { useFeed, useLive } from '../../shell/live.js'
import { addressOf, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { keylessSourceOf, type RequestQuery } from '../../source.js'

export type Place = ReturnType<typeof placeOf>

/** Returns what a list of requests shows, as the address says it; with the prefix, that of the environment beside it. */
export function placeOf({ rest, params }: Route, prefix: '' | 'beside-' = '') {
  const [own = ''] = rest
  const text = prefix === '' ? own : params.get('beside-open')
  const now = { open: Number(text) || undefined, line: params.get(`${prefix}q`) ?? '' }
  return {
    /** The sequence of the request that is open, and the line of search. */
    ...now,
    /** Returns the address with something else. */
    to(change: { open?: number | undefined; line?: string }): string {
      const { open = '', line } = { ...now, ...change }
      const beside = prefix === '' ? {} : { 'beside-open': String(open) }
      const path = ['requests', prefix === '' ? String(open) : own].filter(Boolean)
      return addressOf(path, { ...Object.fromEntries(params), ...beside, [`${prefix}q`]: line })
    }
  }
}

/** The line of search for requests without a valid key. */
export const KEYLESS = 'key:none'
const OPERATIONS: readonly Operation[] = ['listMessages', 'setIntegrationAsPrimary', 'retrieveWorkflowStep']
const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a line of search; a length of time counts back from `now`. What it does not know is a word to be found. */
function readSearch(line: string, now: number): RequestQuery {
  const query: RequestQuery = {}
  const words: string[] = []
  for (const word of line.split(/\s+/)) {
    const [name = '', value = ''] = word.split(/:(.*)/s)
    const operation = OPERATIONS.find((each) => each.toLowerCase().includes(value.toLowerCase()))
    const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(value) ?? []
    const since = count ? now - Number(count) * (UNITS[unit] ?? 0) : Date.parse(value)
    if (word === KEYLESS || /^(status|path|operation|since|key):$/.test(word)) continue
    if (name === 'path') query.path = value
    else if (name === 'status' && /^([1-5](\d\d|xx)|none)$/.test(value)) query.status = value as '4xx'
    else if (name === 'operation' && operation) query.operation = operation
    else if (name === 'since' && !Number.isNaN(since)) query.since = new Date(since).toISOString()
    else words.push(word)
  }
  return { ...query, text: words.join(' ') || undefined }
}

/** How many are asked for at a time; milliseconds until it is searched again, with all that came meanwhile. */
const PAGE = 300
const AGAIN = 500
/** Milliseconds from one look for requests without a valid key to the next. */
const INTERVAL = 1000

export type Shown = ReturnType<typeof useShown>

/** The requests as they come; with a line of search those that it finds in the whole journal, again as others come. */
export function useShown(line: string) {
  const { mock, env } = useSession()
  const live = useLive()
  const feed = useFeed(line === '' ? 0 : AGAIN)
  const [limit, setLimit] = useState(PAGE)
  useEffect(() => setLimit(PAGE), [line])
  const isSearch = line.trim() !== ''
  const isKeyless = line.split(/\s+/).includes(KEYLESS)
  const keyless = useKeylessCount(isKeyless)
  const source = useMemo(() => (isKeyless ? keylessSourceOf(mock, env) : live.source), [isKeyless, mock, env, live])
  const query = readSearch(line, Date.parse(feed.requests[0]?.time ?? '') || Date.now())
  const { value: found, error } = useResource(
    async () => (isSearch ? await source.requests({ ...query, limit }) : undefined),
    [source, line, limit, isSearch && (isKeyless ? keyless : feed)]
  )
  const loadMore = found?.length === limit ? () => setLimit(limit + PAGE) : undefined
  return {
    source,
    isKeyless,
    error,
    changes: isKeyless ? [] : feed.changes,
    /** Newest first. */
    requests: (isSearch ? found : feed.requests) ?? [],
    /** Whether it is known what there is. */
    isLoaded: isSearch ? found !== undefined : feed.isLoaded,
    /** Loads the next older ones, if there are any. */
    loadMore: isSearch ? loadMore : feed.hasMore ? live.loadMore : undefined
  }
}

/** How many requests have come without a valid key, as far as the page may see them. */
export function useKeylessCount(isOn = true): number {
  const { mock, listed } = useSession()
  const [count, setCount] = useState(0)
  useEffect(() => {
    const look = async () => {
      if (!isOn || !listed || document.hidden) return
      const [newest] = await mock.keylessRequests({ order: 'newest', limit: 1 }).catch(() => [])
      setCount(newest?.sequence ?? 0)
    }
    void look()
    const timer = setInterval(look, INTERVAL)
    return () => clearInterval(timer)
  }, [mock, listed, isOn])
  return count
}

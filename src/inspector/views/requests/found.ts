import { useEffect, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { useLive } from '../../shell/live.js'
import type { RequestQuery, Source } from '../../source.js'

/** How many are asked for at a time. */
const PAGE = 300
/** Milliseconds from something that comes until it is searched again, with all that came meanwhile. */
const AGAIN = 500

interface Found {
  requests: readonly RecordedRequest[]
  hasMore: boolean
  isLoading: boolean
  error: unknown
  loadMore(): void
  reload(): void
}

/** The requests that a search finds in the whole journal; again as others come. None while it is off. */
export function useFound(source: Source, query: RequestQuery, isOn: boolean): Found {
  const live = useLive()
  const [limit, setLimit] = useState(PAGE)
  const [round, setRound] = useState(0)
  const asked = JSON.stringify(query)
  useEffect(() => setLimit(PAGE), [source, asked])
  useEffect(() => {
    if (!isOn) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const again = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        setRound((count) => count + 1)
      }, AGAIN)
    }
    const end = live.subscribe(again)
    // No stream tells of those without a valid key.
    const looking = source === live.source ? undefined : setInterval(() => document.hidden || again(), 2 * AGAIN)
    return () => {
      end()
      clearTimeout(timer)
      clearInterval(looking)
    }
  }, [live, source, isOn])
  const { value, error, isLoading, reload } = useResource(
    async () => (isOn ? { asked, requests: await source.requests({ ...query, limit }) } : undefined),
    [source, asked, limit, round, isOn]
  )
  const requests = value?.requests ?? []
  return {
    requests,
    hasMore: requests.length === limit,
    isLoading: isLoading && value?.asked !== asked,
    error: isLoading ? undefined : error,
    loadMore: () => setLimit(requests.length + PAGE),
    reload
  }
}

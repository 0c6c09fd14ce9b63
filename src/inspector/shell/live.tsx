import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { AttachedEnvironment, Change, RecordedRequest, StreamOptions } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { sourceOf } from '../source.js'
import { useSession } from './session.js'

/** The requests to an environment as they come. */
export interface Feed {
  /** Newest first; another list whenever it changes. */
  requests: readonly RecordedRequest[]
  /** What was done between them, oldest first. */
  changes: readonly Change[]
  isLoaded: boolean
  /** Whether there are older ones that were not loaded yet, or let go of. */
  hasMore: boolean
  /** Why none come at present; undefined while all is well. */
  problem: string | undefined
  /** Whether none will come again. */
  isOver: boolean
}

/** How many the page keeps, as many as a journal has at first; and more, as one goes back in it. */
const KEPT = 1000
const MAX_KEPT = 10_000
/** How many are asked for at a time. */
const PAGE = 300
/** A body with more characters is asked of the server again when it is looked at. */
const MAX_BODY = 4096
/** Milliseconds from the first request that comes until it is shown, with all that came meanwhile. */
const BATCH = 100
const RETRY_DELAY = 2000
/** Changes after which the journal may have lost what it had. */
const EMPTYING = ['clearRequests', 'resetEnvironment']

const NOTHING: Feed = {
  requests: [],
  changes: [],
  isLoaded: false,
  hasMore: false,
  problem: undefined,
  isOver: false
}

/** Gets what has come: requests, ten times a second at most, and each change at once. */
type Listener = (requests: readonly RecordedRequest[], change?: Change) => void

/** Keeps the newest requests of an environment, and follows its stream from `start` until what that returns is called. */
function createLive(env: AttachedEnvironment, restarted: () => void) {
  const source = sourceOf(env)
  const listeners = new Set<Listener>()
  let feed = NOTHING
  let kept = KEPT
  /** What has come and is not shown yet: all that does while the journal is being loaded. */
  let came: { requests: RecordedRequest[]; changes: Change[] } = { requests: [], changes: [] }
  let [opened, loads, isLoading, isWaiting] = [0, 0, false, false]

  const notify: Listener = (requests, change) => {
    for (const listener of listeners) listener(requests, change)
  }
  const show = (part: Partial<Feed>, requests: readonly RecordedRequest[] = []) => {
    feed = { ...feed, ...part }
    notify(requests)
  }
  /** All of both, newest first, as many as are kept. */
  const joined = (others: readonly RecordedRequest[], hasMore: boolean) => {
    const all = merged(feed.requests, others.map(shortened)).sort((one, other) => other.sequence - one.sequence)
    return { requests: all.slice(0, kept), hasMore: (hasMore || all.length > kept) && kept < MAX_KEPT }
  }
  const flush = () => {
    isWaiting = false
    if (isLoading) return
    const { requests, changes } = came
    came = { requests: [], changes: [] }
    const all = { changes: merged(feed.changes, changes), ...joined(requests, feed.hasMore) }
    show({ ...all, problem: undefined }, requests)
  }
  const flushSoon = () => {
    if (!isWaiting) setTimeout(flush, BATCH)
    isWaiting = true
  }
  const load = async () => {
    const current = ++loads
    isLoading = true
    came = { requests: [], changes: [] }
    try {
      const [requests, changes] = await Promise.all([source.requests({ limit: PAGE }), source.changes()])
      if (loads !== current) return
      isLoading = false
      feed = { ...NOTHING, changes, isLoaded: true }
      feed = { ...feed, ...joined(requests, requests.length === PAGE) }
      flush()
    } catch (error) {
      if (loads !== current) return
      isLoading = false
      flush()
      show({ problem: messageOf(error) })
    }
  }
  const onOpen = () => {
    if (opened++ > 0) restarted()
    // Now that nothing is missed of what comes.
    void load()
  }
  const onChange = (change: Change) => {
    notify([], change)
    if (EMPTYING.includes(change.operation ?? '')) return void load()
    came.changes.push(change)
    flushSoon()
  }
  const onRequest = (request: RecordedRequest) => {
    came.requests.push(request)
    flushSoon()
  }
  return {
    source,
    get feed(): Feed {
      return feed
    },
    /** Calls a listener with what comes. Returns what ends that. */
    subscribe(listener: Listener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    start(): () => void {
      const controller = new AbortController()
      void read(env, { signal: controller.signal, onOpen, onChange, onRequest, onProblem: show })
      return () => controller.abort()
    },
    /** Loads the next older ones. */
    async loadMore(): Promise<void> {
      const before = feed.requests.at(-1)?.sequence
      if (!feed.hasMore || before === undefined) return
      const current = loads
      feed = { ...feed, hasMore: false }
      const older = await source.requests({ before, limit: PAGE }).catch(() => [])
      if (loads !== current) return
      kept = Math.min(MAX_KEPT, Math.max(kept, feed.requests.length + PAGE))
      show(joined(older, older.length === PAGE))
    }
  }
}

interface ReadOptions extends StreamOptions {
  signal: AbortSignal
  onRequest(request: RecordedRequest): void
  onProblem(problem: Pick<Feed, 'problem' | 'isOver'>): void
}

/** Reads the stream of an environment until it is told to stop, and again whenever it breaks. */
async function read(env: AttachedEnvironment, { onRequest, onProblem, ...options }: ReadOptions): Promise<void> {
  const { signal } = options
  while (!signal.aborted) {
    try {
      for await (const request of env.requests.stream(options)) onRequest(request)
      const problem = 'This environment is gone, or its key is another one now.'
      if (!signal.aborted) onProblem({ problem, isOver: true })
      return
    } catch (error) {
      onProblem({ problem: messageOf(error), isOver: false })
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
  }
}

/** All of both, each once: of two with the same sequence the later one. */
function merged<Item extends { sequence: number }>(earlier: readonly Item[], later: readonly Item[]): Item[] {
  return [...new Map([...earlier, ...later].map((item) => [item.sequence, item])).values()]
}

function shortened(request: RecordedRequest): RecordedRequest {
  const { body = '', bodyLength } = request
  return body.length > MAX_BODY ? { ...request, body: '', bodyLength: bodyLength ?? body.length } : request
}

const LiveContext = createContext<ReturnType<typeof createLive> | undefined>(undefined)

interface LiveProps {
  children: ComponentChildren
  /** Called when the stream is open again, as all may be another then. */
  restarted(): void
}

/** Reads the requests to the environment while the page is seen. */
export function LiveProvider({ children, restarted }: LiveProps) {
  const { env } = useSession()
  const live = useMemo(() => createLive(env, restarted), [env, restarted])
  useEffect(() => {
    // A browser has six connections to a server for all its tabs: one that is not seen keeps none of them.
    let stop = () => {}
    const follow = () => {
      stop()
      if (!document.hidden) stop = live.start()
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      stop()
    }
  }, [live])
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** The live requests of the environment. */
export function useLive() {
  const live = useContext(LiveContext)
  if (!live) throw new Error('there are no live requests here')
  return live
}

/** What has come so far; the component renders again when there is more, after so many milliseconds at the earliest. */
export function useFeed(interval = 0): Feed {
  const live = useLive()
  const [, render] = useState({})
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer = undefined
      render({})
    }
    const end = live.subscribe(() => {
      timer ??= setTimeout(show, interval)
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, interval])
  return live.feed
}

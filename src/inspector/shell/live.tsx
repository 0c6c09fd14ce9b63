import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { AttachedEnvironment, Change, RecordedRequest } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { type Source, sourceOf } from '../source.js'
import { useFollow } from './follow.js'
import { forgetOwnChanges, useSession } from './session.js'

/** The requests to an environment as they come. */
export interface Feed {
  /** Newest first; another list whenever it changes. */
  requests: readonly RecordedRequest[]
  /** What was done between them, oldest first. */
  changes: readonly Change[]
  isLoaded: boolean
  /** Whether the journal has older ones that were not loaded yet. */
  hasMore: boolean
  /** Why none come at present; undefined while all is well. */
  problem: string | undefined
  /** Whether none will come again. */
  isOver: boolean
}

/** How many the page keeps: as many as a journal. */
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

type Live = ReturnType<typeof createLive>

/**
 * Keeps the newest requests of an environment and follows its stream from `start` to `stop`; opens it again whenever it
 * breaks, and tells so by `restarted`, as all may be another then.
 */
function createLive(env: AttachedEnvironment, source: Source, restarted: () => void) {
  let feed = NOTHING
  let waiting: RecordedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let controller = new AbortController()
  let opened = 0
  let load = 0
  /** How many requests were kept when it was last asked what the journal still has. */
  let trimmed = PAGE
  /** What has come while all is being loaded, which may lack it. */
  let meanwhile: { requests: RecordedRequest[]; changes: Change[] } | undefined
  const listeners = new Set<(came: readonly RecordedRequest[]) => void>()
  const changeListeners = new Set<(change: Change) => void>()

  return {
    source,

    get feed(): Feed {
      return feed
    },

    /** Calls a listener with what has come, ten times a second at most. Returns what ends that. */
    subscribe(listener: (came: readonly RecordedRequest[]) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    /** Calls a listener with each change of the environment. Returns what ends that. */
    subscribeChanges(listener: (change: Change) => void): () => void {
      changeListeners.add(listener)
      return () => changeListeners.delete(listener)
    },

    start(): void {
      controller = new AbortController()
      void read(controller.signal)
    },

    stop(): void {
      controller.abort()
      clearTimeout(timer)
      flush()
    },

    /** Loads the next older ones. */
    async loadMore(): Promise<void> {
      const before = feed.requests.at(-1)?.sequence
      if (!feed.hasMore || before === undefined) return
      feed = { ...feed, hasMore: false }
      const current = load
      const older = await source.requests({ before, limit: PAGE }).catch(() => [])
      if (load !== current) return
      keep(merged(feed.requests, older.map(shortened)), older.length === PAGE)
      notify([])
    }
  }

  async function read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const options = { signal, onOpen: () => void begin(), onChange: takeChange }
        for await (const request of env.requests.stream(options)) take(request)
        if (!signal.aborted) tell('This environment is gone, or its key is another one now.', true)
        return
      } catch (error) {
        tell(messageOf(error))
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
    }
  }

  /** Loads what is there, once nothing that comes from now on is missed. */
  async function begin(): Promise<void> {
    if (opened++ > 0) {
      forgetOwnChanges()
      restarted()
    }
    await reload()
  }

  async function reload(): Promise<void> {
    const current = ++load
    const came = { requests: [], changes: [] }
    meanwhile = came
    try {
      const [requests, changes] = await Promise.all([source.requests({ limit: PAGE }), source.changes()])
      if (load !== current) return
      meanwhile = undefined
      feed = { ...NOTHING, changes: merged(changes, came.changes), isLoaded: true }
      keep(merged(requests.map(shortened), came.requests), requests.length === PAGE)
      notify([])
    } catch (error) {
      if (load === current) tell(messageOf(error))
    }
  }

  function takeChange(change: Change): void {
    feed = { ...feed, changes: merged(feed.changes, [change]) }
    meanwhile?.changes.push(change)
    for (const listener of changeListeners) listener(change)
    if (EMPTYING.includes(change.operation ?? '')) {
      waiting = []
      void reload()
    } else timer ??= setTimeout(flush, BATCH)
  }

  function take(request: RecordedRequest): void {
    const short = shortened(request)
    waiting.push(short)
    meanwhile?.requests.push(short)
    timer ??= setTimeout(flush, BATCH)
  }

  function flush(): void {
    timer = undefined
    const came = waiting
    waiting = []
    feed = { ...feed, problem: undefined }
    keep(merged(feed.requests, came), feed.hasMore)
    notify(came)
    if (feed.requests.length < trimmed + PAGE) return
    trimmed = feed.requests.length
    void trim()
  }

  /** Lets go of what the journal no longer has. */
  async function trim(): Promise<void> {
    const [oldest] = await env.requests.list({ limit: 1 }).catch(() => [])
    if (!oldest) return
    feed = { ...feed, requests: feed.requests.filter(({ sequence }) => sequence >= oldest.sequence) }
    trimmed = feed.requests.length
  }

  function keep(requests: RecordedRequest[], hasMore: boolean): void {
    const sorted = requests.sort((one, other) => other.sequence - one.sequence)
    feed = { ...feed, requests: sorted.slice(0, MAX_KEPT), hasMore: hasMore && sorted.length < MAX_KEPT }
  }

  function notify(came: readonly RecordedRequest[]): void {
    for (const listener of listeners) listener(came)
  }

  function tell(problem: string, isOver = false): void {
    feed = { ...feed, problem, isOver }
    notify([])
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

const LiveContext = createContext<Live | undefined>(undefined)

interface LiveProps {
  children: ComponentChildren
  restarted(): void
}

/** Reads the requests to the environment while the page is seen. */
export function LiveProvider({ children, restarted }: LiveProps) {
  const { env } = useSession()
  const live = useMemo(() => createLive(env, sourceOf(env), restarted), [env, restarted])
  useEffect(() => {
    // A browser has six connections to a server for all its tabs: one that is not seen keeps none of them.
    const follow = () => {
      live.stop()
      if (!document.hidden) live.start()
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      live.stop()
    }
  }, [live])
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** Follows what others change in the environment that the page is about. */
export function Follower({ changedByOthers }: { changedByOthers: () => void }) {
  useFollow(useLive(), changedByOthers)
  return null
}

/** The live requests of the environment. */
export function useLive(): Live {
  const live = useContext(LiveContext)
  if (!live) throw new Error('there are no live requests here')
  return live
}

/** What has come so far; the component renders again when there is more, after so many milliseconds at the earliest. */
export function useFeed(interval = 0): Feed {
  const live = useLive()
  const [feed, setFeed] = useState(live.feed)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer = undefined
      setFeed(live.feed)
    }
    show()
    const end = live.subscribe(() => {
      if (interval === 0) show()
      else timer ??= setTimeout(show, interval)
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, interval])
  return feed
}

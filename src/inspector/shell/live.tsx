import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { AttachedEnvironment, Change, RecordedRequest } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { useSession } from './session.js'

/** The requests to an environment as they come. */
export interface Feed {
  /** Newest first; another list whenever it changes. */
  requests: readonly RecordedRequest[]
  /** What was done between them, oldest first. */
  changes: readonly Change[]
  /** The sequence of the newest that was there before those that came last. */
  seen: number
  isLoaded: boolean
  /** Whether there are older ones that were not loaded yet, or let go of. */
  hasMore: boolean
  /** Why none come at present; undefined while all is well. */
  problem?: string | undefined
  /** Whether none will come again. */
  isOver?: boolean
}

/** How many the page keeps, as many as a journal has at first; and once one has gone back in it. */
const KEPT = 1000
const MAX_KEPT = 10_000
/** How many are asked for at a time. */
const PAGE = 300
/** Milliseconds from the first request that comes until it is shown, with all that came meanwhile. */
const BATCH = 100
const RETRY_DELAY = 2000
/** Changes after which the journal may have lost what it had. */
const EMPTYING = ['clearRequests', 'resetEnvironment']

const NOTHING: Feed = { requests: [], changes: [], seen: Number.POSITIVE_INFINITY, isLoaded: false, hasMore: false }

/** Gets what has come: requests, ten times a second at most, and each change at once. */
type Listener = (requests: readonly RecordedRequest[], change?: Change) => void

const bySequence = <Item extends { sequence: number }>(...items: Item[]) =>
  new Map(items.map((item) => [item.sequence, item]))

/** What the journal has, as far as it was loaded, and all that has come since that began. */
const nothingHeld = () => ({
  requests: bySequence<RecordedRequest>(),
  changes: bySequence<Change>(),
  isLoaded: false,
  hasMore: false
})

/** Keeps the newest requests of an environment, and follows its stream from `start` until what that returns is called. */
function createLive(env: AttachedEnvironment, restarted: () => void) {
  const listeners = new Set<Listener>()
  let feed = NOTHING
  let held = nothingHeld()
  let kept = KEPT
  const came: RecordedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (part: Partial<Feed>, requests: readonly RecordedRequest[] = [], change?: Change) => {
    feed = { ...feed, ...part }
    for (const listener of listeners) listener(requests, change)
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (!held.isLoaded) return
    const requests = [...held.requests.values()].sort((one, other) => other.sequence - one.sequence)
    for (const { sequence } of requests.splice(kept)) {
      held.requests.delete(sequence)
      held.hasMore = kept < MAX_KEPT
    }
    const { changes, isLoaded, hasMore } = held
    const seen = feed.requests[0]?.sequence ?? NOTHING.seen
    const all = { requests, changes: [...changes.values()], seen, isLoaded, hasMore, problem: undefined }
    show(all, came.splice(0))
  }
  const flushSoon = () => {
    timer ??= setTimeout(flush, BATCH)
  }
  /** Loads the journal anew; what comes meanwhile is shown with it. */
  const load = async () => {
    held = nothingHeld()
    const own = held
    let problem: string | undefined
    try {
      const newest = env.requests.list({ order: 'newest', limit: PAGE })
      const [requests, changes] = await Promise.all([newest, env.requests.changes()])
      own.requests = bySequence(...requests, ...own.requests.values())
      own.changes = bySequence(...changes, ...own.changes.values())
      own.hasMore = requests.length === PAGE
    } catch (error) {
      problem = messageOf(error)
    }
    // Another load has begun.
    if (held !== own) return
    own.isLoaded = true
    flush()
    if (problem !== undefined) show({ problem })
  }
  let isFirst = true
  const onOpen = () => {
    if (!isFirst) restarted()
    isFirst = false
    // Now that nothing is missed of what comes.
    void load()
  }
  const onChange = (change: Change) => {
    show({}, [], change)
    if (EMPTYING.includes(change.operation ?? '')) return void load()
    held.changes.set(change.sequence, change)
    flushSoon()
  }
  /** Reads the stream until it is told to stop, and again whenever it breaks. */
  const follow = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      try {
        for await (const request of env.requests.stream({ signal, onOpen, onChange })) {
          held.requests.set(request.sequence, request)
          came.push(request)
          flushSoon()
        }
        const problem = 'This environment is gone, or its key is another one now.'
        return signal.aborted || show({ problem, isOver: true })
      } catch (error) {
        show({ problem: messageOf(error) })
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
    }
  }
  return {
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
      void follow(controller.signal)
      return () => controller.abort()
    },
    /** Loads the next older ones. */
    async loadMore(): Promise<void> {
      const own = held
      const before = feed.requests.at(-1)?.sequence
      if (!own.hasMore || before === undefined) return
      own.hasMore = false
      kept = MAX_KEPT
      const older = await env.requests.list({ order: 'newest', before, limit: PAGE }).catch(() => [])
      if (held !== own) return
      own.requests = bySequence(...older, ...own.requests.values())
      own.hasMore = older.length === PAGE
      flush()
    }
  }
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

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
}

/** How many the page keeps, as many as a journal has at first; and once one has gone back in it. */
const KEPT = 1000
const MAX_KEPT = 10_000
/** How many are asked for at a time. */
const PAGE = 300
/** Milliseconds from the first request that comes until it is shown, with all that came meanwhile. */
const BATCH = 100
const RETRY_DELAY = 2000
/** Milliseconds from a change until the page loads all again, with all that came meanwhile. */
const INTERVAL = 300
/**
 * What must not move or go away: a form that is open, a list under the mouse or gone through by keys. That of the requests
 * takes care of itself.
 */
const READ = 'form[data-held="true"], .pane > .list:hover, .pane > .list [data-item]:focus-visible'
/** Changes after which the journal may have lost what it had. */
const EMPTYING = ['clearRequests', 'resetEnvironment']

const NOTHING: Feed = {
  requests: [],
  changes: [],
  seen: Number.POSITIVE_INFINITY,
  isLoaded: false,
  hasMore: false
}

/** Gets the requests that have come, ten times a second at most, also when only changes have. */
type Listener = (requests: readonly RecordedRequest[]) => void

const bySequence = <Item extends { sequence: number }>(...items: Item[]) =>
  new Map(items.map((item) => [item.sequence, item]))

/** What the journal has, as far as it was loaded, and all that has come since that began. */
const nothingHeld = () => ({
  ...NOTHING,
  requests: bySequence<RecordedRequest>(),
  changes: bySequence<Change>()
})

/**
 * Keeps the newest requests of an environment, and follows its stream. It calls `loadAll` when the rest of the environment
 * may be another: the stream is open again, or it was changed.
 */
function createLive(env: AttachedEnvironment, loadAll: () => void) {
  const listeners = new Set<Listener>()
  let feed = NOTHING
  let held = nothingHeld()
  let kept = KEPT
  let followed: AbortSignal | undefined
  const came: RecordedRequest[] = []
  let [timer, loading]: (ReturnType<typeof setTimeout> | undefined)[] = []

  const show = (part: Partial<Feed>, requests: readonly RecordedRequest[] = []) => {
    feed = { ...feed, ...part }
    for (const listener of listeners) listener(requests)
  }
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (!held.isLoaded) return
    const requests = [...held.requests.values()].sort((one, other) => other.sequence - one.sequence)
    const old = requests.splice(kept)
    for (const { sequence } of old) held.requests.delete(sequence)
    if (old.length > 0) held.hasMore = kept < MAX_KEPT
    const seen = feed.requests[0]?.sequence ?? NOTHING.seen
    show(
      { ...held, requests, changes: [...held.changes.values()], seen, problem: undefined },
      came.splice(0)
    )
  }
  const flushSoon = () => {
    timer ??= setTimeout(flush, BATCH)
  }
  /** Loads the journal anew; what comes meanwhile is shown with it. */
  const load = async () => {
    held = nothingHeld()
    const own = held
    try {
      const newest = env.requests.list({ order: 'newest', limit: PAGE })
      const [requests, changes] = await Promise.all([newest, env.requests.changes()])
      own.requests = bySequence(...requests, ...own.requests.values())
      own.changes = bySequence(...changes, ...own.changes.values())
      own.hasMore = requests.length === PAGE
      own.isLoaded = true
      // Else another load has begun.
      if (held === own) flush()
    } catch (error) {
      if (held !== own) return
      show({ problem: `trying again: ${messageOf(error)}` })
      if (!followed?.aborted) setTimeout(() => held === own && load(), RETRY_DELAY)
    }
  }
  const onOpen = () => {
    if (feed !== NOTHING) loadAll()
    // Now that nothing is missed of what comes.
    void load()
  }
  const follow = () => {
    loading = document.querySelector(READ) ? setTimeout(follow, INTERVAL) : undefined
    if (loading === undefined) loadAll()
  }
  const followSoon = () => {
    loading ??= setTimeout(follow, INTERVAL)
  }
  const onChange = (change: Change) => {
    followSoon()
    if (EMPTYING.includes(change.operation ?? '')) return void load()
    held.changes.set(change.sequence, change)
    flushSoon()
  }
  return {
    /** Returns what has come so far. */
    feed: () => feed,
    /** Calls a listener with what comes. Returns what ends that. */
    subscribe(listener: Listener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Reads the stream until it is told to stop, and again whenever it breaks. */
    async follow(signal: AbortSignal): Promise<void> {
      followed = signal
      while (!signal.aborted) {
        try {
          for await (const request of env.requests.stream({ signal, onOpen, onChange })) {
            held.requests.set(request.sequence, request)
            came.push(request)
            if (request.changed?.length) followSoon()
            flushSoon()
          }
          if (!signal.aborted)
            show({ problem: 'This environment is gone, or its key is another one now.' })
          return
        } catch (error) {
          show({ problem: `trying again: ${messageOf(error)}` })
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
      }
    },
    /** Loads the next older ones. */
    async loadMore(): Promise<void> {
      const own = held
      const before = feed.requests.at(-1)?.sequence
      if (!own.hasMore || before === undefined) return
      own.hasMore = false
      kept = MAX_KEPT
      const older = await env.requests
        .list({ order: 'newest', before, limit: PAGE })
        .catch(() => undefined)
      // What failed is tried again.
      own.hasMore = !older || older.length === PAGE
      if (!older || held !== own) return
      own.requests = bySequence(...older, ...own.requests.values())
      flush()
    }
  }
}

const LiveContext = createContext({} as ReturnType<typeof createLive>)

/** Reads the requests to the environment while the page is seen, and has the page load again what others change. */
export function LiveProvider({
  children,
  loadAll
}: {
  children: ComponentChildren
  loadAll(): void
}) {
  const { env } = useSession()
  const live = useMemo(() => createLive(env, loadAll), [env, loadAll])
  useEffect(() => {
    // A browser has six connections to a server for all its tabs: one that is not seen keeps none of them.
    let controller = new AbortController()
    const follow = () => {
      controller.abort()
      controller = new AbortController()
      if (!document.hidden) void live.follow(controller.signal)
    }
    follow()
    document.addEventListener('visibilitychange', follow)
    return () => {
      document.removeEventListener('visibilitychange', follow)
      controller.abort()
    }
  }, [live])
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** The live requests of the environment. Only in a `LiveProvider`. */
export const useLive = () => useContext(LiveContext)

/** What has come so far; the component renders again when there is more, after so many milliseconds at the earliest. */
export function useFeed(interval = 0): Feed {
  const live = useLive()
  const [, render] = useState({})
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = live.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        render({})
      }, interval)
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, interval])
  return live.feed()
}

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import type { AttachedEnvironment, Change, RecordedRequest } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { useFollow } from './follow.js'
import { forgetOwnChanges, useSession } from './session.js'

/** The requests to an environment as they come. */
export interface Feed {
  /** The last of them, in the order in which they ended; another array whenever that changes. */
  requests: readonly RecordedRequest[]
  /** How many have come since it was emptied, with those that are no longer kept. */
  received: number
  /** How often it was emptied: what was shown before that is no longer there. */
  emptied: number
  /** Why none come at present; undefined while all is well. */
  problem: string | undefined
  /** Whether none will come again. */
  isOver: boolean
}

/** How many requests the page keeps. */
export const MAX_KEPT = 1000
/** More than most journals keep, which are sent again when the stream is opened again. */
const MAX_KNOWN = 100 * MAX_KEPT
/** A body with more characters is asked of the server again when it is looked at. */
const MAX_BODY = 4096
/** Milliseconds from the first request that comes until it is shown, with all that came meanwhile. */
const BATCH = 100
const RETRY_DELAY = 2000

export const NOTHING: Feed = { requests: [], received: 0, emptied: 0, problem: undefined, isOver: false }

type Live = ReturnType<typeof createLive>

/**
 * Reads the stream of an environment from `start` to `stop`, and opens it again whenever it breaks. It tells when the
 * server was started again or was away.
 */
function createLive(env: AttachedEnvironment, restarted: () => void) {
  let feed = NOTHING
  let waiting: RecordedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let controller = new AbortController()
  /** By their sequences, what tells the last that came from those of another run of the server. */
  const known = new Map<number, string>()
  const listeners = new Set<(came: readonly RecordedRequest[]) => void>()
  const changeListeners = new Set<(change: Change) => void>()
  let lastChange: Change | undefined
  let isResumed = false

  return {
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

    /** Goes on where it was stopped. */
    start(): void {
      if (feed.problem !== undefined) beginAgain()
      controller = new AbortController()
      void read(controller.signal)
    },

    stop(): void {
      controller.abort()
      clearTimeout(timer)
      flush()
    },

    /** Lets go of what the journal no longer has, as it was emptied. */
    async refresh(): Promise<void> {
      // Requests may have come since it was emptied by the last change.
      for (const last of [feed.requests.at(-1)?.sequence, lastChange?.after]) {
        if (last === undefined || !feed.requests.some(({ sequence }) => sequence <= last)) continue
        const later = await env.requests.list({ after: last - 1, limit: 1 }).catch(() => undefined)
        if (!later || later[0]?.sequence === last) continue
        const requests = feed.requests.filter(({ sequence }) => sequence > last)
        feed = { ...feed, requests, received: requests.length, emptied: feed.emptied + 1 }
        notify([])
      }
    },

    forget
  }

  async function read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        // After a pause rather all changes than none of those that were made meanwhile.
        const changesAfter = lastChange?.sequence ?? (isResumed ? 0 : undefined)
        isResumed = true
        const changes = { onChange: takeChange, ...(changesAfter !== undefined && { changesAfter }) }
        const options = { signal, replay: true, ...changes }
        for await (const request of env.requests.stream(options)) take(request)
        if (!signal.aborted) tell('This environment is gone, or its key is another one now.', true)
        return
      } catch (error) {
        tell(messageOf(error))
      }
      do await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
      while (!signal.aborted && !(await isThere()))
      if (signal.aborted) return
      beginAgain()
    }
  }

  function takeChange(change: Change): void {
    lastChange = change
    for (const listener of changeListeners) listener(change)
  }

  /** With all that the journal has. */
  function beginAgain(): void {
    forget()
    lastChange = undefined
    forgetOwnChanges()
    restarted()
  }

  function isThere(): Promise<boolean> {
    return env.clock.get().then(
      () => true,
      () => false
    )
  }

  function take(request: RecordedRequest): void {
    const { sequence, time, duration } = request
    const identity = `${time} ${duration}`
    const same = known.get(sequence)
    // The journal is read again from its beginning.
    if (same === identity) return
    // The server was started again, and counts from 1.
    if (same !== undefined) beginAgain()
    known.set(sequence, identity)
    if (known.size > MAX_KNOWN) known.delete(known.keys().next().value ?? 0)
    const { body = '', bodyLength } = request
    waiting.push(body.length > MAX_BODY ? { ...request, body: '', bodyLength: bodyLength ?? body.length } : request)
    timer ??= setTimeout(flush, BATCH)
  }

  function flush(): void {
    timer = undefined
    const came = waiting
    waiting = []
    if (came.length === 0) return
    const requests = [...feed.requests, ...came].slice(-MAX_KEPT)
    feed = { ...feed, requests, received: feed.received + came.length, problem: undefined }
    notify(came)
  }

  function forget(): void {
    waiting = []
    known.clear()
    feed = { ...NOTHING, emptied: feed.emptied + 1 }
    notify([])
  }

  function notify(came: readonly RecordedRequest[]): void {
    for (const listener of listeners) listener(came)
  }

  function tell(problem: string, isOver = false): void {
    feed = { ...feed, problem, isOver }
    notify([])
  }
}

const LiveContext = createContext<Live | undefined>(undefined)

interface LiveProps {
  children: ComponentChildren
  restarted(): void
  /** Called with what has changed the environment, unless that was the page. */
  changedByOthers(): void
}

/** Reads the requests to the environment while the page is seen, and follows what changes it. */
export function LiveProvider({ children, restarted, changedByOthers }: LiveProps) {
  const { env, version } = useSession()
  const live = useMemo(() => createLive(env, restarted), [env, restarted])
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
  useEffect(() => void live.refresh(), [live, version])
  useFollow(live, changedByOthers)
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** The live requests of the environment. */
export function useLive(): Live {
  const live = useContext(LiveContext)
  if (!live) throw new Error('there are no live requests here')
  return live
}

/** What has come so far; the component renders again when there is more. */
export function useFeed(): Feed {
  const live = useLive()
  const [feed, setFeed] = useState(live.feed)
  useEffect(() => {
    setFeed(live.feed)
    return live.subscribe(() => setFeed(live.feed))
  }, [live])
  return feed
}

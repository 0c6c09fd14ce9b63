import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AttachedEnvironment, RecordedRequest } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { useSession } from './session.js'

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
/** How many a second it takes: as many as people can see, so that looking on costs the server next to nothing. */
const RATE = 600
/** More than the server sends at once of what its journal has: twice the rate. */
const MAX_KNOWN = 3 * MAX_KEPT
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
export function createLive(env: AttachedEnvironment, restarted: () => void) {
  let feed = NOTHING
  let waiting: RecordedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let controller = new AbortController()
  /** By their sequences, what tells the last that came from those of another run of the server. */
  const known = new Map<number, string>()
  const listeners = new Set<(came: readonly RecordedRequest[]) => void>()

  return {
    get feed(): Feed {
      return feed
    },

    /** Calls a listener with what has come, ten times a second at most. Returns what ends that. */
    subscribe(listener: (came: readonly RecordedRequest[]) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
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
      const last = feed.requests.at(-1)
      if (!last) return
      const later = await env.requests.list({ after: last.sequence - 1, limit: 1 }).catch(() => undefined)
      if (!later || later[0]?.sequence === last.sequence) return
      const isLater = ({ sequence }: RecordedRequest) => sequence > last.sequence
      const requests = feed.requests.filter(isLater)
      feed = { ...feed, requests, received: requests.length, emptied: feed.emptied + 1 }
      notify([])
    },

    forget
  }

  async function read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const request of env.requests.stream({ signal, replay: true, rate: RATE })) take(request)
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

  /** With all that the journal has. */
  function beginAgain(): void {
    forget()
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

/** Reads the requests to the environment while the page is seen. A write from outside counts as a change of the state. */
export function LiveProvider({ children, restarted }: { children: ComponentChildren; restarted(): void }) {
  const { env, version, changed } = useSession()
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
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    const end = live.subscribe((came) => {
      if (!came.some(isRecentWrite)) return
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        changed()
      }, 1000)
    })
    return () => {
      end()
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [live, changed])
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

function isRecentWrite({ operation, status = 0, flags }: RecordedRequest): boolean {
  return operation === 'setIntegrationAsPrimary' && status < 300 && !flags.replayed
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

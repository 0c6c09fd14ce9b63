import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { AttachedEnvironment, RecordedRequest } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { useSession } from './session.js'

/** The requests to an environment as they come. */
export interface Feed {
  /** The last of them, in the order in which they ended; another array whenever that changes. */
  requests: readonly RecordedRequest[]
  /** How many have come in all, with those that are no longer kept. */
  received: number
  /** Why none come at present; undefined while all is well. */
  problem: string | undefined
}

/** How many requests the page keeps. */
export const MAX_KEPT = 1000
/** How many a second it takes: as many as people can see, so that looking on costs the server next to nothing. */
const RATE = 600
/** A body with more characters is asked of the server again when it is looked at. */
const MAX_BODY = 4096
/** Milliseconds from the first request that comes until it is shown, with all that came meanwhile. */
const BATCH = 100
const RETRY_DELAY = 2000

const NOTHING: Feed = { requests: [], received: 0, problem: undefined }

type Live = ReturnType<typeof createLive>

/** Reads the stream of an environment from `start` to `stop`, and opens it again whenever it breaks. */
export function createLive(env: AttachedEnvironment) {
  let feed = NOTHING
  let waiting: RecordedRequest[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let controller = new AbortController()
  const sequences = new Set<number>()
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

    start(): void {
      controller = new AbortController()
      void read(controller.signal)
    },

    stop(): void {
      controller.abort()
      clearTimeout(timer)
      timer = undefined
    },

    /** Lets go of what the journal no longer has, as it was emptied. */
    async refresh(): Promise<void> {
      const last = feed.requests.at(-1)
      if (!last) return
      const later = await env.requests.list({ after: last.sequence - 1, limit: 1 }).catch(() => undefined)
      if (!later || later[0]?.sequence === last.sequence) return
      const isLater = ({ sequence }: RecordedRequest) => sequence > last.sequence
      feed = { ...feed, requests: feed.requests.filter(isLater) }
      notify([])
    },

    forget
  }

  async function read(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const request of env.requests.stream({ signal, replay: true, rate: RATE })) take(request)
        if (!signal.aborted) tell('This environment is gone, or its key is another one now.')
        return
      } catch (error) {
        tell(messageOf(error))
      }
      do await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))
      while (!signal.aborted && !(await isThere()))
      // It begins again with all that the journal has.
      if (!signal.aborted) forget()
    }
  }

  function isThere(): Promise<boolean> {
    return env.clock.get().then(
      () => true,
      () => false
    )
  }

  function take(request: RecordedRequest): void {
    // The server was started again, and counts from 1.
    if (sequences.has(request.sequence)) forget()
    sequences.add(request.sequence)
    const { body = '', bodyLength } = request
    waiting.push(body.length > MAX_BODY ? { ...request, body: '', bodyLength: bodyLength ?? body.length } : request)
    timer ??= setTimeout(flush, BATCH)
  }

  function flush(): void {
    timer = undefined
    const came = waiting
    waiting = []
    const all = [...feed.requests, ...came]
    const requests = all.slice(-MAX_KEPT)
    for (const { sequence } of all.slice(0, -MAX_KEPT)) sequences.delete(sequence)
    feed = { requests, received: feed.received + came.length, problem: undefined }
    notify(came)
  }

  function forget(): void {
    waiting = []
    sequences.clear()
    feed = NOTHING
    notify([])
  }

  function notify(came: readonly RecordedRequest[]): void {
    for (const listener of listeners) listener(came)
  }

  function tell(problem: string): void {
    feed = { ...feed, problem }
    notify([])
  }
}

const LiveContext = createContext<Live | undefined>(undefined)

/** Reads the requests to the environment while it is shown. A write from outside counts as a change of the state. */
export function LiveProvider({ children }: { children: ComponentChildren }) {
  const { env, version, changed } = useSession()
  const live = useMemo(() => createLive(env), [env])
  useEffect(() => {
    live.start()
    return live.stop
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

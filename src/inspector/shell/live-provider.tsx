import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import {
  type ConnectionProblem,
  type Feed,
  LiveRequests,
  type ReloadScope
} from './live-requests.js'
import { useSession } from './session.js'

const LiveContext = createContext<LiveRequests | undefined>(undefined)

interface Props {
  children: ComponentChildren
  reload(scope: ReloadScope): void
}

/**
 * Provides the environment's live requests to its children. Receives new requests only while the
 * browser tab is visible.
 */
export function LiveProvider({ children, reload }: Props) {
  const { env } = useSession()
  const live = useMemo(() => new LiveRequests(env, reload), [env, reload])
  useEffect(() => {
    let controller = new AbortController()
    const followWhileVisible = () => {
      controller.abort()
      controller = new AbortController()
      // All tabs of a browser share six connections to a server, so a hidden tab closes its
      // connection.
      if (!document.hidden) live.follow(controller.signal)
    }
    followWhileVisible()
    document.addEventListener('visibilitychange', followWhileVisible)
    return () => {
      document.removeEventListener('visibilitychange', followWhileVisible)
      controller.abort()
    }
  }, [live])
  return <LiveContext.Provider value={live}>{children}</LiveContext.Provider>
}

/** Returns the live requests. Throws if there is no `LiveProvider` around the component. */
export function useLive(): LiveRequests {
  const live = useContext(LiveContext)
  if (!live) throw new Error('useLive() needs a LiveProvider')
  return live
}

/**
 * Returns the feed. Renders the component again when the feed changes, at most once every
 * `interval` milliseconds.
 */
export function useFeed(interval = 0): Feed {
  const live = useLive()
  const [, rerender] = useState({})
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const unsubscribe = live.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        rerender({})
      }, interval)
    })
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [live, interval])
  return live.feed
}

/** Returns the current connection problem; undefined while connected. */
export function useConnectionProblem(): ConnectionProblem | undefined {
  const live = useLive()
  const [problem, setProblem] = useState(live.feed.problem)
  useEffect(() => {
    const update = () => setProblem(live.feed.problem)
    update()
    return live.subscribe(update)
  }, [live])
  return problem
}

import { useEffect } from 'preact/hooks'
import { useLive } from './live.js'
import { useSession } from './session.js'

/** Milliseconds from a change until the page shows it, with all that came meanwhile; and from one time to the next. */
const AFTER = 200
const INTERVAL = 1000
/**
 * What must not move or go away: a form that is open, a list under the mouse or gone through by keys. That of the requests
 * takes care of itself.
 */
const READ = 'form[data-held="true"], .pane > .list:hover, .pane > .list [data-item]:focus-visible'

/** Has the page load again what it shows when the environment has changed, once nobody reads. */
export function Follower() {
  const live = useLive()
  const { version, changed } = useSession()
  useEffect(() => {
    const startedAt = performance.now()
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = () => {
      // All that is loaded is a new version, which ends this and begins anew.
      if (document.querySelector(READ)) timer = setTimeout(follow, AFTER)
      else changed()
    }
    const end = live.subscribe((requests, change) => {
      if (!change && !requests.some((request) => request.changed?.length)) return
      timer ??= setTimeout(follow, Math.max(AFTER, startedAt + INTERVAL - performance.now()))
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, version, changed])
  return null
}

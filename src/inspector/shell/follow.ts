import { useEffect } from 'preact/hooks'
import type { Change } from '../../client/index.js'
import { useLive } from './live.js'
import { isOwnChange, useSession } from './session.js'

/** Milliseconds from a change until the page shows it, with all that came meanwhile; and from one time to the next. */
const AFTER = 200
const INTERVAL = 1000
/**
 * What must not move or go away: a form that is open, a list under the mouse or gone through by keys. That of the requests
 * takes care of itself.
 */
const READ = 'form[data-held="true"], .pane > .list:hover, .pane > .list [data-item]:focus-visible'

/** Has the page load again what it shows when somebody else has changed the environment, once nobody reads. */
export function Follower({ loadAll }: { loadAll: () => void }) {
  const live = useLive()
  const { env, version } = useSession()
  useEffect(() => {
    const startedAt = performance.now()
    let changes: Change[] = []
    let isWrite = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const follow = () => {
      changes = changes.filter((change) => !isOwnChange(env, change))
      timer = undefined
      if (changes.length === 0 && !isWrite) return
      // All that is loaded is a new version, which ends this and begins anew.
      if (document.querySelector(READ)) timer = setTimeout(follow, AFTER)
      else loadAll()
    }
    const end = live.subscribe((requests, change) => {
      if (change) changes.push(change)
      else if (requests.some((request) => request.changed?.length)) isWrite = true
      else return
      timer ??= setTimeout(follow, Math.max(AFTER, startedAt + INTERVAL - performance.now()))
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live, env, version, loadAll])
  return null
}

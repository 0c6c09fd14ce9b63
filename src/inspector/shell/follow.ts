import { useEffect } from 'preact/hooks'
import type { Change } from '../../client/index.js'
import { offer } from '../parts/toast.js'
import { useLive } from './live.js'
import { isOwnChange, useSession } from './session.js'

/** Milliseconds from a change until the page shows it, with all that came meanwhile; and from one time to the next. */
const AFTER = 200
const INTERVAL = 1000
/** Milliseconds until it is looked again whether somebody still reads. */
const LOOK_AGAIN = 300

/** A form that a reload might close. */
const FORM = 'form[data-held="true"]'
/** What must not move: a list under the mouse or gone through by keys. That of the requests takes care of itself. */
const READ = `${FORM}, .pane > .list:hover, .pane > .list [data-item]:focus-visible`

/**
 * Has the page load again what it shows when somebody else has changed the environment. What one reads does not move, and a
 * form that is open stays: then it says so, and loads when one asks for it or has done.
 */
export function Follower({ changedByOthers }: { changedByOthers: () => void }) {
  const live = useLive()
  const { env, version, changed } = useSession()
  useEffect(() => {
    const startedAt = performance.now()
    let changes: Change[] = []
    let [isWrite, told] = [false, 0]
    let timer: ReturnType<typeof setTimeout> | undefined
    let withdraw = () => {}
    const follow = () => {
      timer = undefined
      changes = changes.filter((change) => !isOwnChange(env, change))
      if (changes.length === 0 && !isWrite) return
      const isNew = changes.length > told
      if (isNew) changedByOthers()
      // A new version ends this and begins anew.
      if (!document.querySelector(READ)) return changed()
      if (isNew) {
        withdraw()
        withdraw = offer(wordsOf(changes), { name: 'Show it now', run: changed })
      }
      told = changes.length
      timer = setTimeout(follow, LOOK_AGAIN)
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
      withdraw()
    }
    // What the page itself has changed makes it load all, and so does what is followed.
  }, [live, env, version, changed, changedByOthers])
  return null
}

function wordsOf(changes: readonly Change[]): string {
  const { summary = '', target } = changes.at(-1) ?? {}
  const others = changes.length > 1 ? `, and ${(changes.length - 1).toLocaleString()} more` : ''
  const what = `${summary}${target === undefined ? '' : ` (${target})`}${others}`
  const form = document.querySelector(FORM) ? ' Your form is as you left it; showing it may close it.' : ''
  return `Meanwhile another client did this: ${what}.${form}`
}

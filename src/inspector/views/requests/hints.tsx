import { useEffect, useState } from 'preact/hooks'
import { hintsOf } from '../../../client/hints.js'
import type { Hint } from '../../../client/index.js'
import { Icon } from '../../parts/icon.js'
import { useLive } from '../../shell/live.js'

/** How many of the newest requests are looked at, and how often at most, in milliseconds. */
const LOOKED_AT = 500
const INTERVAL = 1000
/** Requests that a hint names. */
const MAX_NAMED = 3

/** What the newest requests let suspect. */
export function useHints(): readonly Hint[] {
  const live = useLive()
  const [hints, setHints] = useState<readonly Hint[]>([])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      timer = undefined
      setHints(joined(hintsOf(live.feed.requests.slice(0, LOOKED_AT).reverse(), live.feed.changes)))
    }
    look()
    const end = live.subscribe(() => {
      timer ??= setTimeout(look, INTERVAL)
    })
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [live])
  return hints
}

/** A hint, with the requests that it is about. */
export function HintLine({ hint: { message, requests }, href }: { hint: Hint; href: (sequence: number) => string }) {
  return (
    <div class="event is-warn">
      <Icon name="warn" />
      <span class="cut" title={message} dir="auto">
        {message}
      </span>
      <span class="spread">
        {requests.slice(-MAX_NAMED).map((sequence) => (
          <a key={sequence} href={href(sequence)}>
            #{sequence}{' '}
          </a>
        ))}
      </span>
    </div>
  )
}

/** Hints that say the same of different requests, as one. */
function joined(hints: readonly Hint[]): Hint[] {
  const byMessage = new Map<string, Hint>()
  for (const hint of hints) {
    const requests = [...(byMessage.get(hint.message)?.requests ?? []), ...hint.requests]
    byMessage.set(hint.message, { ...hint, requests: requests.sort((one, other) => one - other) })
  }
  return [...byMessage.values()]
}

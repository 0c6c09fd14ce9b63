import { useEffect, useState } from 'preact/hooks'
import { type Hint, hintsOf } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { useLive } from '../../shell/live.js'

/** How many of the newest requests are looked at, and how often at most, in milliseconds. */
const LOOKED_AT = 500
const INTERVAL = 1000
/** Requests that a hint names. */
const MAX_NAMED = 5

/** What the newest requests let suspect. */
export function useHints(): readonly Hint[] {
  const live = useLive()
  const [hints, setHints] = useState<readonly Hint[]>([])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      timer = undefined
      setHints(hintsOf(live.feed.requests.slice(0, LOOKED_AT).reverse(), live.feed.changes))
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
export function HintNote({ hint, href }: { hint: Hint; href: (sequence: number) => string }) {
  const named = hint.requests.slice(-MAX_NAMED)
  return (
    <Callout tone="warn" icon="warn">
      <span class="callout-text" dir="auto">
        {hint.message}
      </span>
      <span>
        {named.map((sequence) => (
          <a key={sequence} href={href(sequence)}>
            #{sequence}{' '}
          </a>
        ))}
      </span>
    </Callout>
  )
}

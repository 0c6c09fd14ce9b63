import { toneClass } from '../../parts/chip.js'
import { Timeline } from '../../parts/timeline.js'
import { useFeed } from '../../shell/live.js'
import { go } from '../../shell/router.js'
import { useHints } from './hints.js'
import { useKeylessCount } from './keyless.js'
import type { Place } from './place.js'
import { changeText, targetOf, toneOf } from './rows.js'

/** Ticks that the line of time has at most; milliseconds until it shows what came, with all that came meanwhile. */
const TICKS = 400
const TIMELINE_AFTER = 400

/** The line of time above the panes, with what it tells of them. */
export function TimeStrip({ place, isPaused, pause }: { place: Place; isPaused: boolean; pause: () => void }) {
  const { requests, changes, problem, isOver } = useFeed(TIMELINE_AFTER)
  const hints = useHints()
  const keyless = useKeylessCount()
  const shown = requests.slice(0, TICKS).reverse()
  const failed = shown.filter((request) => toneOf(request) !== undefined).length
  return (
    <div class="time-strip">
      <Timeline
        label={`The last ${shown.length.toLocaleString()} requests in the order of time, ${failed.toLocaleString()} of which failed`}
        ticks={shown.map((request) => ({
          key: request.sequence,
          time: Date.parse(request.time),
          duration: request.duration ?? 0,
          tone: toneOf(request),
          title: `${request.status ?? 'no answer'} ${request.method} ${targetOf(request)}`
        }))}
        marks={changes.map((change) => ({ after: change.after, title: changeText(change) }))}
        current={typeof place.open === 'number' ? place.open : undefined}
        choose={(open) => go(place.to({ open }))}
      />
      <Keyless isShown={place.isKeyless} to={place.to} count={keyless} />
      {hints.length > 0 && (
        <a class="chip is-warn" href={place.to({ open: 'hints' })}>
          {hints.length === 1 ? '1 hint' : `${hints.length.toLocaleString()} hints`}
        </a>
      )}
      {problem === undefined ? (
        <button
          type="button"
          class="quiet"
          aria-pressed={isPaused}
          title={isPaused ? 'Resume (p)' : 'Pause (p)'}
          onClick={pause}
        >
          <span class={`dot ${toneClass(isPaused ? 'warn' : 'good')}`} />
          {isPaused ? 'Paused' : 'Live'}
        </button>
      ) : (
        <p class="is-bad toned problem cut" role="alert" dir="auto" title={problem}>
          Not connected{isOver ? '' : ', trying again'}: {problem}
        </p>
      )}
    </div>
  )
}

/** So that nobody waits for requests here that came without a valid key. */
function Keyless({ isShown, to, count }: { isShown: boolean; to: Place['to']; count: number }) {
  if (count === 0 && !isShown) return null
  return (
    <a
      class="chip is-warn"
      aria-current={isShown ? 'true' : undefined}
      href={to({ isKeyless: !isShown, open: 'overview' })}
    >
      {isShown ? 'Back to those with a key' : `${count.toLocaleString()} without a valid key`}
    </a>
  )
}

import { useMemo } from 'preact/hooks'
import { type Hint, hintsOf } from '../../../client/hints.js'
import type { RecordedRequest } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { Icon } from '../../parts/icon.js'
import { Popover } from '../../parts/popover.js'
import { useFeed } from '../../shell/live-provider.js'
import type { Feed } from '../../shell/live-requests.js'
import { hrefTo, navigate } from '../../shell/router.js'
import { FindingCallout } from './finding.js'
import { describeChange, targetOf, toneOf } from './format-request.js'
import { type RequestsLocation, UNAUTHENTICATED_SEARCH } from './location.js'

/** The timeline and the hints cover only this many of the newest requests. */
const MAX_TICKS = 400
const UPDATE_INTERVAL = 500

interface TimeStripProps {
  location: RequestsLocation
  isPaused: boolean
  unauthenticatedCount: number
  togglePause(): void
}

/**
 * The strip above the panes, with the timeline, the number of requests without a valid key, the
 * hints, and the button that pauses the list.
 */
export function TimeStrip(props: TimeStripProps) {
  const { location, isPaused, unauthenticatedCount, togglePause } = props
  const { requests, changes, problem } = useFeed(UPDATE_INTERVAL)
  const newest = requests.slice(0, MAX_TICKS)
  const hints = useMemo(() => hintsOf(newest.toReversed(), changes), [requests, changes])
  return (
    <div class="time-strip">
      <Timeline requests={newest} changes={changes} location={location} />
      {unauthenticatedCount > 0 && (
        <a
          class="chip is-warn"
          href={location.href({ search: UNAUTHENTICATED_SEARCH, open: undefined })}
        >
          {unauthenticatedCount.toLocaleString()} without a valid key
        </a>
      )}
      {hints.length > 0 && <HintsPopover hints={hints} location={location} />}
      <a
        class="button quiet only-icon"
        href={hrefTo(['requests', 'new'])}
        aria-label="New request"
        title="New request"
      >
        <Icon name="send" />
      </a>
      {problem === undefined && (
        <button
          class="quiet"
          aria-pressed={isPaused}
          title="Pause or resume (p)"
          onClick={togglePause}
        >
          <span class={`dot ${toneClass(isPaused ? 'warn' : 'good')}`} />
          {isPaused ? 'Paused' : 'Live'}
        </button>
      )}
    </div>
  )
}

interface HintsProps {
  hints: readonly Hint[]
  location: RequestsLocation
}

function HintsPopover({ hints, location }: HintsProps) {
  const label = hints.length === 1 ? '1 hint' : `${hints.length} hints`
  return (
    <Popover button={label} label={label} class="chip is-warn" isPadded>
      {(close) => (
        <div class="form" onClick={close}>
          {hints.map(({ message, requests }, index) => (
            <FindingCallout
              key={index}
              tone="warn"
              message={message}
              requests={requests}
              href={(open) => location.href({ open })}
            />
          ))}
        </div>
      )}
    </Popover>
  )
}

/** Distances in pixels. */
const TICK_STEP = 4
const RIGHT_MARGIN = 8
const MAX_GAP = 28
const MAX_TICK_HEIGHT = 25
/** The timeline shows a gap only for pauses longer than this, in milliseconds. */
const MIN_PAUSE = 1000

interface Tick extends Pick<RecordedRequest, 'sequence'> {
  x: number
  height: number
  tone: ReturnType<typeof toneOf>
  title: string
}

/**
 * Returns a tick for each request, with the newest at the right. The gap between two ticks grows
 * with the logarithm of the pause between their requests. A tick's height grows with the logarithm
 * of its request's duration.
 */
function ticksOf(requests: readonly RecordedRequest[]): Tick[] {
  let x = -RIGHT_MARGIN
  return requests.map((request, index) => {
    const { sequence, method, time, status = 'no response', duration = 0 } = request
    const pause = Date.parse(requests[index - 1]?.time ?? time) - Date.parse(time)
    const gap = pause > MIN_PAUSE ? Math.min(MAX_GAP, 4 * Math.log2(pause / 500)) : 0
    x -= TICK_STEP + gap
    return {
      sequence,
      x,
      height: Math.min(MAX_TICK_HEIGHT, 5 + 6 * Math.log10(1 + duration * 4)),
      tone: toneOf(request),
      title: `${status} ${method} ${targetOf(request)}`
    }
  })
}

type TimelineProps = Pick<Feed, 'requests' | 'changes'> & { location: RequestsLocation }

function Timeline({ requests, changes, location }: TimelineProps) {
  const ticks = ticksOf(requests)
  const failedCount = ticks.filter(({ tone }) => tone !== undefined).length
  const label = `Timeline of the latest requests (${ticks.length}, of which ${failedCount} failed)`
  return (
    <div class="timeline" role="img" aria-label={label}>
      <svg width="100%" height="100%" aria-hidden="true">
        {/* The origin is the bottom right corner, so if the ticks don't fit, the oldest ones are
            cut off. */}
        <svg x="100%" y="100%" overflow="visible">
          {ticks.map(({ sequence, x, height, tone, title }) => {
            const isOpen = sequence === location.open
            return (
              <rect
                key={sequence}
                class={isOpen ? 'is-open' : toneClass(tone)}
                x={x}
                y={-8 - height}
                width={isOpen ? 3 : 2}
                height={height}
                rx={1}
                onClick={() => navigate(location.href({ open: sequence }))}
              >
                <title>{title}</title>
              </rect>
            )
          })}
        </svg>
        <svg x="100%" overflow="visible">
          {changes.map((change) => {
            const tick = ticks.find(({ sequence }) => sequence <= change.after)
            if (!tick) return null
            return (
              <path key={change.sequence} d={`M${tick.x + TICK_STEP} 3l3.5 3.5-3.5 3.5-3.5-3.5z`}>
                <title>{describeChange(change)}</title>
              </path>
            )
          })}
        </svg>
      </svg>
    </div>
  )
}

import type { Change, RecordedRequest } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { changeText, targetOf, toneOf } from './rows.js'

interface TimelineProps {
  /** Newest first. */
  requests: readonly RecordedRequest[]
  changes: readonly Change[]
  /** The sequence of the one that is open. */
  current: number | undefined
  choose(sequence: number): void
}

const STEP = 4
/** The pixels that a pause between two requests takes. */
const MAX_GAP = 28
const MAX_HEIGHT = 25

/** Each request as a tick in the order of time, the newest at the right; pauses are shown, but not to scale. */
export function Timeline({ requests, changes, current, choose }: TimelineProps) {
  let x = STEP - 12
  const ticks = requests.map((request, index) => {
    const { sequence, method, time, status = 'no answer', duration = 0 } = request
    const pause = Date.parse(requests[index - 1]?.time ?? time) - Date.parse(time)
    x -= STEP + (pause > 1000 ? Math.min(MAX_GAP, 4 * Math.log2(pause / 500)) : 0)
    const height = Math.min(MAX_HEIGHT, 5 + 6 * Math.log10(1 + duration * 4))
    return { sequence, x, height, tone: toneOf(request), title: `${status} ${method} ${targetOf(request)}` }
  })
  const failed = ticks.filter(({ tone }) => tone !== undefined).length
  const label = `The last ${ticks.length} requests in the order of time, ${failed} of which failed`
  return (
    <div class="timeline" role="img" aria-label={label}>
      <svg width="100%" height="100%" aria-hidden="true">
        {/* From its right corners: what there is no room for is beyond the left edge. */}
        <svg x="100%" y="100%" overflow="visible">
          {ticks.map(({ sequence, x, height, tone, title }) => {
            const isOpen = sequence === current
            const look = { class: isOpen ? 'is-open' : toneClass(tone), width: isOpen ? 3 : 2, rx: 1 }
            return (
              <rect key={sequence} {...look} {...{ x, y: -8 - height, height }} onClick={() => choose(sequence)}>
                <title>{title}</title>
              </rect>
            )
          })}
        </svg>
        <svg x="100%" overflow="visible">
          {changes.map((change) => {
            const tick = ticks.find(({ sequence }) => sequence <= change.after)
            return (
              tick && (
                <path key={change.sequence} d={`M${tick.x + STEP} 3l3.5 3.5-3.5 3.5-3.5-3.5z`}>
                  <title>{changeText(change)}</title>
                </path>
              )
            )
          })}
        </svg>
      </svg>
    </div>
  )
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Tone, toneClass } from './chip.js'

interface Tick {
  key: number
  /** Milliseconds since 1970. */
  time: number
  /** How long it took, in milliseconds: the height. */
  duration: number
  tone: Tone | undefined
  title: string
}

interface TimelineProps {
  /** Oldest first. */
  ticks: readonly Tick[]
  /** What has changed between them, each after the tick of a key, or before all. */
  marks: readonly { after: number; title: string }[]
  current: number | undefined
  /** What the drawing shows, in words. */
  label: string
  choose(key: number): void
}

const STEP = 4
/** The pixels that a pause between two requests takes. */
const MAX_GAP = 28

/** Each request as a tick in the order of time, the newest at the right; pauses are shown, but not to scale. */
export function Timeline({ ticks, marks, current, label, choose }: TimelineProps) {
  const ref = useRef<HTMLDivElement>(null)
  const [[width, height], setSize] = useState([800, 43])
  useLayoutEffect(() => {
    const observer = new ResizeObserver(
      ([entry]) => entry && setSize([entry.target.clientWidth, entry.target.clientHeight])
    )
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  const places = placesOf(ticks, width - 16)
  const shown = ticks.slice(ticks.length - places.length)
  return (
    <div ref={ref} class="timeline" role="img" aria-label={label}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {shown.map(({ key, duration, tone, title }, index) => {
          const size = Math.min(height - 18, 5 + 6 * Math.log10(1 + duration * 4))
          const isOpen = key === current
          return (
            <rect
              key={key}
              class={isOpen ? 'is-open' : toneClass(tone)}
              {...{ x: places[index], y: height - 8 - size, width: isOpen ? 3 : 2, height: size, rx: 1 }}
              onClick={() => choose(key)}
            >
              <title>{title}</title>
            </rect>
          )
        })}
        {marks.map(({ after, title }, index) => {
          const place = places[shown.findLastIndex(({ key }) => key <= after)]
          return (
            place !== undefined && (
              <path key={index} d={`M${place + STEP} 3l3.5 3.5-3.5 3.5-3.5-3.5z`}>
                <title>{title}</title>
              </path>
            )
          )
        })}
      </svg>
    </div>
  )
}

/** Returns where the last ticks stand that there is room for, from the left. */
function placesOf(ticks: readonly Tick[], width: number): number[] {
  let used = -STEP
  const distances = ticks.toReversed().map(({ time }, index, all) => {
    const pause = (all[index - 1]?.time ?? time) - time
    used += STEP + (pause > 1000 ? Math.min(MAX_GAP, 4 * Math.log2(pause / 500)) : 0)
    return used
  })
  const fitting = distances.filter((distance) => distance <= width).reverse()
  return fitting.map((distance) => (fitting[0] ?? 0) + 12 - distance)
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Tone, toneClass } from './chip.js'

export interface Tick {
  key: number
  /** Milliseconds since 1970. */
  time: number
  /** How long it took, in milliseconds: the height. */
  duration: number
  tone: Tone | undefined
  title: string
}

export interface Mark {
  /** The key of the tick that it comes after; 0 if before all. */
  after: number
  title: string
}

interface TimelineProps {
  /** Oldest first. */
  ticks: readonly Tick[]
  /** What has changed between them. */
  marks: readonly Mark[]
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
  const [{ width, height }, setSize] = useState({ width: 800, height: 43 })
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const places = placesOf(ticks, width - 16)
  const first = ticks.length - places.length
  const floor = height - 8
  return (
    <div ref={ref} class="timeline" role="img" aria-label={label}>
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {places.map((x, index) => {
          const tick = ticks[first + index]
          if (!tick) return null
          const { key, duration, tone, title } = tick
          const size = Math.min(floor - 10, 5 + 6 * Math.log10(1 + duration * 4))
          return (
            <rect
              key={key}
              class={`${toneClass(tone)} ${key === current ? 'is-open' : ''}`}
              {...{ x, y: floor - size, width: key === current ? 3 : 2, height: size, rx: 1 }}
              onClick={() => choose(key)}
            >
              <title>{title}</title>
            </rect>
          )
        })}
        {marks.map(({ after, title }, index) => {
          const place = ticks.findLastIndex(({ key }) => key <= after) - first
          const x = (places[place] ?? -STEP) + STEP
          return place < 0 ? null : (
            <path key={index} d={`M${x} 3l3.5 3.5-3.5 3.5-3.5-3.5z`}>
              <title>{title}</title>
            </path>
          )
        })}
      </svg>
    </div>
  )
}

/** Returns where the last ticks stand that there is room for, from the left. */
function placesOf(ticks: readonly Tick[], width: number): number[] {
  const distances: number[] = []
  let used = 0
  for (let index = ticks.length - 1; index >= 0; index--) {
    const pause = (ticks[index + 1]?.time ?? 0) - (ticks[index]?.time ?? 0)
    const gap = pause > 1000 ? Math.min(MAX_GAP, 4 * Math.log2(pause / 500)) : 0
    used += index === ticks.length - 1 ? 0 : STEP + gap
    if (used > width) break
    distances.push(used)
  }
  const end = Math.min(width, distances.at(-1) ?? 0) + 12
  return distances.reverse().map((distance) => end - distance)
}

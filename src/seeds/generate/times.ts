import { isoTime } from '../../core/clock.js'
import { digitPair } from './draw.js'

export const DAY = 86_400_000

const days = new Map<number, string>()

/** The date in UTC, `2026-02-18`. */
export function dayOf(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY)
  let text = days.get(day)
  if (text === undefined) {
    if (days.size > 10_000) days.clear()
    text = isoTime(day * DAY).slice(0, -'T00:00:00.000Z'.length)
    days.set(day, text)
  }
  return text
}

const MINUTES = Array.from(
  { length: 1440 },
  (_, minute) => `T${digitPair(Math.floor(minute / 60))}:${digitPair(minute % 60)}:`
)
const SECONDS = Array.from({ length: 60 }, (_, second) => `${digitPair(second)}.`)
const MILLISECONDS = Array.from({ length: 1000 }, (_, millisecond) => `${String(millisecond).padStart(3, '0')}Z`)

/** The same as `isoTime`, three times as fast. */
export function timeOf(milliseconds: number): string {
  const ofDay = ((milliseconds % DAY) + DAY) % DAY
  const minute = Math.floor(ofDay / 60_000)
  const second = Math.floor((ofDay % 60_000) / 1000)
  return dayOf(milliseconds) + MINUTES[minute] + SECONDS[second] + MILLISECONDS[ofDay % 1000]
}

/** The present, in milliseconds since 1970. Comes in from outside, so that a test can hold it still. */
export type Clock = () => number

export const wallClock: Clock = () => Date.now()

/** How the time of an environment goes: with the machine's, standing still, or so many milliseconds off. */
export type ClockSetting = { mode: 'wall' } | { mode: 'fixed'; at: string } | { mode: 'offset'; by: number }

export const WALL: ClockSetting = { mode: 'wall' }

/** The times that a clock can show: those that have a year of four digits, and that computers have known. */
const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The present by a setting; `at` of a fixed one must be a time. An offset that leads too far stops at the last time. */
export function timeBy(setting: ClockSetting, wall: Clock): number {
  if (setting.mode === 'fixed') return Date.parse(setting.at)
  return setting.mode === 'offset' ? Math.min(Math.max(wall() + setting.by, EARLIEST), LATEST) : wall()
}

/** The setting that shows a time so many milliseconds later, and goes on as before; undefined: there is no such time. */
export function advanced(setting: ClockSetting, milliseconds: number, wall: Clock): ClockSetting | undefined {
  const later = timeBy(setting, wall) + milliseconds
  if (later < EARLIEST || later > LATEST) return undefined
  if (setting.mode === 'fixed') return { mode: 'fixed', at: isoTime(later) }
  return { mode: 'offset', by: (setting.mode === 'offset' ? setting.by : 0) + milliseconds }
}

const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/

/**
 * Milliseconds since 1970 of a time in ISO 8601, or undefined. A time of day must say its zone, as it would otherwise
 * depend on the machine; a date alone is its midnight in UTC. A day that the month does not have is none.
 */
export function parseTime(text: string): number | undefined {
  const milliseconds = parseIsoTime(text)
  const isPossible = milliseconds !== undefined && milliseconds >= EARLIEST && milliseconds <= LATEST
  return isPossible ? milliseconds : undefined
}

/** The same without the bounds of a clock: for times that a record merely mentions. */
export function parseIsoTime(text: string): number | undefined {
  const [, year, month, day] = ISO_8601.exec(text) ?? []
  const midnight = new Date(`${year}-${month}-${day}`)
  const milliseconds = Date.parse(text)
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.getUTCDate() === Number(day)
  return isDay && !Number.isNaN(milliseconds) ? milliseconds : undefined
}

/** ISO 8601, UTC, milliseconds: the form of every time on the wire. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

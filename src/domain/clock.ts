/**
 * Returns the current time in milliseconds since 1970. Code receives a clock as an argument, so
 * that tests can set the time.
 */
export type Clock = () => number

export const wallClock: Clock = () => Date.now()

// Keep the original function, because a test may replace `performance.now` later.
const elapsed = performance.now.bind(performance)
const origin = Date.now() - elapsed()

/**
 * A clock for measuring durations. Its time never jumps or goes back, even if the system time
 * changes.
 */
export const steadyClock: Clock = () => origin + elapsed()

/**
 * An environment's clock: the system clock, a fixed time, or the system clock plus `by`
 * milliseconds.
 */
export type ClockSetting =
  | { mode: 'wall' }
  | { mode: 'fixed'; at: string }
  | { mode: 'offset'; by: number }

export const WALL: ClockSetting = { mode: 'wall' }

// Clocks are limited to the years 1970 to 9999, so that every year has four digits.
const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Returns the clock's time. Doesn't validate a fixed time. If the clock has an offset, limits the
 * time to the years 1970 to 9999.
 */
export function readClock(setting: ClockSetting, wall: Clock): number {
  if (setting.mode === 'wall') return wall()
  if (setting.mode === 'fixed') return Date.parse(setting.at)
  return Math.min(Math.max(wall() + setting.by, EARLIEST), LATEST)
}

/**
 * Returns the setting advanced by `milliseconds`, or undefined if the new time isn't between 1970
 * and 9999.
 */
export function advanceClock(
  setting: ClockSetting,
  milliseconds: number,
  wall: Clock
): ClockSetting | undefined {
  const later = readClock(setting, wall) + milliseconds
  if (later < EARLIEST || later > LATEST) return undefined
  if (setting.mode === 'fixed') return { mode: 'fixed', at: isoTime(later) }
  const offset = setting.mode === 'offset' ? setting.by : 0
  return { mode: 'offset', by: offset + milliseconds }
}

const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/

/**
 * Parses an ISO 8601 date, or an ISO 8601 date and time with a time zone. Returns milliseconds
 * since 1970, or undefined if the text is invalid or the time isn't between 1970 and 9999.
 */
export function parseTime(text: string): number | undefined {
  const milliseconds = parseIsoTime(text)
  if (milliseconds === undefined) return undefined
  return milliseconds >= EARLIEST && milliseconds <= LATEST ? milliseconds : undefined
}

/**
 * Parses like `parseTime`, but accepts any four-digit year, because records may contain timestamps
 * outside the range of the clocks.
 */
export function parseIsoTime(text: string): number | undefined {
  const [, year, month, day] = ISO_8601.exec(text) ?? []
  const midnight = new Date(`${year}-${month}-${day}`)
  // Check the day, because `Date` turns February 30 into March 2.
  if (midnight.getUTCDate() !== Number(day)) return undefined
  const milliseconds = Date.parse(text)
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/** Returns the time in the format that all responses use: ISO 8601 in UTC with milliseconds. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** Returns the current time in milliseconds since 1970. It is passed in, so that a test can fix it. */
export type Clock = () => number

export const wallClock: Clock = () => Date.now()

// As it is now: a test may replace it later.
const elapsed = performance.now.bind(performance)
const origin = Date.now() - elapsed()

/** Measures how much time passes, whatever becomes of the system's time: it only ever goes forward, and never jumps. */
export const steadyClock: Clock = () => origin + elapsed()

/** The clock of an environment: the machine's, fixed at a time, or offset from the machine's by milliseconds. */
export type ClockSetting =
  | { mode: 'wall' }
  | { mode: 'fixed'; at: string }
  | { mode: 'offset'; by: number }

export const WALL: ClockSetting = { mode: 'wall' }

// What a clock can show: years of four digits since 1970.
const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Returns the time by a setting, whose `at` must be a time. An offset beyond the last time gives the last time. */
export function readClock(setting: ClockSetting, wall: Clock): number {
  if (setting.mode === 'fixed') return Date.parse(setting.at)
  return setting.mode === 'offset'
    ? Math.min(Math.max(wall() + setting.by, EARLIEST), LATEST)
    : wall()
}

/** Returns the setting for a clock so many milliseconds later, or undefined when it can't show such a time. */
export function advanceClock(
  setting: ClockSetting,
  milliseconds: number,
  wall: Clock
): ClockSetting | undefined {
  const later = readClock(setting, wall) + milliseconds
  if (later < EARLIEST || later > LATEST) return undefined
  if (setting.mode === 'fixed') return { mode: 'fixed', at: isoTime(later) }
  return { mode: 'offset', by: (setting.mode === 'offset' ? setting.by : 0) + milliseconds }
}

const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d))?$/

/** Returns the milliseconds since 1970 of an ISO 8601 date in UTC or time with its zone, or undefined when it is none. */
export function parseTime(text: string): number | undefined {
  const milliseconds = parseIsoTime(text) ?? Number.NaN
  return milliseconds >= EARLIEST && milliseconds <= LATEST ? milliseconds : undefined
}

/** The same without the bounds of a clock: for times that a record merely mentions. */
export function parseIsoTime(text: string): number | undefined {
  const [, year, month, day] = ISO_8601.exec(text) ?? []
  const midnight = new Date(`${year}-${month}-${day}`)
  const milliseconds = Date.parse(text)
  return midnight.getUTCDate() === Number(day) && !Number.isNaN(milliseconds)
    ? milliseconds
    : undefined
}

/** Returns a time as all answers have it: ISO 8601, UTC, with milliseconds. */
export const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

import { isoTime, parseIsoTime } from './clock.js'
import { DURATION_PATTERN, parseDuration } from './duration.js'

const DURATION = new RegExp(DURATION_PATTERN)

/** How to read the times in a seed's records. All values are in milliseconds. */
export interface TimeReading {
  /** The current time of the environment. */
  now: number
  /** The offset to add to each ISO time. */
  shift: number
}

/**
 * Reads a time in a seed: an ISO time, or a distance from now such as `-2h`. Returns milliseconds
 * since 1970, or undefined if the text is neither.
 */
export function parseRecordTime(text: string, { now, shift }: TimeReading): number | undefined {
  const sign = text.charAt(0)
  const distance = text.slice(1)
  if ((sign === '-' || sign === '+') && DURATION.test(distance)) {
    const milliseconds = parseDuration(distance)
    return sign === '-' ? now - milliseconds : now + milliseconds
  }
  const time = parseIsoTime(text)
  return time === undefined ? undefined : time + shift
}

type Fields = Record<string, unknown>

/** For each kind of record, the fields that contain a time or a list of times. */
export const TIME_FIELDS = {
  integrations: ['deletedAt'],
  subscribers: ['createdAt', 'updatedAt', 'lastOnlineAt'],
  messages: ['createdAt', 'deliveredAt', 'lastSeenDate', 'lastReadDate', 'snoozedUntil']
} as const

export type TimedKind = keyof typeof TIME_FIELDS

export const TIMED_KINDS = Object.keys(TIME_FIELDS) as TimedKind[]

/** Returns the record with all its times shifted by `milliseconds`. */
export function shiftTimes(kind: TimedKind, record: Fields, milliseconds: number): Fields {
  const shifted = { ...record }
  for (const field of TIME_FIELDS[kind]) {
    if (record[field] !== undefined) shifted[field] = shiftTime(record[field], milliseconds)
  }
  const { subscriber } = record
  if (kind === 'messages' && subscriber) {
    shifted.subscriber = shiftTimes('subscribers', subscriber as Fields, milliseconds)
  }
  return shifted
}

function shiftTime(value: unknown, milliseconds: number): unknown {
  if (Array.isArray(value)) return value.map((time) => shiftTime(time, milliseconds))
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined
  return time === undefined ? value : isoTime(time + milliseconds)
}

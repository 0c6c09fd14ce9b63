import { MockError } from './errors.js'

/** A length of time: in milliseconds, or with its unit, such as `10m`. */
export type Duration = number | `${number}${keyof typeof UNITS}`

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns milliseconds. Throws `MockError` for what is no length of time. */
export function milliseconds(duration: Duration): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(duration)) ?? []
  if (number === undefined) {
    throw new MockError(`${duration} is no length of time: write milliseconds, or a number and ms, s, m, h or d`)
  }
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}

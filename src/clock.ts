/** The present, in milliseconds since 1970. Comes in from outside, so that a test can hold it still. */
export type Clock = () => number

export const wallClock: Clock = () => Date.now()

/** ISO 8601, UTC, milliseconds: the form of every time on the wire. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Returns a length of time in its two largest units, with its sign, such as `+2 d 3 h`. */
export function signedDuration(milliseconds: number): string {
  let rest = Math.abs(milliseconds)
  const parts: string[] = []
  for (const [name, size] of Object.entries({
    d: 86_400_000,
    h: 3_600_000,
    min: 60_000,
    s: 1000
  })) {
    if (rest >= size) parts.push(`${Math.floor(rest / size)} ${name}`)
    rest %= size
  }
  return `${milliseconds < 0 ? '−' : '+'}${parts.slice(0, 2).join(' ') || `${rest} ms`}`
}

/** Returns a time in UTC as one reads it, to the second. */
export const timeText = (iso: string) => `${shortTime(iso)} UTC`

/** Returns a time in UTC in fewer characters: `2026-02-18 10:07:11`. */
export const shortTime = (iso: string) => iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')

/** Returns a length of time as people read it. */
export function durationText(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return ''
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** Returns the time of day of an ISO time, in UTC. */
export const timeOfDay = (iso: string) => iso.slice(11, 23)

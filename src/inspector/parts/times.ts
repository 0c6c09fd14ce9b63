const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000]
] as const

/** Returns a length of time in its two largest units, with its sign, such as `+2 d 3 h`. */
export function signedDuration(milliseconds: number): string {
  let rest = Math.abs(milliseconds)
  const parts: string[] = []
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`)
  }
  return `${milliseconds < 0 ? '−' : '+'}${parts.join(' ') || `${rest} ms`}`
}

/** Returns a time in UTC as one reads it, to the second. */
export function timeText(iso: string): string {
  return `${shortTime(iso)} UTC`
}

/** Returns a time in UTC in fewer characters: `2026-02-18 10:07:11`. */
export function shortTime(iso: string): string {
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')
}

/** Returns a length of time as people read it. */
export function durationText(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return ''
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** Returns the time of day of an ISO time, in UTC. */
export function timeOfDay(iso: string): string {
  return iso.slice(11, 23)
}

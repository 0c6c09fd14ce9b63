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

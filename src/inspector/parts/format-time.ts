const UNITS = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1000 }

/** Formats a duration with its sign and its two largest units, such as `+2 d 3 h`. */
export function signedDuration(milliseconds: number): string {
  let rest = Math.abs(milliseconds)
  const parts: string[] = []
  for (const [unit, size] of Object.entries(UNITS)) {
    if (rest >= size) parts.push(`${Math.floor(rest / size)} ${unit}`)
    rest %= size
  }
  return `${milliseconds < 0 ? '−' : '+'}${parts.slice(0, 2).join(' ') || `${rest} ms`}`
}

/** Formats a timestamp to the second, such as `2026-02-18 10:07:11 UTC`. */
export const formatTime = (iso: string) => `${formatShortTime(iso)} UTC`

/** Formats a timestamp without its time zone, such as `2026-02-18 10:07:11`. */
export const formatShortTime = (iso: string) => iso.replace('T', ' ').replace(/(\.\d+)?Z$/, '')

/** Formats a duration, such as `4.2 ms` or `12.3 s`. Returns an empty string for undefined. */
export function formatDuration(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return ''
  if (milliseconds >= 10_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`
}

/** Returns the time of day of a timestamp in the viewer's time zone, such as `10:07:11`. */
export const formatLocalTimeOfDay = (iso: string) => new Date(iso).toTimeString().slice(0, 8)

/** Formats a timestamp in the viewer's time zone, such as `2026-02-18 11:07:11 GMT+0100`. */
export function formatLocalTime(iso: string): string {
  const time = new Date(iso)
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
  const [timeAndZone] = time.toTimeString().split(' (')
  return `${date.map((part) => `${part}`.padStart(2, '0')).join('-')} ${timeAndZone}`
}

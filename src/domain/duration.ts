const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Matches a whole number with a unit: `250ms`, `30s`, `10m`, `1h`, `2d`. */
export const DURATION_PATTERN = '^\\d{1,15}(ms|s|m|h|d)$'

/** Converts a string that matches `DURATION_PATTERN` to milliseconds. */
export function parseDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)(\D+)$/.exec(text) ?? []
  return Number(count) * (UNITS[unit] ?? Number.NaN)
}

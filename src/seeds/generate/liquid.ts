import { filters, Liquid } from 'liquidjs'
import { parseTime } from '../../core/clock.js'

/**
 * Reads templates and renders them the same on every machine: without files, in UTC and English; an object as JSON, as the
 * deployed service does.
 */
export const liquid = new Liquid({
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  // Characters of a template, and what its filters and ranges make. The time is limited by templates.ts.
  parseLimit: 100_000,
  memoryLimit: 1 << 18,
  outputEscape: (value: unknown) =>
    (typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value) as string
})

const formatDate = filters.date as (this: unknown, ...args: unknown[]) => unknown
const formatted = new Map<string, unknown>()

liquid.registerFilter('date', function (value: unknown, ...args: unknown[]) {
  // A time without a zone, or of another form, is another one on each machine.
  if (typeof value !== 'string' || parseTime(value) === undefined) return value
  // Formatting a date takes liquidjs a tenth of a millisecond, and most dates come again.
  const key = [value, ...args].join('\n')
  if (formatted.size > 10_000) formatted.clear()
  if (!formatted.has(key)) formatted.set(key, formatDate.call(this, value, ...args))
  return formatted.get(key)
})
// It picks items at random, which would not be the same again.
liquid.registerFilter('sample', (value: unknown) => value)

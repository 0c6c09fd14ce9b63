import { assumptionIssue } from '../../core/assumptions.js'
import { parseDuration } from '../../core/duration.js'
import * as enums from '../../core/enums.js'
import { type FieldErrors, invalidFields, noFieldErrors } from '../../core/errors.js'
import type { NewEnvironment as Wanted } from '../../seeds/create.js'
import { toClockSetting } from '../clock/setting.js'
import { latencyErrors } from '../latency/service.js'
import { KNOWN_HEADERS } from '../requests/details.js'
import { MAX_TTL, type NewEnvironment } from './schemas.js'

/** Returns what the body asks for, in numbers and settings. Throws `invalid` where it contradicts itself or says nothing. */
export function toWanted({ faults, latency, clock, ttl, ...rest }: NewEnvironment): Wanted {
  const errors = Object.assign(noFieldErrors(), contradictionsOf(rest), assumptionErrors(rest.assumptions))
  if (latency !== undefined) Object.assign(errors, latencyErrors('latency', latency))
  const milliseconds = typeof ttl === 'string' ? parseDuration(ttl) : ttl
  if (milliseconds !== undefined && (milliseconds < 1 || milliseconds > MAX_TTL)) {
    errors.ttl = { messages: ['ttl must be from 1ms to 30d'], value: ttl }
  }
  if (rest.apiKey !== undefined && WORDS.has(rest.apiKey.toLowerCase())) {
    // Not repeated, as any key.
    errors.apiKey = { messages: ['apiKey must not be a word of the API, as keys are hidden in the journals of all'] }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
  return {
    ...rest,
    ...(milliseconds !== undefined && { ttl: milliseconds }),
    ...(clock !== undefined && { clock: toClockSetting('clock', clock) })
  }
}

/** What many requests have in them and is long enough for a key, beside the names of headers and the words of enums. */
const COMMON = [
  ...['set-primary', 'x-mock-fault', 'x-mock-reason', 'idempotency-replay', '127.0.0.1', '100-continue', 'keep-alive'],
  ...['no-cache', 'no-store', 'no-transform', 'only-if-cached', 'must-revalidate', 'same-origin', 'same-site'],
  ...['cross-site', 'x-www-form-urlencoded', 'form-data', 'octet-stream', 'event-stream']
]
const WORDS: ReadonlySet<string> = new Set(
  [...COMMON, ...KNOWN_HEADERS, ...Object.values(enums).flat()].map((word) => word.toLowerCase())
)

function contradictionsOf({ from, snapshot, scenario, seed }: NewEnvironment): FieldErrors {
  const errors = noFieldErrors()
  if (snapshot !== undefined && from === undefined) {
    errors.snapshot = { messages: ['snapshot needs from: the environment that the snapshot was taken of'] }
  }
  if (scenario !== undefined && (seed !== undefined || from !== undefined)) {
    const other = seed === undefined ? 'from' : 'seed'
    const remedy = 'load more into the new environment by POST /_mock/seed'
    errors.scenario = {
      messages: [`scenario can not be combined with ${other}: a scenario is all of an environment; ${remedy}`]
    }
  }
  return errors
}

function assumptionErrors(assumptions: Record<string, string> = {}): FieldErrors {
  const errors = noFieldErrors()
  for (const [id, value] of Object.entries(assumptions)) {
    const issue = assumptionIssue(id, value)
    if (issue) errors[`assumptions.${id}`] = { messages: [issue], value }
  }
  return errors
}

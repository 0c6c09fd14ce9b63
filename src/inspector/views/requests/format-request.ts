import type { Change, RecordedRequest } from '../../../client/index.js'
import type { Tone } from '../../parts/chip.js'

/**
 * Returns the tone of a request that failed or had an injected fault. Returns undefined for any
 * other request.
 */
export function toneOf({ status, duration, flags }: RecordedRequest): Tone | undefined {
  if (flags.faulted !== undefined) return 'fault'
  if (status === undefined) return duration === undefined ? undefined : 'bad'
  return toneOfStatus(status)
}

/** Returns the tone of a response's status; undefined for a success. */
export function toneOfStatus(status: number): Tone | undefined {
  if (status >= 500) return 'bad'
  return status >= 400 ? 'warn' : undefined
}

/** Returns the path and the decoded query, such as `/v1/messages?limit=5`. */
export function targetOf({ path, query }: RecordedRequest): string {
  const pairs = flattenValues(query).map((pair) => pair.join('='))
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/**
 * Returns a name-value pair for each value of parameters or headers. A name with several values
 * gets several pairs.
 */
export function flattenValues(values: RecordedRequest['query']): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, oneOrMore]) =>
    [oneOrMore].flat().map((value): [string, string] => [name, value])
  )
}

/** Describes a change, for example `Mailgun (EU) became primary for email`. */
export function describeChange({ summary = '', target, changed = [] }: Partial<Change>): string {
  const records = changed.map(({ kind, id = kind, name = id, channel, action }) =>
    channel && action.includes('primary') ? `${name} ${action} for ${channel}` : `${name} ${action}`
  )
  return records.join(' · ') || [summary, target].filter(Boolean).join(': ')
}

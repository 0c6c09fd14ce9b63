import type { FaultEffect, FaultRule } from '../../../client/index.js'

/** Returns what is done to a request, such as `503 with retry-after: 1`. */
export function effectWords({ status, headers = {}, body, delay, abort, lostAnswer }: FaultEffect): string {
  const sent = [
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['a body of its own'])
  ]
  const outcomes = [
    delay !== undefined && `${durationWords(delay)} of delay`,
    status !== undefined && `${status}${sent.length > 0 ? ` with ${sent.join(', ')}` : ''}`,
    abort === 'reset' && 'connection reset, nothing done',
    abort === 'truncate' && 'answer cut off halfway',
    lostAnswer && 'done, but the answer lost'
  ]
  return outcomes.filter(Boolean).join(', then ')
}

/** Returns which requests a rule is for, each condition as a text such as `channel = email`. */
export function matchWords({ match = {} }: Pick<FaultRule, 'match'>): string[] {
  const { path, query = {}, headers = {} } = match
  return [
    ...(path === undefined ? [] : [`path ${valueWords(path)}`]),
    ...Object.entries(query).map(([name, value]) => `${name} ${valueWords(value)}`),
    ...Object.entries(headers).map(([name, value]) => `header ${name} ${valueWords(value)}`)
  ]
}

/** Returns to how many of these requests it is done. */
export function timesWords({ after, times, every, probability }: FaultRule): string {
  return [
    times === 'always' ? 'until switched off' : times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`,
    ...(every > 1 ? [`every ${every} requests`] : []),
    ...(probability < 1 ? [`with a probability of ${Number((probability * 100).toFixed(2))} %`] : []),
    ...(after > 0 ? [`not to the first ${after === 1 ? 'one' : after}`] : [])
  ].join(', ')
}

/** Whether a rule does nothing any more. */
export function isUsedUp({ times, hits }: FaultRule): boolean {
  return times !== 'always' && hits >= times
}

export function durationWords(milliseconds: number): string {
  return milliseconds >= 1000 ? `${milliseconds / 1000} s` : `${milliseconds} ms`
}

type Value = NonNullable<NonNullable<FaultRule['match']>['query']>[string]

function valueWords(value: Value): string {
  if (Array.isArray(value)) return `= ${value.join(' and ')}`
  return typeof value === 'object' ? `matches ${value.matches}` : `= ${value === '' ? '(empty)' : value}`
}

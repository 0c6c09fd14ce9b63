import type { Change, RecordedRequest } from './control-api.js'
import { hintsOf } from './hints.js'

/** How many of the requests without a valid key are listed. */
const MAX_KEYLESS = 10

/** Returns what a test has sent and got, in lines to read: its requests, hints, and the requests without a valid key. */
export function requestLines(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  keyless: readonly RecordedRequest[]
): string {
  const left = keyless.length - MAX_KEYLESS
  const heading = `without a valid key in the same time${left > 0 ? `, after ${left} others` : ''}:`
  return [
    ...(requests.length > 0 ? requests.map(requestLine) : ['no requests']),
    ...hintsOf(requests, changes).map(({ message, requests }) => `hint: ${message} (request ${requests.join(', ')})`),
    ...(keyless.length > 0 ? [heading, ...keyless.slice(-MAX_KEYLESS).map((each) => `  ${requestLine(each)}`)] : [])
  ].join('\n')
}

function requestLine({ method, path, query, status, reason = '', changed = [] }: RecordedRequest): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value])
  )
  const target = pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path
  const changes = changed.map(({ name, id, what }) => `${name ?? id} ${what}`)
  return `${method} ${target} ${status ?? '(no answer)'} ${[reason, ...changes].filter(Boolean).join('; ')}`.trimEnd()
}

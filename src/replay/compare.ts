import type { RecordedExchange, RecordedResponse } from '../journal/schemas.js'
import type { Difference } from './schemas.js'

/**
 * Headers to ignore, because they change with each response or connection, or depend only on the
 * body.
 */
const IGNORED = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'x-request-id'
])

/** Returns how a new response differs from the recorded one. */
export function compareResponses(
  recorded: RecordedResponse | undefined,
  repeated: RecordedResponse | undefined
): Difference[] {
  const bodies = haveSameBody(recorded, repeated)
    ? []
    : [difference('body', recorded?.body, repeated?.body)]
  const names = new Set([...namesIn(recorded), ...namesIn(repeated)])
  const headers = [...names].map((name) =>
    difference(`header ${name}`, textOf(recorded?.headers[name]), textOf(repeated?.headers[name]))
  )
  return [
    difference('status', textOf(recorded?.status), textOf(repeated?.status)),
    ...headers,
    ...bodies
  ].filter((found) => found !== undefined)
}

function haveSameBody(
  recorded: RecordedResponse | undefined,
  repeated: RecordedResponse | undefined
): boolean {
  if (recorded?.dropped) return true
  const { body = '' } = recorded ?? {}
  const { body: newBody = '' } = repeated ?? {}
  if (!recorded?.truncated || !repeated?.truncated) return body === newBody
  // Masking changes the length of a body, so the two truncated bodies can end at different places.
  // Compare only the part that both contain.
  return body.startsWith(newBody) || newBody.startsWith(body)
}

function namesIn(response: RecordedResponse | undefined): string[] {
  return Object.keys(response?.headers ?? {}).filter((name) => !IGNORED.has(name))
}

function difference(
  part: string,
  recorded: string | undefined,
  repeated: string | undefined
): Difference | undefined {
  if (recorded === repeated) return undefined
  return {
    part,
    ...(recorded !== undefined && { recorded }),
    ...(repeated !== undefined && { repeated })
  }
}

const textOf = (value: string | string[] | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

/** Returns the sequence number of another request that was in progress at the same time. */
export function findParallel(
  request: RecordedExchange,
  requests: readonly RecordedExchange[]
): number | undefined {
  const { start, end } = intervalOf(request)
  const other = requests.find((candidate) => {
    const interval = intervalOf(candidate)
    return candidate !== request && interval.start < end && start < interval.end
  })
  return other?.sequence
}

function intervalOf({ arrived, duration = 0 }: RecordedExchange) {
  const start = Date.parse(arrived)
  return { start, end: start + duration }
}

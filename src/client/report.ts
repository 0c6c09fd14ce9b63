import type { Change, RecordedRequest, RunRecord, TestRecord } from './control-api.js'
import { type Hint, hintsOf } from './hints.js'

/** A test, with what its requests let suspect. */
export interface ReportedTest extends TestRecord {
  hints: Hint[]
}

/** What whoever has run the tests knows of the run. */
export interface RunFacts {
  /** What was run, with its arguments. */
  command?: string | undefined
  /** How it has ended; absent if a signal has ended it. */
  exitCode?: number | undefined
}

/** What the report of a run is made of: the file that is written has it as JSON. */
export interface Report extends Omit<RunRecord, 'run' | 'tests'> {
  run: RunRecord['run'] & RunFacts
  tests: ReportedTest[]
  /** Those about requests that no test has made: of one environment each, or of none. */
  hints: (Hint & { environment?: string })[]
}

/** Returns the report of a run, with the hints. */
export function reportOf(record: RunRecord, facts: RunFacts = {}): Report {
  const { run, tests, others } = record
  const environments = [...new Set(others.map(({ environment }) => environment))]
  return {
    ...record,
    run: { ...run, ...facts },
    tests: tests.map((test) => ({ ...test, hints: hintsOf(test.requests, test.changes) })),
    hints: environments.flatMap((name) => {
      const hints = hintsOf(others.filter(({ environment }) => environment === name))
      return name === undefined ? hints : hints.map((hint) => ({ ...hint, environment: name }))
    })
  }
}

/** How many of the requests without a valid key are listed. */
const MAX_UNAUTHENTICATED = 10

/** Returns what a test has sent and got, in lines to read: its requests, hints, and the requests without a valid key. */
export function requestLines(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  unauthenticated: readonly RecordedRequest[]
): string {
  const left = unauthenticated.length - MAX_UNAUTHENTICATED
  const heading = `without a valid key in the same time${left > 0 ? `, after ${left} others` : ''}:`
  return [
    ...(requests.length > 0 ? requests.map(requestLine) : ['no requests']),
    ...hintsOf(requests, changes).map(
      ({ message, requests }) => `hint: ${message} (request ${requests.join(', ')})`
    ),
    ...(unauthenticated.length > 0
      ? [
          heading,
          ...unauthenticated.slice(-MAX_UNAUTHENTICATED).map((each) => `  ${requestLine(each)}`)
        ]
      : [])
  ].join('\n')
}

function requestLine({
  method,
  path,
  query,
  status,
  reason = '',
  changed = []
}: RecordedRequest): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value])
  )
  const target = pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path
  const changes = changed.map(({ name, id, action }) => `${name ?? id} ${action}`)
  return `${method} ${target} ${status ?? '(no answer)'} ${[reason, ...changes].filter(Boolean).join('; ')}`.trimEnd()
}

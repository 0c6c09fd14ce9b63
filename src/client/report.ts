import type {
  Change,
  RecordedExchange,
  RecordedRequest,
  RunRecord,
  TestRecord
} from './control-api.js'
import { type Hint, type HintId, hintsOf } from './hints.js'

/** A test's record, with hints about the test's requests. */
export interface ReportedTest extends TestRecord {
  hints: Hint[]
  /** The report file that the test came from, if several reports were merged. */
  mergedFrom?: string
  /** The attempts before this one, oldest first, if the test was retried. */
  earlierAttempts?: Omit<ReportedTest, 'earlierAttempts'>[]
}

/** Facts about a test run that the server doesn't know. */
export interface RunFacts {
  /** The command that ran the tests, with its arguments. */
  command?: string | undefined
  /** Exit code of the command. Absent if a signal ended the command. */
  exitCode?: number | undefined
  /** The hints that the run allowed. */
  allowedHints?: readonly HintId[] | undefined
}

/** The data of a run's report. The HTML file contains it as JSON. */
export interface Report extends Omit<RunRecord, 'run' | 'tests'> {
  run: RunRecord['run'] &
    RunFacts & {
      /** The files of the reports that were merged. Absent in the report of a single run. */
      mergedFrom?: string[]
    }
  tests: ReportedTest[]
  /**
   * Hints about requests that belong to no test. `environment` is the name of the environment that
   * received the requests. It is absent for requests without a valid API key.
   */
  hints: (Hint & { environment?: string })[]
}

/**
 * Combines the server's record of a test run with the caller's facts about the run, and adds hints
 * about the requests.
 */
export function reportOf(record: RunRecord, facts: RunFacts = {}): Report {
  const { run, tests, others, unauthenticated } = record
  const environments = [...new Set(others.map(({ environment }) => environment))]
  const environmentHints = environments.flatMap((environment) => {
    const requests = others.filter((request) => request.environment === environment)
    return hintsOf(requests).map((hint) => ({ ...hint, environment }))
  })
  return {
    ...record,
    run: { ...run, ...facts },
    tests: mergeAttempts(
      tests.map((test) => ({ ...test, hints: hintsOf(test.requests, test.changes) }))
    ),
    hints: [...environmentHints, ...hintsOf(unauthenticated)]
  }
}

/**
 * Merges the attempts of each test into its last attempt. Two records are successive attempts of
 * the same test if they have the same title and file, their attempt numbers are consecutive, and
 * the earlier attempt didn't pass.
 */
function mergeAttempts(tests: readonly ReportedTest[]): ReportedTest[] {
  const merged = new Set(tests)
  const retryable = new Map<string, ReportedTest[]>()
  const inOrder = [...tests].sort((one, other) => attemptOf(one) - attemptOf(other))
  for (const test of inOrder) {
    const earlier = retryable.get(attemptKey(test, attemptOf(test) - 1))?.shift()
    if (earlier) {
      const { earlierAttempts = [], ...lastAttempt } = earlier
      test.earlierAttempts = [...earlierAttempts, lastAttempt]
      merged.delete(earlier)
    }
    if (test.outcome === 'passed') continue
    const key = attemptKey(test, attemptOf(test))
    retryable.set(key, [...(retryable.get(key) ?? []), test])
  }
  return [...merged]
}

const attemptOf = ({ attempt = 1 }: TestRecord) => attempt

const attemptKey = ({ title, file }: TestRecord, attempt: number) =>
  JSON.stringify([title, file, attempt])

/**
 * Returns the requests without a valid API key that the server received during a test. If tests
 * run in parallel, another test may have sent them.
 */
export function unauthenticatedDuring(
  { unauthenticatedAfter, unauthenticatedUpTo }: TestRecord,
  { unauthenticated }: Pick<RunRecord, 'unauthenticated'>
): RecordedExchange[] {
  return unauthenticated.filter(
    ({ sequence }) => sequence > unauthenticatedAfter && sequence <= unauthenticatedUpTo
  )
}

/** The maximum number of requests without a valid API key that `requestLines` lists. */
const MAX_UNAUTHENTICATED = 10

/**
 * Returns a summary of a test: its requests with their outcomes, hints about likely mistakes, and
 * the last requests without a valid API key.
 */
export function requestLines(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  unauthenticated: readonly RecordedRequest[]
): string {
  const omitted = unauthenticated.length - MAX_UNAUTHENTICATED
  const omission = omitted > 0 ? ` (${omitted} earlier omitted)` : ''
  return [
    ...(requests.length > 0 ? requests.map(requestLine) : ['no requests']),
    ...hintsOf(requests, changes).map(
      ({ message, requests }) => `hint: ${message} (request ${requests.join(', ')})`
    ),
    ...(unauthenticated.length > 0
      ? [
          `requests without a valid API key${omission}:`,
          ...unauthenticated
            .slice(-MAX_UNAUTHENTICATED)
            .map((request) => `  ${requestLine(request)}`)
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
  const details = [reason, ...changes].filter(Boolean).join('; ')
  return `${method} ${target} ${status ?? '(no response)'} ${details}`.trimEnd()
}

import type { RunRecord, TestRecord } from './control-api.js'
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

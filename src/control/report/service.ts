import { isoTime, steadyClock } from '../../domain/clock.js'
import type { EnvironmentDiff } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import type { Journal } from '../../journal/journal.js'
import type { Services } from '../../services.js'
import type { OtherRequest, TestDescription, TestRecord } from './schemas.js'

export type TestService = ReturnType<typeof testService>

/**
 * The maximum number and the maximum total size of the records of tests whose environment was
 * removed.
 */
const MAX_TESTS = 200
const MAX_BYTES = 64 * 1024 * 1024

/** A test and its environment. */
interface Test {
  /** Undefined after the environment was removed; `record` then replaces it. */
  environment: Environment | undefined
  description: TestDescription
  startedAt: number
  /** Sequence number of the last unauthenticated request before the test. */
  unauthenticatedAfter: number
  /** The record as JSON, set when the environment is removed. */
  record?: string
}

/**
 * Records the tests of a run. An environment counts as one test if a request created it or
 * described its test. For removed environments, keeps at most 200 records with 64 MiB in total, and
 * drops the records of failed tests last.
 */
export function testService({ journals, environments, faults, redactionOf }: Services) {
  // Gets the redaction on each call, because API keys may have been added or removed.
  const text = (value: string) => redactionOf().redact(value)
  const tests = new Map<number, Test>()
  let dropped = 0
  environments.subscribe({
    onRemove(environment) {
      const test = tests.get(environment.key)
      if (test) end(test, environment)
    }
  })

  return {
    begin,

    /** Adds or replaces fields in the description of an environment's test. */
    describe(environment: Environment, description: TestDescription): void {
      const test = tests.get(environment.key) ?? begin(environment)
      for (const [name, value] of Object.entries(description)) {
        Object.assign(test.description, { [name]: typeof value === 'string' ? text(value) : value })
      }
    },

    dropped: (): number => dropped,

    /** Returns the record of each test as JSON, in the order the tests began. */
    records: (): string[] => [...tests.values()].map(recordOf),

    /** Returns the requests that belong to no test. */
    others: (): OtherRequest[] =>
      [...environments.list().filter(({ key }) => !tests.has(key)), undefined].flatMap(
        (environment) => {
          const name = environment && { environment: text(environment.name) }
          return exchangesOf(journals.of(environment)).map((request) => ({ ...request, ...name }))
        }
      )
  }

  /** Starts the test of an environment. */
  function begin(environment: Environment): Test {
    const unauthenticatedAfter = journals.of(undefined).lastSequence
    const test = { environment, description: {}, startedAt: steadyClock(), unauthenticatedAfter }
    tests.set(environment.key, test)
    return test
  }

  /**
   * Stores the record of a test whose environment is removed. Forgets the test instead if it has
   * neither a request nor a title.
   */
  function end(test: Test, environment: Environment): void {
    const isUsed = journals.of(environment).lastSequence > 0 || test.description.title !== undefined
    if (isUsed) Object.assign(test, { record: recordOf(test), environment: undefined })
    else tests.delete(environment.key)
    dropped += dropExcess(tests)
  }

  function recordOf(test: Test): string {
    const { environment, description, startedAt, unauthenticatedAfter } = test
    if (!environment) return test.record ?? ''
    const journal = journals.of(environment)
    const left = diffOf(environments, environment)
    const record: TestRecord = {
      title: text(environment.name),
      outcome: 'unknown',
      duration: steadyClock() - startedAt,
      ...description,
      started: isoTime(startedAt),
      environment: text(environment.name),
      requests: exchangesOf(journal),
      lost: journal.lostCount(),
      unauthenticated: exchangesOf(journals.of(undefined), unauthenticatedAfter),
      // Redacting secrets keeps the JSON valid, so it can be parsed again.
      faults: JSON.parse(text(JSON.stringify(faults.list(environment)))),
      changes: [...journal.changes()],
      ...(left && isDifferent(left) && { left })
    }
    return JSON.stringify(record)
  }
}

/**
 * Drops records of removed environments until the remaining ones are within the limits. Returns the
 * number of dropped records.
 */
function dropExcess(tests: Map<number, Test>): number {
  const ended = [...tests].filter(([, { environment }]) => !environment)
  const hasFailed = ([, { description }]: [number, Test]) =>
    Number(description.outcome === 'failed')
  const passedFirst = ended.sort((one, other) => hasFailed(one) - hasFailed(other))
  let bytes = ended.reduce((sum, [, { record = '' }]) => sum + record.length, 0)
  let dropped = 0
  for (const [index, [key, { record = '' }]] of passedFirst.entries()) {
    if (ended.length - index <= MAX_TESTS && bytes <= MAX_BYTES) break
    tests.delete(key)
    dropped += 1
    bytes -= record.length
  }
  return dropped
}

/**
 * Returns how the environment differs from its baseline, or undefined if that can't be computed.
 */
function diffOf(
  environments: Services['environments'],
  environment: Environment
): EnvironmentDiff | undefined {
  try {
    return environments.diffBaseline(environment)
  } catch {
    return undefined
  }
}

function isDifferent({ settings, ...kinds }: EnvironmentDiff): boolean {
  return (
    settings.length > 0 ||
    Object.values(kinds).some((kind) => Object.values(kind).some(({ count }) => count > 0))
  )
}

const exchangesOf = (journal: Journal, after?: number) =>
  journal.requests(after).map((entry) => journal.describer.exchange(entry))

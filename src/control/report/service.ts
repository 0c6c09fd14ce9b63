import { isoTime, steadyClock } from '../../domain/clock.js'
import { attempt } from '../../domain/errors.js'
import type { EnvironmentDiff } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import type { Journal } from '../../journal/journal.js'
import type { StartServices } from '../../services.js'
import type { OtherRequest, TestDescription, TestRecord } from './schemas.js'

export type TestService = ReturnType<typeof testService>

/** What is kept of the tests whose environments were removed. */
const MAX_TESTS = 200
const MAX_BYTES = 64 * 1024 * 1024

/** A test, by the environment that was created for it. */
interface Test {
  /** Until it is removed: by then all is in the record. */
  environment: Environment | undefined
  description: TestDescription
  startedAt: number
  /** Sequence of the last request without a valid key before it. */
  unauthenticatedAfter: number
  /** Its record as JSON, once its environment was removed. */
  record?: string
}

/**
 * Keeps what the tests of a run have done, each by its environment: one that was created by a request, or that was told of
 * its test. Of removed environments it keeps 200 records of 64 MiB together; those of tests that have passed are dropped first.
 */
export function testService({ journals, environments, faults, redactionOf }: StartServices) {
  // Anew each time, as keys come and go.
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

    /** Adds to what is known of the test of an environment. */
    describe(environment: Environment, description: TestDescription): void {
      const test = tests.get(environment.key) ?? begin(environment)
      for (const [name, value] of Object.entries(description)) {
        Object.assign(test.description, { [name]: typeof value === 'string' ? text(value) : value })
      }
    },

    dropped: (): number => dropped,

    /** Returns the record of each test as JSON, in the order in which their environments were created. */
    records: (): string[] => [...tests.values()].map(recordOf),

    /** Returns the requests that no test has made. */
    others: (): OtherRequest[] =>
      [...environments.list().filter(({ key }) => !tests.has(key)), undefined].flatMap(
        (environment) => {
          const name = environment && { environment: text(environment.name) }
          return answered(journals.of(environment)).map((request) => ({ ...request, ...name }))
        }
      )
  }

  /** Notes that an environment is a test's. */
  function begin(environment: Environment): Test {
    const unauthenticatedAfter = journals.of(undefined).lastSequence
    const test = { environment, description: {}, startedAt: steadyClock(), unauthenticatedAfter }
    tests.set(environment.key, test)
    return test
  }

  /** Keeps the record of a test whose environment is about to be removed, unless nobody has used it. */
  function end(test: Test, environment: Environment): void {
    const isUsed = journals.of(environment).lastSequence > 0 || test.description.title !== undefined
    if (isUsed) Object.assign(test, { record: recordOf(test), environment: undefined })
    else tests.delete(environment.key)
    dropExcess()
  }

  function recordOf({
    environment,
    description,
    startedAt,
    unauthenticatedAfter,
    record: kept = ''
  }: Test): string {
    if (!environment) return kept
    const journal = journals.of(environment)
    const left = attempt(() => environments.diffBaseline(environment))
    const record: TestRecord = {
      title: text(environment.name),
      outcome: 'unknown',
      duration: steadyClock() - startedAt,
      ...description,
      started: isoTime(startedAt),
      environment: text(environment.name),
      requests: answered(journal),
      lost: journal.lostCount(),
      unauthenticated: answered(journals.of(undefined), unauthenticatedAfter),
      // What replaces a secret in JSON leaves it JSON.
      faults: JSON.parse(text(JSON.stringify(faults.list(environment)))),
      changes: [...journal.changes()],
      ...(left && isDifferent(left) && { left })
    }
    return JSON.stringify(record)
  }

  function dropExcess(): void {
    const ended = [...tests].filter(([, { environment }]) => !environment)
    const hasFailed = ([, { description }]: [number, Test]) =>
      Number(description.outcome === 'failed')
    const passedFirst = ended.sort((one, other) => hasFailed(one) - hasFailed(other))
    let bytes = ended.reduce((sum, [, { record = '' }]) => sum + record.length, 0)
    for (const [index, [key, { record = '' }]] of passedFirst.entries()) {
      if (ended.length - index <= MAX_TESTS && bytes <= MAX_BYTES) return
      tests.delete(key)
      dropped += 1
      bytes -= record.length
    }
  }
}

function isDifferent({ settings, ...kinds }: EnvironmentDiff): boolean {
  return (
    settings.length > 0 ||
    Object.values(kinds).some((kind) => Object.values(kind).some(({ count }) => count > 0))
  )
}

const answered = (journal: Journal, after?: number) =>
  journal.requests(after).map((entry) => journal.describer.exchange(entry))

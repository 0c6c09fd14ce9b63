import { isoTime, steadyClock } from '../../core/clock.js'
import { attempt } from '../../core/errors.js'
import type { SnapshotDifferences } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import { redactionOf } from '../requests/describe.js'
import type { Journal } from '../requests/service.js'
import type { StartServices } from '../start-services.js'
import type { OtherRequest, TestDescription, TestRecord } from './schemas.js'

export type TestService = ReturnType<typeof testService>

/** What is kept of the tests whose environments were removed. */
const MAX_TESTS = 200
const MAX_BYTES = 64 * 1024 * 1024

/** A test, by the environment that was created for it. */
interface Test {
  description: TestDescription
  startedAt: number
  /** Sequence of the last request without a valid key before it. */
  keylessAfter: number
  /** Its record as JSON, once its environment was removed. */
  record?: string
}

/**
 * Keeps what the tests of a run have done, each by its environment: one that was created by a request, or that was told of
 * its test. Of removed environments it keeps 200 records of 64 MiB together; those of tests that have passed are dropped first.
 */
export function testService(services: StartServices) {
  const { journals, environments, faults } = services
  // Anew each time, as keys come and go.
  const text = (value: string) => redactionOf(services).text(value)
  const tests = new Map<number, Test>()
  let dropped = 0
  environments.subscribe({
    onRemove(environment) {
      const test = tests.get(environment.key)
      if (!test) return
      // Nobody has used it.
      if (journals.of(environment).last() === 0 && test.description.title === undefined) tests.delete(environment.key)
      else test.record = JSON.stringify(recordOf(environment, test))
      dropExcess()
    }
  })

  return {
    begin,

    /** Adds to what is known of the test of an environment. */
    describe(environment: Environment, description: TestDescription): void {
      const test = tests.get(environment.key) ?? begin(environment)
      const { title, file, error } = description
      const told = {
        ...(title && { title: text(title) }),
        ...(file && { file: text(file) }),
        ...(error && { error: text(error) })
      }
      Object.assign(test.description, description, told)
    },

    dropped: (): number => dropped,

    /** Yields the record of each test as JSON, in the order in which their environments were created. */
    *records(): Generator<string, void> {
      const present = new Map(environments.list().map((environment) => [environment.key, environment]))
      for (const [key, test] of tests) {
        const environment = present.get(key)
        if (test.record !== undefined) yield test.record
        else if (environment) yield JSON.stringify(recordOf(environment, test))
      }
    },

    /** Yields the requests that no test has made. */
    *others(): Generator<OtherRequest, void> {
      for (const environment of environments.list()) {
        if (tests.has(environment.key)) continue
        for (const request of answered(journals.of(environment)))
          yield { ...request, environment: text(environment.name) }
      }
      yield* answered(journals.of(undefined))
    }
  }

  /** Notes that an environment is a test's. */
  function begin({ key }: Environment): Test {
    const test = { description: {}, startedAt: steadyClock(), keylessAfter: journals.of(undefined).last() }
    tests.set(key, test)
    return test
  }

  function recordOf(environment: Environment, { description, startedAt, keylessAfter }: Test): TestRecord {
    const journal = journals.of(environment)
    const left = attempt(() => environments.compare(environment))
    return {
      title: text(environment.name),
      outcome: 'unknown',
      duration: steadyClock() - startedAt,
      ...description,
      started: isoTime(startedAt),
      environment: text(environment.name),
      requests: answered(journal),
      lost: journal.lost(),
      keyless: answered(journals.of(undefined), keylessAfter),
      // What replaces a secret in JSON leaves it JSON.
      faults: JSON.parse(text(JSON.stringify(faults.list(environment.key)))),
      changes: [...journal.changes()],
      ...(left && isDifferent(left) && { left })
    }
  }

  function dropExcess(): void {
    const ended = [...tests].filter(([, { record }]) => record !== undefined)
    let bytes = ended.reduce((sum, [, { record = '' }]) => sum + record.length, 0)
    let count = ended.length
    const passedFirst = ended.sort(([, one], [, other]) => Number(hasFailed(one)) - Number(hasFailed(other)))
    for (const [key, { record = '' }] of passedFirst) {
      if (count <= MAX_TESTS && bytes <= MAX_BYTES) return
      tests.delete(key)
      dropped += 1
      count -= 1
      bytes -= record.length
    }
  }
}

function isDifferent({ settings, ...kinds }: SnapshotDifferences): boolean {
  return settings.length > 0 || Object.values(kinds).some((kind) => Object.values(kind).some(({ count }) => count > 0))
}

const hasFailed = ({ description }: Test) => description.outcome === 'failed'

const answered = (journal: Journal, after?: number) =>
  journal.requests(after).map((entry) => journal.describe(entry, true))

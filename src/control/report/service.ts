import { isoTime, steadyClock } from '../../domain/clock.js'
import { DomainError } from '../../domain/errors.js'
import type { EnvironmentDiff } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import type { Journal } from '../../journal/journal.js'
import type { StartServices } from '../../services.js'
import type { OtherRequest, TestDescription, TestRecord } from './schemas.js'

/** The limits of the records of removed environments. */
const MAX_TESTS = 200
const MAX_BYTES = 64 * 1024 * 1024

/** A test, by the environment that was created for it. */
interface Test {
  /** Undefined once it was removed. Then `record` has everything. */
  environment: Environment | undefined
  description: TestDescription
  startedAt: number
  /** The sequence of the last unauthenticated request before the test. */
  unauthenticatedAfter: number
  /** The record as JSON, once the environment was removed. */
  record?: string
}

/**
 * Keeps the record of each test of a run. A test is an environment that a request created, or that was described as a
 * test. After the environments' removal it keeps the last 200 records, up to 64 MiB, and drops those of passed tests first.
 */
export class TestService {
  readonly #services: StartServices
  readonly #tests = new Map<number, Test>()
  #dropped = 0

  constructor(services: StartServices) {
    this.#services = services
    services.environments.subscribe({
      onRemove: (environment) => {
        const test = this.#tests.get(environment.key)
        if (test) this.#end(test, environment)
      }
    })
  }

  /** Marks an environment as a test's. */
  begin(environment: Environment): Test {
    const unauthenticatedAfter = this.#services.journals.of(undefined).lastSequence
    const test = { environment, description: {}, startedAt: steadyClock(), unauthenticatedAfter }
    this.#tests.set(environment.key, test)
    return test
  }

  /** Adds to the description of an environment's test. */
  describe(environment: Environment, description: TestDescription): void {
    const test = this.#tests.get(environment.key) ?? this.begin(environment)
    for (const [name, value] of Object.entries(description)) {
      const redacted = typeof value === 'string' ? this.#redact(value) : value
      Object.assign(test.description, { [name]: redacted })
    }
  }

  /** Returns the number of dropped records. */
  dropped(): number {
    return this.#dropped
  }

  /** Returns the record of each test as JSON, in the order in which their environments were created. */
  records(): string[] {
    return [...this.#tests.values()].map((test) => this.#recordOf(test))
  }

  /** Returns the requests that belong to no test. */
  others(): OtherRequest[] {
    const { environments, journals } = this.#services
    const owners = environments.list().filter(({ key }) => !this.#tests.has(key))
    return [...owners, undefined].flatMap((owner) => {
      const name = owner && { environment: this.#redact(owner.name) }
      return answered(journals.of(owner)).map((request) => ({ ...request, ...name }))
    })
  }

  /** Redacts secrets. The redaction is created each time, because API keys are added and removed. */
  #redact(value: string): string {
    return this.#services.redactionOf().redact(value)
  }

  /** Stores the record of a test whose environment is about to be removed, unless it was never used. */
  #end(test: Test, environment: Environment): void {
    const { lastSequence } = this.#services.journals.of(environment)
    const isUsed = lastSequence > 0 || test.description.title !== undefined
    if (isUsed) Object.assign(test, { record: this.#recordOf(test), environment: undefined })
    else this.#tests.delete(environment.key)
    this.#dropExcess()
  }

  #recordOf(test: Test): string {
    const { environment, description, startedAt, unauthenticatedAfter } = test
    if (!environment) return test.record ?? ''
    const { journals, faults } = this.#services
    const journal = journals.of(environment)
    const left = this.#leftoverChanges(environment)
    const record: TestRecord = {
      title: this.#redact(environment.name),
      outcome: 'unknown',
      duration: steadyClock() - startedAt,
      ...description,
      started: isoTime(startedAt),
      environment: this.#redact(environment.name),
      requests: answered(journal),
      lost: journal.lostCount(),
      unauthenticated: answered(journals.of(undefined), unauthenticatedAfter),
      // Redacted JSON is still JSON.
      faults: JSON.parse(this.#redact(JSON.stringify(faults.list(environment)))),
      changes: [...journal.changes()],
      ...(left && isDifferent(left) && { left })
    }
    return JSON.stringify(record)
  }

  /** Returns the differences from the baseline, or undefined if the data is lost. */
  #leftoverChanges(environment: Environment): EnvironmentDiff | undefined {
    try {
      return this.#services.environments.diffBaseline(environment)
    } catch (error) {
      if (error instanceof DomainError) return undefined
      throw error
    }
  }

  #dropExcess(): void {
    const ended = [...this.#tests].filter(([, { environment }]) => !environment)
    const hasFailed = ([, { description }]: [number, Test]) =>
      Number(description.outcome === 'failed')
    const passedFirst = ended.sort((one, other) => hasFailed(one) - hasFailed(other))
    let bytes = ended.reduce((sum, [, { record = '' }]) => sum + record.length, 0)
    for (const [index, [key, { record = '' }]] of passedFirst.entries()) {
      if (ended.length - index <= MAX_TESTS && bytes <= MAX_BYTES) return
      this.#tests.delete(key)
      this.#dropped += 1
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

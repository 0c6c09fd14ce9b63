import { steadyClock } from '../../domain/clock.js'
import { DATASET_KINDS, type DatasetKind, RESET_PARTS, type ResetPart } from '../../domain/enums.js'
import type { EnvironmentDiff, Redact } from '../../environments/schemas.js'
import type { Environment, KeptBaseline } from '../../environments/service.js'
import type { FaultRule, Latency } from '../../faults/schemas.js'
import type { Journal } from '../../journal/journal.js'
import type { Services } from '../../services.js'
import type { TestDescription } from './schemas.js'

/** The maximum number of tests to keep after their environment was removed. */
const MAX_TESTS = 200
/** The maximum memory for the requests of these tests, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024

/**
 * The maximum number of records to keep in the database for the baselines of removed
 * environments.
 */
const MAX_RECORDS = 20_000

/** The starting state of a test. */
export interface KeptStart {
  baseline: KeptBaseline
  faults: readonly FaultRule[]
  latency: Latency
  /** Sequence number of the last request before the test. */
  after: number
  /** The number of control requests before the test. */
  controlRequests: number
  /** Whether the baseline was released. A report can't include a released baseline. */
  isReleased: boolean
}

/** The state of a test's environment: the current state, or the state at its removal. */
export interface TestState {
  journal: Journal
  duration: number
  /** Sequence number of the last unauthenticated request during the test. */
  unauthenticatedUpTo: number
  faults: readonly FaultRule[]
  /** How the environment differs from its baseline. Undefined if the diff failed. */
  left: EnvironmentDiff | undefined
}

/** A test and its environment. */
export interface Test {
  environment: Environment
  description: TestDescription
  start: KeptStart
  startedAt: number
  /** Sequence number of the last unauthenticated request before the test. */
  unauthenticatedAfter: number
  /** The state of the environment when it was removed, and how much memory its requests use. */
  end?: TestState & { memory: number }
}

type TestServices = Pick<
  Services,
  'environments' | 'faults' | 'journals' | 'latency' | 'redactionOf'
>

/**
 * Records the tests of a run. An environment counts as one test if a request created it or
 * described its test. Keeps the journal of a removed environment. Describes its requests only when
 * a report is created, because describing a thousand requests takes seconds. Keeps at most 200
 * tests of removed environments, with at most 64 MiB of requests, and drops failed tests last.
 */
export class TestService {
  readonly #services: TestServices
  readonly #tests = new Map<number, Test>()
  readonly #rowCounts = new WeakMap<KeptStart, Record<DatasetKind, number>>()
  #dropped = 0

  constructor(services: TestServices) {
    this.#services = services
    services.environments.subscribe({
      onRemove: (environment) => this.#keepState(environment),
      onRemoved: (environment) => this.#end(environment),
      onReset: (environment, parts) => this.#restart(environment, parts)
    })
  }

  /** The number of tests that were dropped. */
  get dropped(): number {
    return this.#dropped
  }

  /** Starts the test of an environment that was just created. */
  begin(environment: Environment): Test {
    const { faults } = this.#services
    const rules = faults.list(environment).map((rule) => ({ ...rule }))
    return this.#add(environment, this.#keepStart(environment, rules))
  }

  #add(environment: Environment, start: KeptStart): Test {
    const test: Test = {
      environment,
      description: {},
      start,
      startedAt: steadyClock(),
      unauthenticatedAfter: this.#services.journals.of(undefined).lastSequence
    }
    this.#tests.set(environment.key, test)
    return test
  }

  /** Adds or replaces fields in the description of an environment's test. */
  describe(environment: Environment, description: TestDescription): void {
    // If no request created the environment, it has no test yet. The test that is added here
    // starts at the environment's baseline, so it includes all earlier requests.
    const test =
      this.#tests.get(environment.key) ?? this.#add(environment, this.#keepStart(environment))
    const redaction = this.#services.redactionOf()
    for (const [name, value] of Object.entries(description)) {
      const shown = typeof value === 'string' ? redaction.redact(value) : value
      Object.assign(test.description, { [name]: shown })
    }
  }

  /** Returns the tests in the order in which they began. */
  list(): Test[] {
    return [...this.#tests.values()]
  }

  /** Returns the description of an environment's test, or undefined if it has no test. */
  descriptionOf({ key }: Environment): TestDescription | undefined {
    return this.#tests.get(key)?.description
  }

  /** Returns the removed environments whose test is kept, oldest first. */
  removedEnvironments(): Environment[] {
    return this.list()
      .map(({ environment }) => environment)
      .filter(({ isRemoved }) => isRemoved)
  }

  /** Returns the environments that have no test, oldest first. */
  otherEnvironments(): Environment[] {
    return this.#services.environments.list().filter(({ key }) => !this.#tests.has(key))
  }

  /**
   * Returns the current state of a test's environment, or the state at its removal. Returns
   * undefined for a test that was forgotten after `list` returned it.
   */
  stateOf(test: Test): TestState | undefined {
    return test.environment.isRemoved ? test.end : this.#currentState(test)
  }

  #keepStart(environment: Environment, faults: readonly FaultRule[] = []): KeptStart {
    const { environments, latency } = this.#services
    return {
      baseline: environments.keepBaseline(environment),
      faults,
      latency: latency.initialOf(environment),
      after: 0,
      controlRequests: 0,
      isReleased: false
    }
  }

  /** Starts the test again after a reset of all parts, which restores the baseline. */
  #restart(environment: Environment, parts: readonly ResetPart[]): void {
    const test = this.#tests.get(environment.key)
    if (!test || !RESET_PARTS.every((part) => parts.includes(part))) return
    const { lastSequence, controlRequests } = this.#services.journals.of(environment)
    release(test.start)
    test.start = {
      ...this.#keepStart(environment),
      after: lastSequence,
      controlRequests: controlRequests.total
    }
  }

  #currentState({ environment, startedAt }: Test): TestState {
    const { environments, faults, journals, redactionOf } = this.#services
    const redaction = redactionOf()
    return {
      journal: journals.of(environment),
      duration: steadyClock() - startedAt,
      unauthenticatedUpTo: journals.of(undefined).lastSequence,
      faults: faults.list(environment),
      left: diffOf(environments, environment, (text) => redaction.redact(text))
    }
  }

  /** Keeps the parts of an environment that the report needs after the environment is removed. */
  #keepState(environment: Environment): void {
    const test = this.#tests.get(environment.key)
    if (!test) return
    const journal = this.#services.journals.of(environment)
    const isUsed = journal.lastSequence > 0 || test.description.title !== undefined
    if (!isUsed) return
    test.end = { ...this.#currentState(test), memory: journal.memoryUse() }
    journal.isKept = true
  }

  /**
   * Ends the test of a removed environment. Forgets the test if it has neither a request nor a
   * title.
   */
  #end({ key }: Environment): void {
    const test = this.#tests.get(key)
    if (!test) return
    if (!test.end) this.#forget(key, test)
    // A test without a description is never reported as failed, so its baseline isn't needed.
    else if (Object.keys(test.description).length === 0) release(test.start)
    this.#dropExcess()
    this.#releaseExcess()
  }

  #forget(key: number, { start }: Test): void {
    this.#tests.delete(key)
    release(start)
  }

  /** Releases baselines of removed environments until at most `MAX_RECORDS` records are left. */
  #releaseExcess(): void {
    const known = new Set<number>()
    let total = 0
    const ended = this.list().filter(({ environment }) => environment.isRemoved)
    // Failed tests have priority over other tests, and later tests over earlier tests.
    const failedFirst = ended.reverse().sort((one, other) => hasFailed(other) - hasFailed(one))
    for (const { start } of failedFirst) {
      if (start.isReleased) continue
      const { environment, countRows } = start.baseline
      const rows = this.#rowCounts.get(start) ?? countRows()
      this.#rowCounts.set(start, rows)
      const added = DATASET_KINDS.filter((kind) => !known.has(environment.datasets[kind]))
      const size = added.reduce((sum, kind) => sum + rows[kind], 0)
      if (total + size > MAX_RECORDS) {
        release(start)
        continue
      }
      total += size
      for (const kind of added) known.add(environment.datasets[kind])
    }
  }

  #dropExcess(): void {
    const ended = [...this.#tests].filter(([, { environment }]) => environment.isRemoved)
    const passedFirst = ended.sort(([, one], [, other]) => hasFailed(one) - hasFailed(other))
    let bytes = ended.reduce((sum, [, { end }]) => sum + (end?.memory ?? 0), 0)
    let count = ended.length
    for (const [key, test] of passedFirst) {
      const { end } = test
      if (count <= MAX_TESTS && bytes <= MAX_BYTES) break
      this.#forget(key, test)
      end?.journal.clear()
      this.#dropped += 1
      count -= 1
      bytes -= end?.memory ?? 0
    }
  }
}

function release(start: KeptStart): void {
  if (start.isReleased) return
  start.isReleased = true
  start.baseline.release()
}

/** Returns 1 for a failed test and 0 for any other, so that tests can be sorted. */
export const hasFailed = ({ description }: Test) => Number(description.outcome === 'failed')

function diffOf(
  environments: Services['environments'],
  environment: Environment,
  redact: Redact
): EnvironmentDiff | undefined {
  try {
    return environments.diffBaseline(environment, redact, { isQuick: true })
  } catch {
    return undefined
  }
}

import { isoTime } from '../../domain/clock.js'
import type { EnvironmentDiff } from '../../environments/schemas.js'
import type { Journal } from '../../journal/journal.js'
import { nextTurn } from '../../platform/timers.js'
import type { SeedService } from '../../seeds/service.js'
import type { Services } from '../../services.js'
import type { ReportState, RunRecord, TestRecord } from './schemas.js'
import { hasFailed, type Test, type TestService, type TestState } from './service.js'
import { SizeLimit } from './size-limit.js'
import { ReportedStarts, type RequestDetails, sentTarget } from './start.js'

/** The maximum size of a report in bytes. */
const MAX_BYTES = 64 * 1024 * 1024

/** The maximum size of the starting states in a report, in bytes. */
const MAX_STATE_BYTES = 32 * 1024 * 1024

/** After creating this many characters of JSON, pause so that the server can handle requests. */
const SLICE = 32 * 1024

type ReportServices = Pick<Services, 'faults' | 'journals' | 'redactionOf'> & {
  tests: TestService
  seeds: SeedService
}

export interface ReportOptions {
  /** The tests for which the report includes the starting state. */
  states: ReportState
  /** If set, the report contains only the test of the environment with this id. */
  environmentId?: string | undefined
  maxBytes?: number
  maxStateBytes?: number
}

/**
 * Yields the report as JSON, failed tests first. Keeps only one test in memory at a time, plus the
 * baselines of all reported tests. Stops at `maxBytes`, and counts the tests and requests that
 * don't fit. The requests of a single test may take up to a quarter of `maxBytes`, and so may all
 * unauthenticated requests together.
 */
export async function* reportJson(
  services: ReportServices,
  head: Pick<RunRecord, 'run' | 'coverage'>,
  options: ReportOptions
): AsyncGenerator<string> {
  const { states, environmentId, maxBytes = MAX_BYTES, maxStateBytes = MAX_STATE_BYTES } = options
  const { journals, tests } = services
  const size = new SizeLimit(maxBytes)
  const part = new SizeLimit(maxBytes / 4, size)
  const unauthenticated = await describeNewest(journals.of(undefined), part)
  yield `${JSON.stringify(head).slice(0, -1)},"unauthenticated":[${unauthenticated.json}],"tests":[`
  const starts = new ReportedStarts(services, states, new SizeLimit(maxStateBytes, size))
  const isSelected = ({ environment }: Test) =>
    environmentId === undefined || environment.id === environmentId
  const selected = tests.list().filter(isSelected)
  const dropped = yield* testsJson(services, selected, starts, { size, maxPerTest: maxBytes / 4 })
  yield '],"others":['
  const lost = environmentId === undefined ? yield* othersJson(services, size) : 0
  yield `],"baselines":[`
  yield* starts.baselinesJson()
  yield `],"dropped":${tests.dropped + dropped},"lost":${unauthenticated.lost + lost}}`
}

/** Yields the tests that fit into the report. Returns how many tests don't fit. */
async function* testsJson(
  services: ReportServices,
  selected: readonly Test[],
  starts: ReportedStarts,
  { size, maxPerTest }: { size: SizeLimit; maxPerTest: number }
): AsyncGenerator<string, number> {
  const { tests } = services
  const failedFirst = selected.toSorted((one, other) => hasFailed(other) - hasFailed(one))
  let separator = ''
  for (const [index, test] of failedFirst.entries()) {
    const state = tests.stateOf(test)
    if (!state) continue
    const requests = await describeNewest(state.journal, new SizeLimit(maxPerTest))
    const json = testJson(services, test, state, requests)
    if (!size.take(json)) return failedFirst.length - index
    const startJson = await starts.fieldJson(test, state, requests.details)
    yield `${separator}${json.slice(0, -1)}${startJson}}`
    separator = ','
  }
  return 0
}

function testJson(
  { redactionOf }: ReportServices,
  test: Test,
  state: TestState,
  requests: DescribedRequests
): string {
  const { environment, description, startedAt, unauthenticatedAfter } = test
  const record: Omit<TestRecord, 'requests'> = {
    title: environment.name,
    outcome: 'unknown',
    duration: state.duration,
    ...description,
    started: isoTime(startedAt),
    environment: environment.name,
    lost: requests.lost,
    unauthenticatedAfter,
    unauthenticatedUpTo: state.unauthenticatedUpTo,
    faults: [...state.faults],
    changes: [...state.journal.changes()],
    ...(state.left && isDifferent(state.left) && { left: state.left })
  }
  const json = JSON.stringify(redactionOf().redactJson(record))
  return `${json.slice(0, -1)},"requests":[${requests.json}]}`
}

/**
 * Yields the requests to environments that don't belong to a test, as JSON. Returns how many
 * requests are missing.
 */
async function* othersJson(
  { tests, journals, redactionOf }: ReportServices,
  size: SizeLimit
): AsyncGenerator<string, number> {
  let lost = 0
  let separator = ''
  for (const environment of tests.otherEnvironments()) {
    if (environment.isRemoved) continue
    const name = redactionOf().redact(environment.name)
    const requests = await describeNewest(journals.of(environment), size, { environment: name })
    lost += requests.lost
    if (requests.json === '') continue
    yield separator + requests.json
    separator = ','
  }
  return lost
}

interface DescribedRequests {
  /** The requests as JSON, separated by commas. */
  json: string
  /** How many older requests are missing from `json`, including those the journal has dropped. */
  lost: number
  details: RequestDetails
}

/**
 * Describes a journal's requests as JSON, each with `fields` added. Starts with the newest request
 * and stops when the limit is reached.
 */
async function describeNewest(
  journal: Journal,
  limit: SizeLimit,
  fields: object = {}
): Promise<DescribedRequests> {
  const requests = journal.requests()
  const described: string[] = []
  const details: RequestDetails = { targets: {}, times: {} }
  let sinceBreak = SLICE
  for (const entry of requests.toReversed()) {
    if (sinceBreak >= SLICE) {
      sinceBreak = 0
      await nextTurn()
    }
    const exchange = journal.describer.exchange(entry)
    const json = JSON.stringify({ ...exchange, ...fields })
    if (!limit.take(json)) break
    const target = sentTarget(entry, exchange)
    if (target !== undefined) details.targets[entry.sequence] = target
    if (entry.lastReading !== entry.time) details.times[entry.sequence] = entry.lastReading
    described.push(json)
    sinceBreak += json.length
  }
  const lost = journal.lostCount() + requests.length - described.length
  return { json: described.reverse().join(), lost, details }
}

function isDifferent({ settings, ...kinds }: EnvironmentDiff): boolean {
  return (
    settings.length > 0 ||
    Object.values(kinds).some(({ added, removed, changed }) =>
      [added, removed, changed].some(({ count }) => count > 0)
    )
  )
}

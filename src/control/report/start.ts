import { targetOf } from '../../domain/query-string.js'
import type { Stub } from '../../domain/stub.js'
import type { KeptBaseline } from '../../environments/service.js'
import { pathOf, queryOf } from '../../http/target.js'
import type { ControlRequest } from '../../journal/control-requests.js'
import type { JournalEntry } from '../../journal/entry.js'
import type { Journal } from '../../journal/journal.js'
import type { Redaction } from '../../journal/redaction.js'
import type { RecordedRequest } from '../../journal/schemas.js'
import { nextTurn } from '../../platform/timers.js'
import { exportSettings } from '../../seeds/export.js'
import { readSeed } from '../../seeds/read.js'
import type { SeedService } from '../../seeds/service.js'
import type { Services } from '../../services.js'
import type { ReportState, TestStart } from './schemas.js'
import { hasFailed, type Test, type TestState } from './service.js'
import type { SizeLimit } from './size-limit.js'

/** The number of characters of JSON to write before yielding to the server's other work. */
const SLICE = 32 * 1024

interface StartServices extends Pick<Services, 'faults' | 'redactionOf'> {
  seeds: SeedService
}

/** Additional details of the recorded requests, by sequence number. */
export type RequestDetails = Pick<TestStart, 'targets' | 'times'>

/**
 * Describes the starting states of a report's tests. Tests with equal baselines share one copy of
 * the records.
 */
export class ReportedStarts {
  readonly #services: StartServices
  readonly #states: ReportState
  readonly #size: SizeLimit
  readonly #baselines: string[] = []
  readonly #indexes = new Map<string, number>()

  constructor(services: StartServices, states: ReportState, size: SizeLimit) {
    this.#services = services
    this.#states = states
    this.#size = size
  }

  /**
   * Returns the JSON field `start` or `startMissing` with a comma before it. Returns an empty
   * string if the request didn't ask for the test's starting state.
   */
  async fieldJson(test: Test, { journal }: TestState, details: RequestDetails): Promise<string> {
    const isWanted = this.#states === 'all' || (this.#states === 'failed' && hasFailed(test) === 1)
    if (!isWanted) return ''
    if (test.start.isReleased) return missing(RELEASED)
    const { faults, redactionOf } = this.#services
    const redaction = redactionOf()
    const described = describeStart(test, journal, redaction, faults.acceptsHeader)
    const startJson = JSON.stringify({ ...described, ...details })
    if (!this.#size.take(startJson)) return missing(TOO_LARGE)
    const baseline = await this.#baselineIndex(test.start.baseline, redaction)
    if (baseline === undefined) return missing(TOO_LARGE)
    return `,"start":${startJson.slice(0, -1)},"baseline":${baseline}}`
  }

  baselinesJson(): Iterable<string> {
    return this.#baselines.map((json, index) => (index === 0 ? json : `,${json}`))
  }

  async #baselineIndex(baseline: KeptBaseline, redaction: Redaction): Promise<number | undefined> {
    const name = nameOf(baseline)
    const known = this.#indexes.get(name)
    if (known !== undefined) return known
    const json = await baselineJson(this.#services.seeds, baseline, redaction, this.#size.left)
    if (json === undefined || !this.#size.take(json)) return undefined
    const index = this.#baselines.push(json) - 1
    this.#indexes.set(name, index)
    return index
  }
}

const RELEASED =
  'the server keeps at most 20,000 baseline records of removed environments; ' +
  'failed tests have priority'
const TOO_LARGE = 'a report contains at most 32 MiB of starting states'
const missing = (reason: string) => `,"startMissing":${JSON.stringify(reason)}`

/** Returns the same name for all baselines with the same datasets. */
function nameOf({ environment }: KeptBaseline): string {
  const { integrations, subscribers, workflows, messages } = environment.datasets
  return [integrations, subscribers, workflows, messages].join()
}

/**
 * Returns a baseline's records as a seed in JSON, with secrets masked. Returns undefined if the
 * JSON is longer than `maxLength`.
 */
async function baselineJson(
  seeds: SeedService,
  { environment }: KeptBaseline,
  redaction: Redaction,
  maxLength: number
): Promise<string | undefined> {
  const lists: string[] = []
  let length = 0
  let sinceBreak = SLICE
  for (const [name, records] of Object.entries(seeds.recordLists(environment))) {
    const described: string[] = []
    for (const record of records) {
      if (sinceBreak >= SLICE) {
        sinceBreak = 0
        await nextTurn()
      }
      const json = JSON.stringify(redaction.redactJson(record))
      length += json.length + 1
      sinceBreak += json.length
      if (length > maxLength) return undefined
      described.push(json)
    }
    lists.push(`"${name}":[${described.join()}]`)
  }
  return `{${lists.join()}}`
}

/** Describes the starting state of a test, except for its records. Masks secrets. */
function describeStart(
  { environment, start }: Test,
  journal: Journal,
  redaction: Redaction,
  faultHeader: boolean
): Omit<TestStart, 'baseline' | keyof RequestDetails> {
  const { id: environmentId, organizationId, randomStart } = environment
  const { settings } = start.baseline
  const stubs = settings.stubs.map(withoutFunction)
  const requests = journal.controlRequests.list()
  return {
    environmentId,
    organizationId,
    settings: redaction.redactJson(exportSettings({ ...settings, stubs })),
    randomStart,
    faults: redaction.redactJson([...start.faults]),
    latency: start.latency,
    faultHeader,
    after: start.after,
    controlRequests: requests.map((request) => describeControlRequest(request, redaction)),
    isComplete:
      journal.firstSequence <= start.after + 1 &&
      journal.controlRequests.forgotten <= start.controlRequests
  }
}

function describeControlRequest(
  { url, body, ...request }: ControlRequest,
  redaction: Redaction
): TestStart['controlRequests'][number] {
  const target = redaction.redact(url)
  if (body === '') return { ...request, target, body }
  // Convert YAML to JSON, because redaction finds secrets by the names of JSON fields.
  const json = parseJson(body) ?? readSeed(body).seed
  const content = isFunctionStub(json) ? withoutFunction(json) : json
  return { ...request, target, body: JSON.stringify(redaction.redactJson(content)) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const isFunctionStub = (body: unknown): body is Stub =>
  typeof body === 'object' && body !== null && 'function' in body && 'method' in body

/** The body that replaces a stub's function, because a report can't contain functions. */
const FUNCTION_STUB = "A report can't contain this stub's function"

function withoutFunction(stub: Stub): Stub {
  const { function: id, ...rest } = stub
  return id === undefined ? stub : { ...rest, status: 501, body: FUNCTION_STUB }
}

/**
 * Returns the URL that the client sent if only its encoding differs from the URL that `targetOf`
 * builds from the recorded request. Returns undefined if the URLs are equal, or if the recorded
 * request has masked secrets.
 */
export function sentTarget(
  { url }: JournalEntry,
  { path, query }: RecordedRequest
): string | undefined {
  const built = targetOf(path, query)
  const parameters = new URLSearchParams(queryOf(url))
  const normalized = parameters.size > 0 ? `${pathOf(url)}?${parameters}` : pathOf(url)
  return url !== built && normalized === built ? url : undefined
}

import type { Report, ReportedTest } from '../client/report.js'
import { countOf } from '../domain/count.js'
import { setRandomStart } from '../environments/environment.js'
import type { Environment } from '../environments/service.js'
import { VERSION } from '../platform/package.js'
import { Replay } from '../replay/replay.js'
import { type Server, type ServerOptions, startServer } from '../server.js'
import type { ReopenableTest } from './report-file.js'

export interface ReopenOptions
  extends Pick<ServerOptions, 'port' | 'host' | 'logger' | 'logLevel'> {
  /** The tests to recreate. They share one server. */
  tests: readonly ReopenableTest[]
  /**
   * The first test's replay stops before the request with this sequence number. If undefined, it
   * repeats all requests.
   */
  before: number | undefined
  /** The API key of the first test's environment. */
  apiKey?: string | undefined
}

export interface ReopenedTest {
  server: Server
  /** The first test's replay. */
  replay: Replay
  environment: Environment
  apiKey: string
}

/**
 * Starts a server with the recorded tests' environments, and repeats the tests' requests. Rejects
 * with the same errors as `startServer`.
 */
export async function reopenTests(
  report: Report,
  { tests, before, apiKey: firstKey, ...options }: ReopenOptions
): Promise<ReopenedTest> {
  const [first, ...others] = tests
  if (!first) throw new Error('there is no test to reopen')
  const { profile, assumptions } = report.run
  const clock = { now: Date.parse(first.started) }
  const keyOf = ({ start }: ReopenableTest) =>
    (start === first.start ? firstKey : undefined) ?? `reopened-${start.environmentId}`
  const server = await startServer({
    ...options,
    seeds: [],
    seed: { environments: tests.map((test) => seedOf(test, report, keyOf(test))) },
    profile,
    assumptions,
    clock: () => clock.now,
    faultHeader: first.start.faultHeader,
    journal: Math.max(1000, ...tests.map(({ requests }) => requests.length * 2))
  })
  const opened = recreate(first, report, server, keyOf(first), clock)
  // Each replay sets the server's clock to the time of its next request. Repeat the first test
  // last, because the user continues with its next request.
  for (const test of others) {
    await recreate(test, report, server, keyOf(test), clock).replay.repeatUntil()
  }
  await opened.replay.repeatUntil(before)
  return { server, ...opened }
}

function seedOf({ start }: ReopenableTest, { baselines }: Report, apiKey: string): object {
  const { environmentId, organizationId, settings, baseline } = start
  return {
    _id: environmentId,
    _organizationId: organizationId,
    apiKeys: [apiKey],
    ...settings,
    ...baselines[baseline]
  }
}

/**
 * Restores the test's fault rules, latency and random values, which a seed doesn't contain, and
 * creates the test's replay.
 */
function recreate(
  test: ReopenableTest,
  report: Report,
  { url, services }: Server,
  apiKey: string,
  clock: { now: number }
) {
  const { environments, faults, latency, journals, replays } = services
  const { start, title, requests } = test
  const environment = environments.find(start.environmentId)
  for (const { id, seen, hits, ...rule } of start.faults) faults.add(environment, rule)
  latency.setInitial(environment, start.latency)
  setRandomStart(environment, start.randomStart)
  const { version } = report.run
  const warnings = warningsOf(test, report)
  const replay = new Replay(
    {
      title,
      requests,
      warnings,
      controlRequests: start.controlRequests,
      targets: start.targets,
      times: start.times,
      isComplete: start.isComplete && test.lost === 0,
      otherVersion: version === VERSION ? undefined : version
    },
    { url, apiKey, environment, journal: journals.of(environment), latency, clock }
  )
  replays.add(environment, replay)
  return { replay, environment, apiKey }
}

function warningsOf(
  { start, lost, unauthenticatedAfter, unauthenticatedUpTo }: ReportedTest,
  { run }: Report
): string[] {
  const unauthenticated = unauthenticatedUpTo - unauthenticatedAfter
  const warnings = [
    run.version !== VERSION &&
      `version ${run.version} wrote the report, and this is version ${VERSION}: run npx ` +
        `notification-mock@${run.version} for the same responses`,
    (lost > 0 || !start?.isComplete) &&
      "the report lacks some of the test's earlier requests or changes, so responses may differ",
    unauthenticated > 0 &&
      `not repeated: ${countOf(unauthenticated, 'request')} without a valid API key`
  ]
  return warnings.filter((warning) => warning !== false)
}

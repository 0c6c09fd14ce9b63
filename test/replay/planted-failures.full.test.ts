import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { reopenTests } from '../../src/cli/reopen-test.js'
import { chooseTests, type ReopenableTest } from '../../src/cli/report-file.js'
import { type Report, reportOf } from '../../src/client/report.js'
import { createMock } from '../../src/index.js'
import type { ReplayState } from '../../src/replay/schemas.js'
import { FAILURES, FailingTest, failWithTwoEnvironments } from './planted-failures.js'

let report: Report
let states: Map<string, ReplayState>

/** Records all failures on one server, and repeats their requests on a second server. */
beforeAll(async () => {
  report = await record()
  states = await reopen(report, report.tests as ReopenableTest[])
}, 180_000)

async function record(): Promise<Report> {
  await using fallback = await createMock({ logLevel: 'silent' })
  await using mock = await createMock({ logLevel: 'silent', fallback: fallback.url })
  for (const { name, run, options = { from: 'Development' } } of FAILURES) {
    await using env = await mock.environment({ ...options, name })
    await env.describeTest({ title: name, outcome: 'failed' })
    await run(new FailingTest(env))
  }
  await using first = await mock.environment({ from: 'Development', name: 'first' })
  await using second = await mock.environment({ from: 'Production', name: 'second' })
  for (const env of [first, second]) {
    await env.describeTest({ title: TWO_ENVIRONMENTS, outcome: 'failed' })
  }
  await failWithTwoEnvironments(new FailingTest(first), new FailingTest(second))
  return reportOf(await mock.runRecord({ states: 'failed' }))
}

const TWO_ENVIRONMENTS = 'two environments in one test'

/** Reopens tests in one server. Returns the state of each replay by environment name. */
async function reopen(from: Report, tests: ReopenableTest[]): Promise<Map<string, ReplayState>> {
  const options = { tests, before: undefined, port: 0, logLevel: 'silent' } as const
  const { server } = await reopenTests(from, options)
  const { environments, replays } = server.services
  const reopened = environments
    .list()
    .map((environment): [string, ReplayState] => [
      environment.name,
      replays.require(environment).state()
    ])
  await server.close()
  return new Map(reopened)
}

test.each(FAILURES)(
  '$name: repeated requests get equal responses, or the cause of the difference is reported',
  ({ name, causes, warnings = [] }) => {
    const state = states.get(name)
    expect(state?.warnings).toEqual(warnings)
    expect(state?.requests).not.toHaveLength(0)
    const different = state?.requests.filter(({ result }) => result !== 'equal')
    if (causes === undefined) expect(different).toEqual([])
    else expect(different).toMatchObject([{ cause: expect.stringMatching(causes) }])
  }
)

test('recreates both environments of a test', async () => {
  const reopened = await reopen(report, chooseTests(report, TWO_ENVIRONMENTS))
  expect([...reopened.keys()]).toEqual(['first', 'second'])
  const results = [...reopened.values()].flatMap(({ requests }) => requests)
  expect(results.map(({ result }) => result)).toEqual(['equal', 'equal', 'equal', 'equal'])
})

test('sets the clock of the reopened environment to the time of its next request', async () => {
  const tests = chooseTests(report, TWO_ENVIRONMENTS)
  const { sequence: before = 0, time = '' } = tests[0]?.requests[1] ?? {}
  const options = { tests, before, port: 0, logLevel: 'silent' } as const
  const { server, environment } = await reopenTests(report, options)
  onTestFinished(() => server.close())
  // A request that read its arrival time has no entry in `times`.
  expect(environment.now()).toBe(tests[0]?.start.times[before] ?? Date.parse(time))
})

test('a warning and the cause of a difference name the version that wrote the report', async () => {
  const [chosen] = structuredClone(chooseTests(report, 'an invalid limit'))
  for (const { response } of chosen?.requests ?? []) Object.assign(response ?? {}, { body: 'old' })
  const old = { ...report, run: { ...report.run, version: '0.0.9' } }
  const [state] = (await reopen(old, chosen ? [chosen] : [])).values()
  expect(state?.warnings).toEqual([expect.stringContaining('version 0.0.9 wrote the report')])
  expect(state?.requests).toMatchObject([{ cause: 'the response was recorded by version 0.0.9' }])
})

import { beforeAll, expect, test } from 'vitest'
import { reopenTests } from '../../src/cli/reopen-test.js'
import type { ReopenableTest } from '../../src/cli/report-file.js'
import { reportOf } from '../../src/client/report.js'
import { createMock } from '../../src/index.js'
import type { ReplayState } from '../../src/replay/schemas.js'
import { FAILURES, FailingTest } from './planted-failures.js'

const states = new Map<string, ReplayState>()

/** Records all failures on one server, and repeats their requests on another one. */
beforeAll(async () => {
  await using mock = await createMock({ logLevel: 'silent' })
  for (const { name, run, options = { from: 'Development' } } of FAILURES) {
    const env = await mock.environment({ ...options, name })
    await env.describeTest({ title: name, outcome: 'failed' })
    await run(new FailingTest(env))
    await env.remove()
  }
  const report = reportOf(await mock.runRecord({ states: 'failed' }))
  const tests = report.tests as ReopenableTest[]
  const { server } = await reopenTests(report, { tests, before: undefined, logLevel: 'silent' })
  const { environments, replays } = server.services
  for (const environment of environments.list()) {
    states.set(environment.name, replays.require(environment).state())
  }
  await server.close()
}, 180_000)

test.each(FAILURES)(
  'repeats $name with equal responses, or names the cause',
  ({ name, causes }) => {
    const { requests = [], warnings } = states.get(name) ?? {}
    expect(warnings).toEqual([])
    expect(requests).not.toHaveLength(0)
    const different = requests.filter(({ result }) => result !== 'equal')
    if (causes === undefined) expect(different).toEqual([])
    else expect(different).toMatchObject([{ cause: expect.stringMatching(causes) }])
  }
)

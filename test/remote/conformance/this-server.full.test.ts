import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../src/client/index.js'
import { PROFILES, type Profile } from '../../../src/domain/assumptions.js'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../../support/control.js'
import { type TestMockOptions, useMock } from '../../support/mock.js'
import { runCommand, spawnCommand } from '../../support/process.js'
import { startProxy, UNLISTED } from './proxy.js'
import { caseIdsWith, checkTarget, failuresIn, primaryEmail } from './run-conformance.js'

const SEEDS = readdirSync(join(import.meta.dirname, '../../../seeds'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))

const RECORDS = {
  workflows: ['order-shipped', 'sign-in-code'],
  integrations: [SENDGRID, MAILGUN],
  allowChanges: true
}

/**
 * Starts a mock and a proxy in front of it. The proxy adds Novu's route that lists integrations,
 * because the mock doesn't serve it.
 */
async function startProxiedMock(options: TestMockOptions = {}) {
  const mock = await useMock(options)
  const proxy = await startProxy(mock.url)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return { mock, url: proxy.url }
}

type SeededEnvironment = Awaited<ReturnType<typeof useMock>>['seededEnvironments'][number]

/**
 * Runs the cases in an environment. Expects that no case has the outcome `failed` or `noted`.
 * Returns the ids of the passed cases.
 */
async function expectConformance(
  url: string,
  profile: Profile,
  { apiKeys, steps }: SeededEnvironment
): Promise<string[]> {
  const [apiKey = ''] = apiKeys
  const defaultSteps = steps.filter(({ stepId }) => /^(email|sms|in-app)-step$/.test(stepId))
  const workflows = [...new Set(defaultSteps.map(({ workflowId }) => workflowId))].slice(0, 3)
  const report = await checkTarget(url, { apiKey, workflows, profile, allowChanges: true })
  expect(failuresIn(report)).toEqual([])
  expect(caseIdsWith(report, 'noted')).toEqual([])
  expect(report.profile.differing).toEqual([])
  expect(report.milliseconds).toBeLessThan(20_000)
  return caseIdsWith(report, 'passed')
}

test.each(PROFILES)(
  'the mock passes all cases with the built-in seeds in the profile %s',
  { timeout: 300_000 },
  async (profile) => {
    expect(SEEDS.length).toBeGreaterThan(7)
    const passed = new Set<string>()
    for (const seed of SEEDS) {
      const { mock, url } = await startProxiedMock({ profile, seeds: [seed] })
      for (const environment of mock.seededEnvironments) {
        for (const id of await expectConformance(url, profile, environment)) passed.add(id)
      }
    }
    const expected = CASES.filter(({ documentOnly }) => !documentOnly || profile === 'document')
    const notPassed = expected.map(({ id }) => id).filter((id) => !passed.has(id))
    // `live.foreign-integration` is skipped because `foreignIntegration` isn't set. In the profile
    // `live`, `live.credentials` is skipped because responses don't contain credentials.
    const skipped = profile === 'live' ? ['live.credentials'] : []
    expect(notPassed.sort()).toEqual([...skipped, 'live.foreign-integration'])
  }
)

test.each(PROFILES)(
  'detects the profile %s from the response for an integration of another environment',
  async (profile) => {
    const { url } = await startProxiedMock({ profile })
    const foreignIntegration = '6703aa1c5d2e8b0013b70001'
    const report = await checkTarget(url, {
      foreignIntegration,
      allowChanges: true,
      only: ['live.foreign-integration']
    })
    expect(report).toMatchObject({
      counts: { passed: 1 },
      profile: { nearest: profile, isExact: true }
    })
  }
)

test('each case also passes when it runs alone', async () => {
  const { url } = await startProxiedMock()
  const first = await checkTarget(url, RECORDS)
  for (const id of caseIdsWith(first, 'passed')) {
    const { cases } = await checkTarget(url, { ...RECORDS, only: [id] })
    expect(cases).toMatchObject([{ id, outcome: 'passed' }])
  }
})

/** Runs `conformance` against the URL with the key `development-key`. */
function runCommandAgainst(url: string, ...more: string[]) {
  return runCommand(['conformance', '--target', url, '--api-key', DEVELOPMENT, ...more])
}

describe('the command', () => {
  test('prints the report and exits with code 0 if all cases pass', async () => {
    const { url } = await startProxiedMock()
    const args = ['conformance', '--target', `${url}/`, '--allow-changes']
    const cases = ['--case', 'wire', '--case', 'primary']
    const { code, stdout, stderr } = await runCommand([...args, ...cases], {
      env: { NOTIFICATION_MOCK_API_KEY: DEVELOPMENT }
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/: \d+ passed, 0 failed, 0 noted, 0 skipped; \d+ requests in [\d.]+ s\n/)
    expect(stdout).not.toContain(DEVELOPMENT)
  })

  test('exits with code 1 if the target does not behave like the required profile', async () => {
    const { url } = await useMock()
    const flags = ['--json', '--profile', 'live', '--case', 'live.envelope']
    const { code, stdout, stderr } = await runCommandAgainst(url, ...flags)
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: 1 of 1 cases failed\n' })
    const reason = 'the target behaves like the profile document, not live'
    expect(JSON.parse(stdout)).toMatchObject({
      target: url,
      counts: { failed: 1 },
      cases: [{ reason }]
    })
  })

  test('exits with code 3 if an operation is unchecked, or 0 with --allow-unchecked', async () => {
    const { url } = await useMock()
    await using proxy = await startProxy(url, UNLISTED)
    const cases = ['--case', 'primary', '--case', 'idempotency']
    const flags = ['--allow-changes', '--profile', 'document', ...cases]
    const { code, stdout, stderr } = await runCommandAgainst(proxy.url, ...flags)
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toContain('setIntegrationAsPrimary: NOT CHECKED\n')
    expect((await runCommandAgainst(proxy.url, ...flags, '--allow-unchecked')).code).toBe(0)
  })

  test.each([
    [[], /required option '--api-key/],
    [['--api-key', 'x', '--target', 'nonsense'], /must be the URL of a server/],
    [['--api-key', 'x', '--case', 'nonsense'], /There is no case nonsense/],
    [
      ['--api-key', 'secret\nkey'],
      /^error: --api-key <key> must be an API key that is valid in an HTTP header(?!.*secret)/
    ]
  ])('rejects the command line %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['conformance', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('rejects an unwritable JUnit file before the first request', async () => {
    const server = await useMock()
    const flags = ['--case', 'paging.page', '--junit', '/nowhere/report.xml']
    const { code, stdout, stderr } = await runCommandAgainst(server.url, ...flags)
    expect({ code, stdout, stderr }).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining("can't write /nowhere/report.xml: its folder does not exist")
    })
    expect(await connect(server.url).attach(DEVELOPMENT).requests.list()).toEqual([])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'restores the original primary integration after %s',
    async (signal) => {
      const mock = await useMock()
      const stopped = new AbortController()
      await using proxy = await startProxy(mock.url, {
        response({ request, response }) {
          if (!request.path.includes(MAILGUN) || stopped.signal.aborted) return
          // Mailgun is primary now. Make the command wait, and then interrupt it.
          stopped.abort()
          response.status = 429
          response.headers['retry-after'] = '100'
          setTimeout(() => running.child.kill(signal), 200)
        }
      })
      const target = ['--target', proxy.url, '--api-key', DEVELOPMENT]
      const integrations = ['--integration', SENDGRID, '--integration', MAILGUN]
      const flags = [...target, ...integrations, '--allow-changes', '--case', 'primary']
      const running = await spawnCommand(['conformance', ...flags])
      expect(await running.ended).toMatchObject({
        code: 1,
        stdout: expect.stringContaining(': 0 passed, 0 failed, 0 noted, 0 skipped'),
        stderr: 'error: interrupted before all cases ran\n'
      })
      expect(await primaryEmail(mock)).toBe(SENDGRID)
    }
  )

  test('exits with code 1 if the target cannot be reached', async () => {
    const { code, stderr } = await runCommandAgainst('http://127.0.0.1:9')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: http:\/\/127\.0\.0\.1:9: (?!.*development-key)/)
  })
})

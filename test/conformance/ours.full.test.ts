import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PROFILES } from '../../src/core/assumptions.js'
import { readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { type ServerOptions, startServer } from '../../src/server.js'
import type { ConformanceCase } from '../../src/targets/conformance/case.js'
import { CASES } from '../../src/targets/conformance/cases/index.js'
import { type ConformanceReport, type RunOptions, runConformance } from '../../src/targets/conformance/run.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../support/control.js'
import { anyRequest, type Published } from '../support/generated-requests.js'
import { runCommand, spawnCommand } from '../support/process.js'
import { startProxy, UNLISTED } from './proxy.js'

const SEEDS = readdirSync(join(import.meta.dirname, '../../seeds'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))

const NAMED = { workflows: ['order-shipped', 'sign-in-code'], integrations: [SENDGRID, MAILGUN], allowChanges: true }

/** Ours, and a proxy before it that lists integrations too. */
async function givenOurs(options: ServerOptions = {}) {
  const server = await startServer({ port: 0, logLevel: 'silent', ...options })
  const proxy = await startProxy(server.url)
  onTestFinished(async () => {
    await proxy[Symbol.asyncDispose]()
    await server.app.close()
  })
  return { ...server, url: proxy.url, ownUrl: server.url }
}

function judge(url: string, apiKey: string, options: Partial<RunOptions> = {}): Promise<ConformanceReport> {
  return runConformance({ url, apiKey, allowChanges: true, ...options })
}

const failedIn = ({ cases }: ConformanceReport) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason}`)

const idsOf = ({ cases }: ConformanceReport, outcome: string) =>
  cases.filter((each) => each.outcome === outcome).map(({ id }) => id)

test.each(PROFILES)(
  'every case is passed or skipped by ours with every packaged seed, profile %s',
  { timeout: 300_000 },
  async (profile) => {
    expect(SEEDS.length).toBeGreaterThan(7)
    const passed = new Set<string>()
    for (const seed of SEEDS) {
      const { url } = await givenOurs({ profile, seeds: [seed] })
      const seededEnvironments = resolveSeeds(readSeeds([seed]), Date.now())
      for (const { apiKeys, workflows } of await environmentsOf(url, seededEnvironments)) {
        const report = await judge(url, apiKeys[0] ?? '', { workflows, profile })
        expect({ seed, failed: failedIn(report), noted: idsOf(report, 'noted') }).toEqual({
          seed,
          failed: [],
          noted: []
        })
        expect(report.profile.differing).toEqual([])
        expect(report.milliseconds).toBeLessThan(20_000)
        for (const id of idsOf(report, 'passed')) passed.add(id)
      }
    }
    // What a single environment can't show, and what this profile does not have.
    const never = CASES.filter(({ id }) => !passed.has(id))
    const foreign = ['live.foreign-integration', ...(profile === 'live' ? ['live.credentials'] : [])]
    const isElsewhere = ({ documentOnly }: ConformanceCase) => documentOnly && profile === 'live'
    expect(never.filter((each) => !isElsewhere(each)).map(({ id }) => id)).toEqual(expect.arrayContaining(foreign))
    expect(never.filter((each) => !isElsewhere(each)).length).toBe(foreign.length)
  }
)

/** The environments with the workflows that they have. */
async function environmentsOf(url: string, seeded: readonly { apiKeys: string[] }[]) {
  return Promise.all(
    seeded.map(async ({ apiKeys }) => {
      const headers = { authorization: `ApiKey ${apiKeys[0]}` }
      const state = await (await fetch(`${url}/_mock/state`, { headers })).json()
      const [{ workflows = [] }] = (state as { environments: [{ workflows?: Workflow[] }] }).environments
      const usual = workflows.filter(({ steps }) =>
        steps.some(({ stepId }) => /^(email|sms|in-app)-step$/.test(stepId))
      )
      return { apiKeys, workflows: usual.slice(0, 3).map(({ identifier }) => identifier) }
    })
  )
}

interface Workflow {
  identifier: string
  steps: { stepId: string }[]
}

test.each(PROFILES)('an integration of another environment is judged when it is named, profile %s', async (profile) => {
  const { url } = await givenOurs({ profile })
  const options = { foreignIntegration: '6703aa1c5d2e8b0013b70001', only: ['live.foreign-integration'] }
  const report = await judge(url, DEVELOPMENT, options)
  expect(report).toMatchObject({ counts: { passed: 1 }, profile: { nearest: profile, isExact: true } })
})

test('no case depends on those before it: each passes alone', async () => {
  const { url } = await givenOurs()
  const first = await judge(url, DEVELOPMENT, NAMED)
  for (const id of idsOf(first, 'passed')) {
    expect((await judge(url, DEVELOPMENT, { ...NAMED, only: [id] })).cases).toMatchObject([{ id, outcome: 'passed' }])
  }
})

test.each(PROFILES)('every case is passed or skipped after 1,000 random control calls, profile %s', async (profile) => {
  const { url, ownUrl } = await givenOurs({ profile })
  const authorization = `ApiKey ${DEVELOPMENT}`
  const document = (await (await fetch(`${ownUrl}/_mock/openapi.json`)).json()) as Published
  const requests = fc.sample(anyRequest(document, { parameters: {}, fields: {} }), { numRuns: 1000, seed: 7 })
  let done = 0
  for (const { operation, method, path, headers, body } of requests) {
    // What gives the environment another profile, and what waits.
    if (operation === 'loadSeed' || 'x-mock-fault' in headers) continue
    const init = {
      method,
      headers: { authorization, ...headers },
      ...(body !== undefined && method !== 'GET' && { body })
    }
    await fetch(`${ownUrl}${path}`, init).then(
      async (response) => {
        await response.arrayBuffer()
        if (response.ok) done++
      },
      () => {}
    )
  }
  expect(done).toBeGreaterThan(150)
  // A fault is no rule of the contract.
  const reset = { method: 'POST', headers: { authorization }, body: '{"parts":["faults"]}' }
  expect((await fetch(`${ownUrl}/_mock/reset`, reset)).status).toBe(200)
  const report = await judge(url, DEVELOPMENT, NAMED)
  expect(failedIn(report)).toEqual([])
  expect(report.counts.passed).toBeGreaterThan(0.8 * report.cases.length)
})

test('against a target with a delay of 100 ms it takes less than three minutes', async () => {
  const { ownUrl } = await givenOurs()
  await using slow = await startProxy(ownUrl, {}, 100)
  const report = await judge(slow.url, DEVELOPMENT, NAMED)
  expect(failedIn(report)).toEqual([])
  expect(report.milliseconds).toBeLessThan(180_000)
}, 300_000)

/** Runs the command with a key of this server. */
function runJudge(url: string, ...more: string[]) {
  return runCommand(['conformance', '--target', url, '--api-key', DEVELOPMENT, ...more])
}

describe('the command', () => {
  test('prints the report, and ends with 0 when all passed', async () => {
    const { url } = await givenOurs()
    const args = ['conformance', '--target', `${url}/`, '--allow-changes', '--tier', 'wire', '--tier', 'effects']
    const { code, stdout, stderr } = await runCommand(args, { env: { NOTIFICATION_MOCK_API_KEY: DEVELOPMENT } })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/: \d+ passed, 0 failed, 0 noted, 0 skipped; \d+ requests in [\d.]+ s\n/)
    expect(stdout).not.toContain(DEVELOPMENT)
  })

  test('ends with 1 when a case failed, and says so', async () => {
    const { ownUrl } = await givenOurs()
    const asked = ['--json', '--profile', 'live', '--case', 'live.envelope']
    const { code, stdout, stderr } = await runJudge(ownUrl, ...asked)
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: 1 of 1 cases failed\n' })
    expect(JSON.parse(stdout)).toMatchObject({ target: ownUrl, counts: { failed: 1 } })
  })

  test('ends with 3 when an operation could not be judged, unless that is allowed', async () => {
    const { ownUrl } = await givenOurs()
    await using proxy = await startProxy(ownUrl, UNLISTED)
    const asked = ['--allow-changes', '--case', 'primary', '--case', 'idempotency', '--profile', 'document']
    const { code, stdout, stderr } = await runJudge(proxy.url, ...asked)
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toContain('setIntegrationAsPrimary: NOT JUDGED\n')
    expect((await runJudge(proxy.url, ...asked, '--allow-unjudged')).code).toBe(0)
  })

  test.each([
    [[]],
    [['--api-key', 'x', '--tier', 'speed']],
    [['--api-key', 'x', '--target', 'nonsense']],
    [['--api-key', 'x', '--rate', '0']],
    [['--api-key', 'x', '--case', 'nonsense']]
  ])('%j is wrong usage', async (args) => {
    expect((await runCommand(['conformance', ...args])).code).toBe(2)
  })

  test('a key that no header can carry is wrong usage, and is not repeated', async () => {
    const { code, stdout, stderr } = await runCommand(['conformance', '--case', 'paging.page'], {
      env: { NOTIFICATION_MOCK_API_KEY: 'secret\nkey' }
    })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: --api-key <key> must be a key that a header can carry(?!.*secret)/)
  })

  test('a file that can not be written does not take the report with it', async () => {
    const { ownUrl } = await givenOurs()
    const asked = ['--case', 'paging.page', '--junit', '/nowhere/report.xml']
    const { code, stdout, stderr } = await runJudge(ownUrl, ...asked)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: can't write \/nowhere\/report\.xml/)
    })
    expect(stdout).toContain(': 1 passed, 0 failed, 0 noted, 0 skipped')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('puts the primary back after a %s', async (signal) => {
    const server = await startServer({ port: 0, logLevel: 'silent' })
    onTestFinished(() => server.app.close())
    const stopped = new AbortController()
    await using proxy = await startProxy(server.url, {
      answer({ request, answer }) {
        if (!request.path.includes(MAILGUN) || stopped.signal.aborted) return
        // It is primary now, and the command waits.
        stopped.abort()
        answer.status = 429
        answer.headers['retry-after'] = '100'
        setTimeout(() => running.child.kill(signal), 200)
      }
    })
    const named = ['--integration', SENDGRID, '--integration', MAILGUN, '--allow-changes', '--case', 'primary']
    const running = await spawnCommand(['conformance', '--target', proxy.url, '--api-key', DEVELOPMENT, ...named])
    expect(await running.ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(': 0 passed, 0 failed, 0 noted, 0 skipped'),
      stderr: 'error: interrupted: not all cases were run\n'
    })
    const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
    const { integrations } = (await (await fetch(`${server.url}/_mock/integrations`, { headers })).json()) as {
      integrations: { _id: string; primary: boolean; channel: string }[]
    }
    expect(integrations.find(({ primary, channel }) => primary && channel === 'email')?._id).toBe(SENDGRID)
  })

  test('a target that is not there ends with 1', async () => {
    const { code, stderr } = await runCommand([
      'conformance',
      '--target',
      'http://127.0.0.1:9',
      '--api-key',
      'secret-key'
    ])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: http:\/\/127\.0\.0\.1:9: (?!.*secret)/)
    })
  })
})

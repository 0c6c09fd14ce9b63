import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runMarkdown } from '../../../src/cli/summary.js'
import { type ConnectedMock, connect, type RunRecord } from '../../../src/client/index.js'
import { reportOf, unauthenticatedDuring } from '../../../src/client/report.js'
import { reportJson } from '../../../src/control/report/report.js'
import { TestService } from '../../../src/control/report/service.js'
import { DEVELOPMENT, MAILGUN, SENDGRID, setPrimary } from '../../support/control.js'
import { type TestMock, useNewMock } from '../../support/mock.js'

type Outcome = RunRecord['tests'][number]['outcome']

async function useConnectedMock(): Promise<{ server: TestMock; mock: ConnectedMock }> {
  const server = await useNewMock()
  return { server, mock: connect(server.url) }
}

/** Creates an environment, and a function that sends requests with the environment's API key. */
async function createTest(mock: ConnectedMock, name = 'of a test') {
  const env = await mock.environment({ from: 'Development', name })
  const send = (path: string, init: RequestInit = {}) =>
    fetch(env.url + path, { ...init, headers: { ...env.headers, ...init.headers } })
  return { env, send }
}

async function describeAttempts(mock: ConnectedMock, title: string, outcomes: Outcome[]) {
  for (const [index, outcome] of outcomes.entries()) {
    const { env } = await createTest(mock)
    const attempt = index + 1
    await env.describeTest({ title, attempt, outcome, error: `error ${attempt}` })
    await env.remove()
  }
}

test("a report merges a test's attempts, and keeps the error of each attempt", async () => {
  const { mock } = await useConnectedMock()
  await describeAttempts(mock, 'flaky', ['failed', 'failed', 'passed'])
  await describeAttempts(mock, 'broken', ['failed', 'failed'])
  const report = reportOf(await mock.runRecord())
  const rows = report.tests.map(({ title, outcome, earlierAttempts = [] }) => ({
    row: `${title} ${outcome}`,
    errors: earlierAttempts.map(({ error }) => error)
  }))
  expect(rows).toEqual([
    { row: 'broken failed', errors: ['error 1'] },
    { row: 'flaky passed', errors: ['error 1', 'error 2'] }
  ])
  expect(runMarkdown(report)).toContain('1 of 2 failed')
})

test('a report lists two first attempts with the same title as two tests', async () => {
  const { mock } = await useConnectedMock()
  for (const _ of [1, 2]) await describeAttempts(mock, 'same', ['failed'])
  expect(reportOf(await mock.runRecord()).tests).toHaveLength(2)
})

test('reports a test after its environment was removed', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock)
  await env.describeTest({ title: 'settings › switches', file: 'a.test.ts:3' })
  const rejection = await send('/v1/messages?limit=0')
  await send(setPrimary(MAILGUN), { method: 'POST' })
  await env.faults.add({ operation: 'listMessages', effect: { status: 503 } })
  await env.describeTest({ outcome: 'failed', error: 'expected 1 to be 2', duration: 12 })
  await env.remove()
  const { tests, others } = await mock.runRecord()
  expect(others).toEqual([])
  expect(tests).toMatchObject([
    {
      ...{
        title: 'settings › switches',
        file: 'a.test.ts:3',
        outcome: 'failed',
        error: 'expected 1 to be 2'
      },
      ...{ environment: 'of a test', duration: 12, lost: 0 },
      requests: [
        { status: 422, response: { status: 422, body: await rejection.text() } },
        { status: 200, changed: [{ id: MAILGUN }, { id: SENDGRID }], response: { status: 200 } }
      ],
      faults: [{ id: 'fault-1', hits: 0 }],
      changes: [{ operation: 'addFault', changed: [{ kind: 'fault', action: 'added' }] }],
      left: { integrations: { changed: { ids: ['sendgrid-main', 'mailgun-eu'] } }, settings: [] }
    }
  ])
  expect(tests[0]?.left?.integrations.changed.fields).toContainEqual({
    ...{ id: 'mailgun-eu', field: 'primary', before: 'false', after: 'true' }
  })
})

test.each([
  ['500 records', { count: 501, length: 1 }, 500],
  ['2 MiB', { count: 3, length: 900_000 }, 3]
])(
  'compares at most %s per kind of record, and reports how many records it compared',
  async (_, { count, length }, compared) => {
    const { mock } = await useConnectedMock()
    const message = { channel: 'sms' as const, content: 'x'.repeat(length) }
    const seed = { environments: [{ name: 'large', messages: Array(count).fill(message) }] }
    const env = await mock.environment({ seed })
    await env.describeTest({ title: 'large' })
    const { _id } = await env.messages.add({ channel: 'email' })
    await env.remove()
    const { tests } = await mock.runRecord()
    expect(tests[0]?.left?.messages).toMatchObject({ compared, added: { count: 1, ids: [_id] } })
  }
)

test('a change that the test itself undid is not a leftover change', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock)
  for (const id of [MAILGUN, SENDGRID]) await send(setPrimary(id), { method: 'POST' })
  const [reported] = (await mock.runRecord()).tests
  expect(reported?.requests).toHaveLength(2)
  // `primary` has its baseline value again, but the integrations still differ from the baseline:
  // set-primary has also cleared their conditions.
  const fields = reported?.left?.integrations.changed.fields?.map(({ field }) => field) ?? []
  expect(fields).not.toContain('primary')
  await env.reset({ parts: ['data'] })
  expect((await mock.runRecord()).tests[0]).not.toHaveProperty('left')
})

test('a test without a description has the name of its environment', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock, 'by hand')
  await send('/v1/messages')
  await env.remove()
  const { tests } = await mock.runRecord()
  expect(tests).toMatchObject([{ title: 'by hand', outcome: 'unknown' }])
})

test('lists a removed environment with its test, and can report that test alone', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock, 'first')
  await send('/v1/messages')
  await env.describeTest({ title: 'pays', file: 'shop.test.ts:7', outcome: 'failed' })
  await env.remove()
  await createTest(mock, 'second')
  const listed = await mock.listEnvironments({ removed: 'include' })
  expect(listed.slice(-2)).toMatchObject([
    { name: 'first', removed: true, test: { title: 'pays', outcome: 'failed' } },
    { name: 'second', test: {} }
  ])
  const { tests, others } = await mock.runRecord({ environment: env.id })
  expect(tests).toMatchObject([{ title: 'pays', requests: [{ path: '/v1/messages' }] }])
  expect(others).toEqual([])
  expect((await mock.listEnvironments()).map(({ name }) => name)).not.toContain('first')
})

test('does not report a removed environment that was not used', async () => {
  const { mock } = await useConnectedMock()
  await (await createTest(mock, 'unused')).env.remove()
  const { tests, dropped } = await mock.runRecord()
  expect(tests).toEqual([])
  expect(dropped).toBe(0)
})

test('reports the unauthenticated requests that were sent after the test started', async () => {
  const { server, mock } = await useConnectedMock()
  await server.get('/v1/messages?page=1', { key: 'wrong' })
  const { env } = await createTest(mock)
  await server.get('/v1/messages?page=2', { key: 'wrong' })
  const report = await mock.runRecord()
  const [reported] = report.tests
  expect(reported).toMatchObject({ unauthenticatedAfter: 1, unauthenticatedUpTo: 2 })
  expect(reported && unauthenticatedDuring(reported, report)).toMatchObject([
    { query: { page: '2' }, response: { status: 401 } }
  ])
  const text = await env.describeRequests()
  expect(text).toMatch(
    new RegExp(
      '^no requests\nrequests without a valid API key:\n' +
        ' {2}GET /v1/messages\\?page=2 401 no environment'
    )
  )
  expect(text).not.toContain('page=1')
})

test('reports requests that belong to no test, with their environment', async () => {
  const { server, mock } = await useConnectedMock()
  await createTest(mock)
  await server.get('/v1/subscribers')
  await server.get('/v1/messages', { key: null })
  const { tests, others, unauthenticated } = await mock.runRecord()
  expect(tests).toMatchObject([{ requests: [] }])
  expect(others).toMatchObject([
    { environment: 'Development', status: 404, flags: { unmocked: true } }
  ])
  expect(unauthenticated).toMatchObject([{ status: 401, response: { status: 401 } }])
})

test('lists an unauthenticated request only once, even if many tests were running', async () => {
  const { server, mock } = await useConnectedMock()
  for (let index = 0; index < 3; index++) await createTest(mock, `test ${index}`)
  await server.get('/v1/messages?page=77', { key: 'wrong' })
  const response = await server.get('/_mock/report')
  expect(response.text.match(/"page":"77"/g)).toHaveLength(1)
})

test('removing an environment is fast, because its requests are described later', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock)
  for (let index = 0; index < 50; index++) await send(`/v1/messages?limit=${50 + index}`)
  const describing = await processorTimeOf(() => mock.runRecord())
  const removing = await processorTimeOf(() => env.remove())
  expect(removing).toBeLessThan(describing / 3)
  expect((await mock.runRecord()).tests).toMatchObject([{ requests: { length: 50 } }])
})

async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const started = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(started)
  return user + system
}

/**
 * Creates a test for each outcome, each with a response of 16 KiB. Returns the server, and a
 * function that reads a report of at most `maxBytes`.
 */
async function createReport(...outcomes: ('failed' | 'passed')[]) {
  const server = await useNewMock()
  const { environments, coverage } = server.services
  const tests = new TestService(server.services)
  for (const [index, outcome] of outcomes.entries()) {
    const { environment, apiKey } = environments.create({ from: 'Development' })
    tests.begin(environment)
    tests.describe(environment, { title: `${outcome} ${index}`, outcome })
    await server.get('/v1/messages?limit=100', { key: apiKey })
  }
  const read = async (maxBytes: number): Promise<RunRecord> => {
    const head = { run: {} as RunRecord['run'], coverage: coverage.ofServer() }
    return JSON.parse(
      await text(reportJson({ ...server.services, tests }, head, { states: 'off', maxBytes }))
    )
  }
  return { server, read }
}

test('if the report would be too large, leaves out passed tests and counts them', async () => {
  const { read } = await createReport('passed', 'failed', 'passed', 'passed', 'passed')
  const { tests, dropped } = await read(200_000)
  const titles = tests.map(({ title }) => title)
  expect(titles).toEqual(['failed 1', 'passed 0', 'passed 2', 'passed 3', 'passed 4'])
  expect(dropped).toBe(0)
  // The 200 extra bytes allow for durations with more digits.
  const limited = await read(Buffer.byteLength(JSON.stringify(tests.slice(0, 4))) + 200)
  expect(limited.tests.map(({ title }) => title)).toEqual(titles.slice(0, 4))
  expect(limited.dropped).toBe(1)
})

test('lists only the newest unauthenticated requests if there are too many', async () => {
  const { server, read } = await createReport()
  for (const page of [1, 2, 3]) await server.get(`/v1/messages?page=${page}`, { key: null })
  const { unauthenticated } = await read(100_000)
  const size = Buffer.byteLength(JSON.stringify(unauthenticated.slice(1)))
  expect(await read(size * 4)).toMatchObject({
    unauthenticated: [{ query: { page: '2' } }, { query: { page: '3' } }],
    lost: 1
  })
})

test('writing a report yields to the event loop after each test', async () => {
  const { read } = await createReport('passed', 'passed', 'passed')
  let turns = 0
  let isOver = false
  setImmediate(function count() {
    turns += 1
    if (!isOver) setImmediate(count)
  })
  await read(1_000_000)
  isOver = true
  expect(turns).toBeGreaterThan(2)
})

test('hides keys in titles, errors, names and fault rules', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock, `with ${DEVELOPMENT}`)
  const { apiKey } = env
  await env.describeTest({
    title: `uses ${apiKey}`,
    error: `got "${apiKey}"`,
    file: `tests/${DEVELOPMENT}`
  })
  await env.faults.add({
    match: { headers: { 'x-key': apiKey } },
    effect: { status: 503, body: { of: DEVELOPMENT } }
  })
  await send(`/v1/messages?note=${apiKey}`)
  await send(setPrimary(MAILGUN), { method: 'POST' })
  const { credentials } = (await env.integrations.list()).find(
    ({ _id }) => _id === MAILGUN
  ) as never as {
    credentials: { apiKey: string }
  }
  expect(credentials.apiKey.length).toBeGreaterThan(5)
  const expectHidden = async () => {
    const text = JSON.stringify(await mock.runRecord())
    expect(text).toContain('uses ***')
    for (const secret of [apiKey, DEVELOPMENT, credentials.apiKey])
      expect(text.includes(secret)).toBe(false)
  }
  await expectHidden()
  await env.remove()
  await expectHidden()
})

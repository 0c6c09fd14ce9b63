import { expect, test } from 'vitest'
import { type ConnectedMock, connect } from '../../../src/client/index.js'
import { DEVELOPMENT, MAILGUN, SENDGRID, setPrimary } from '../../support/control.js'
import { type TestMock, useNewMock } from '../../support/mock.js'

async function useConnectedMock(): Promise<{ server: TestMock; mock: ConnectedMock }> {
  const server = await useNewMock()
  return { server, mock: connect(server.url) }
}

/** Creates an environment, and a function that sends requests with its key. */
async function createTest(mock: ConnectedMock, name = 'of a test') {
  const env = await mock.environment({ from: 'Development', name })
  const send = (path: string, init: RequestInit = {}) =>
    fetch(env.url + path, { ...init, headers: { ...env.headers, ...init.headers } })
  return { env, send }
}

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
      ...{ environment: 'of a test', duration: 12, lost: 0, unauthenticated: [] },
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

test('does not report a change as left over if the test itself undid it', async () => {
  const { mock } = await useConnectedMock()
  const { env, send } = await createTest(mock)
  for (const id of [MAILGUN, SENDGRID]) await send(setPrimary(id), { method: 'POST' })
  const [reported] = (await mock.runRecord()).tests
  expect(reported?.requests).toHaveLength(2)
  // Set-primary cleared the conditions of both integrations, so they still differ from the
  // baseline.
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

test('does not report a removed environment that was not used', async () => {
  const { mock } = await useConnectedMock()
  await (await createTest(mock, 'unused')).env.remove()
  const { tests, dropped } = await mock.runRecord()
  expect(tests).toEqual([])
  expect(dropped).toBe(0)
})

test('reports the unauthenticated requests that came after the start of the test', async () => {
  const { server, mock } = await useConnectedMock()
  await server.get('/v1/messages?page=1', { key: 'wrong' })
  const { env } = await createTest(mock)
  await server.get('/v1/messages?page=2', { key: 'wrong' })
  const [reported] = (await mock.runRecord()).tests
  expect(reported?.unauthenticated).toMatchObject([
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
  const { tests, others } = await mock.runRecord()
  expect(tests).toMatchObject([{ requests: [] }])
  expect(others).toMatchObject([
    { environment: 'Development', status: 404, flags: { unmocked: true } },
    { status: 401, response: { status: 401 } }
  ])
  expect(others[1]).not.toHaveProperty('environment')
})

test('keeps 200 records of removed environments, and drops passed tests first', async () => {
  const { mock } = await useConnectedMock()
  for (let index = 0; index < 203; index++) {
    const env = await mock.environment()
    await env.describeTest({ title: `${index}`, outcome: index < 2 ? 'failed' : 'passed' })
    await env.remove()
  }
  const { tests, dropped } = await mock.runRecord()
  expect([tests.length, dropped]).toEqual([200, 3])
  expect(tests.slice(0, 3).map(({ title }) => title)).toEqual(['0', '1', '5'])
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

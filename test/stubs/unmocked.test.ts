import { expect, test } from 'vitest'
import { addFault, journalOf } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'

const TRIGGER = '/v1/events/trigger'

test.each(['document', 'live'] as const)(
  'a path that is not mocked responds with 404 in the %s profile',
  async (profile) => {
    const mock = await useMock({ profile })
    const response = await mock.post(TRIGGER, { body: '{"name":"welcome"}' })
    expect(response).toMatchObject({
      status: 404,
      json: { statusCode: 404, message: 'POST /v1/events/trigger is not mocked', ctx: {} }
    })
    expect(response.headers.get('x-mock-reason')).toBe(
      'add a stub for it with POST /_mock/stubs, or start the server with --stubs novu-client ' +
        '(static responses) or --fallback <url> (forwards the request to another server)'
    )
  }
)

test('the response to a misspelled path suggests the correct path', async () => {
  const mock = await useMock()
  const response = await mock.get('/v1/mesages')
  expect(response.headers.get('x-mock-reason')).toMatch(/^did you mean \/v1\/messages\? Otherwise/)
})

test.each([null, 'nobody-has-this'])(
  'an unmocked path responds with 401 if the API key is missing or invalid (key: %s)',
  async (key) => {
    const mock = await useMock()
    expect((await mock.post(TRIGGER, { key })).status).toBe(401)
  }
)

test('with unserved-route=not-implemented, an unmocked path responds with 501', async () => {
  const mock = await useMock({ assumptions: { 'unserved-route': 'not-implemented' } })
  const response = await mock.post(TRIGGER)
  expect(response.status).toBe(501)
  expect(response.json.message).toBe('POST /v1/events/trigger is not mocked')
})

test('records the body of a request that is not mocked', async () => {
  const mock = await useMock()
  await mock.post(TRIGGER, { body: '{"name":"welcome"}' })
  expect(await journalOf(mock)).toMatchObject([
    {
      method: 'POST',
      path: TRIGGER,
      status: 404,
      body: '{"name":"welcome"}',
      flags: { unmocked: true }
    }
  ])
})

test('a fault rule with a method and a path applies to a request that is not mocked', async () => {
  const mock = await useMock()
  await addFault(mock, { match: { method: 'POST', path: TRIGGER }, effect: { status: 503 } })
  expect((await mock.get('/v1/messages')).status).toBe(200)
  expect((await mock.post(TRIGGER)).status).toBe(503)
  expect((await mock.post(TRIGGER)).status).toBe(404)
})

test('logs one warning for each method and path that is not mocked', async () => {
  const lines: { level: number; url: string }[] = []
  const { default: pino } = await import('pino')
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) })
  const mock = await useNewMock({ logger })
  for (const path of [TRIGGER, TRIGGER, '/v1/topics']) await mock.post(path)
  expect(lines.map(({ url }) => url)).toEqual([TRIGGER, '/v1/topics'])
})

test('a warning masks an API key in the path', async () => {
  const lines: string[] = []
  const { default: pino } = await import('pino')
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
  const mock = await useNewMock({ logger })
  await mock.get('/v1/subscribers/development-key')
  expect(lines).toEqual([expect.stringContaining('"url":"/v1/subscribers/***"')])
  expect(lines.join()).not.toContain('development-key')
})

test('logs at most 100 warnings', async () => {
  let warnings = 0
  const { default: pino } = await import('pino')
  const logger = pino({ level: 'warn' }, { write: () => (warnings += 1) })
  const mock = await useNewMock({ logger })
  for (let n = 0; n < 105; n++) await mock.get(`/v2/subscribers/${n}`)
  expect(warnings).toBe(100)
})

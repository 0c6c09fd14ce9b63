import { describe, expect, test } from 'vitest'
import { KEYS, SEED, useLoggedMock } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

const LENIENT = { seed: SEED, assumptions: { 'path-form': 'lenient' } }
const send = (url: string, method = 'GET', headers = {}) =>
  fetch(url, { method, headers: { authorization: `ApiKey ${KEYS.shop}`, ...headers } })

describe('with path-form set to lenient, a request with another spelling of a path', () => {
  test.each(['/v1/messages/?limit=1', '/V1/Messages?limit=1', '/V1/MESSAGES/?limit=1'])(
    'gets the same response as the usual spelling: %s',
    async (path) => {
      const { url } = await useMock(LENIENT)
      const usual = await send(`${url}/v1/messages?limit=1`)
      const other = await send(url + path)
      expect({ status: other.status, text: await other.text() }).toEqual({
        status: 200,
        text: await usual.text()
      })
      expect(other.headers.get('x-mock-reason')).toBe(
        `${path.split('?')[0]} is read as /v1/messages (assumption path-form)`
      )
    }
  )

  test('keeps the case of path parameters, and an error body has the path as sent', async () => {
    const { url } = await useMock(LENIENT)
    const response = await send(`${url}/V2/Workflows/Unknown-One/Steps/A/`)
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('Unknown-One'),
      path: '/V2/Workflows/Unknown-One/Steps/A/'
    })
  })

  test('is recorded once, under its operation, and counts as coverage', async () => {
    const mock = await useMock(LENIENT)
    await send(`${mock.url}/V1/Messages/`)
    const { json } = await mock.get('/_mock/requests')
    expect(json.requests).toMatchObject([
      { operation: 'listMessages', path: '/v1/messages', flags: {}, status: 200 }
    ])
    const coverage = (await mock.get('/_mock/coverage')).json
    const operations = coverage.operations.filter(({ requests }: { requests: number }) => requests)
    expect(operations).toMatchObject([{ operation: 'listMessages', requests: 1 }])
  })

  test('matches fault rules for the usual spelling', async () => {
    const mock = await useMock(LENIENT)
    const rule = { match: { path: '/v1/messages' }, effect: { status: 503 } }
    await mock.post('/_mock/faults', { body: JSON.stringify(rule) })
    expect((await send(`${mock.url}/V1/Messages/`)).status).toBe(503)
  })

  test('is a replay if its idempotency key was used with the usual spelling', async () => {
    const { url } = await useMock(LENIENT)
    const key = { 'idempotency-key': 'one' }
    await send(`${url}/v1/integrations/mailgun/set-primary`, 'POST', key)
    const replay = await send(`${url}/V1/Integrations/mailgun/Set-Primary/`, 'POST', key)
    expect(replay.status).toBe(200)
    expect(replay.headers.get('idempotency-replay')).toBe('true')
  })

  test('gets a 405 for a wrong method, and a 401 without an API key', async () => {
    const { url } = await useMock(LENIENT)
    const wrongMethod = await send(`${url}/V1/Messages/`, 'DELETE')
    expect(wrongMethod.status).toBe(405)
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD')
    expect((await fetch(`${url}/V1/Messages/`)).status).toBe(401)
  })

  test('writes one log line', async () => {
    const mock = await useLoggedMock({ assumptions: LENIENT.assumptions })
    await send(`${mock.url}/V1/Messages/`)
    // Close the server first, because it may log a response after the client has received it.
    await mock.app.close()
    const lines = mock.log.filter(({ statusCode }) => statusCode !== undefined)
    expect(lines.map(({ url }) => url)).toEqual(['/v1/messages'])
  })
})

test.each([
  ['lenient', 200],
  ['strict', 404]
])("with path-form set to %s, another spelling of a stub's path gets status %s", async (...row) => {
  const [value, status] = row
  const mock = await useMock({ seed: SEED, assumptions: { 'path-form': value } })
  const stub = { method: 'GET', path: '/v1/topics/{key}', body: { data: [] } }
  await mock.post('/_mock/stubs', { body: JSON.stringify(stub) })
  expect((await send(`${mock.url}/V1/Topics/news/`)).status).toBe(status)
})

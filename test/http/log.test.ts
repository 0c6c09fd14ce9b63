import { expect, test } from 'vitest'
import { KEYS, type LogLine, useLoggedMock } from '../support/logged-mock.js'

/** Returns the log lines with this level, without the fields that all lines have. */
const linesAt = (log: LogLine[], wanted: number) =>
  log.flatMap(({ level, time, pid, hostname, reqId, ...line }) => (level === wanted ? [line] : []))

const INFO = 30
const DEBUG = 20

test('a log line contains the URL, environment, status and duration of a request', async () => {
  const mock = await useLoggedMock()
  await mock.get('/v1/messages?channel=email')
  await mock.get('/v1/messages?page=-1', { key: KEYS.live })
  await mock.get('/messages', { key: null })
  const ms = expect.any(Number)
  expect(linesAt(mock.log, INFO)).toEqual([
    {
      ...{ method: 'GET', url: '/v1/messages?page=-1', environment: 'Live', statusCode: 422, ms },
      ...{ reason: expect.stringContaining('page'), msg: 'request rejected' }
    },
    {
      ...{ method: 'GET', url: '/messages', statusCode: 404, ms },
      ...{ reason: 'did you mean /v1/messages?', msg: 'request rejected' }
    }
  ])
  expect(linesAt(mock.log, DEBUG).filter(({ msg }) => msg === 'request completed')[0]).toEqual({
    ...{
      method: 'GET',
      url: '/v1/messages?channel=email',
      environment: 'Shop',
      statusCode: 200,
      ms
    },
    msg: 'request completed'
  })
})

test('writes one log line for each request, including replays and faults', async () => {
  const mock = await useLoggedMock()
  const keyed = { headers: { 'idempotency-key': 'one' } }
  await mock.get('/v1/messages')
  await mock.post('/v1/integrations/none/set-primary', keyed)
  await mock.post('/v1/integrations/none/set-primary', keyed)
  await mock.get('/v1/messages', { headers: { 'x-mock-fault': 'status=503' } })
  await mock.get('/v1/messages?page=%ff')
  await mock.get('/v1/%ff')
  // Close the server first, because it may log a response after the client has received it.
  await mock.app.close()
  const lines = mock.log.flatMap(({ url, statusCode, msg }) =>
    statusCode ? [`${statusCode} ${msg} ${url}`] : []
  )
  const ours = lines.filter((line) => !line.includes('openapi')).toSorted()
  expect(ours).toEqual([
    '200 request completed /v1/messages',
    '400 request rejected /v1/messages?page=%ff',
    '400 request rejected undefined',
    '404 request completed /v1/integrations/none/set-primary',
    '404 request rejected /v1/integrations/none/set-primary',
    '503 fault x-mock-fault: 503 /v1/messages'
  ])
})

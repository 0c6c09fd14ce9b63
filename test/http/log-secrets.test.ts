import { expect, test } from 'vitest'
import { KEYS, useLoggedMock } from '../support/logged-mock.js'
import { exchange } from './exchange.js'

const ADMIN_TOKEN = 'admin-token-77aa'
const ODD_KEY = 'a/b=c&d?e'
const OF_NOBODY = '0123456789abcdef0123456789abcdef'

/**
 * Places where a client may send a secret by mistake. Each request also has a valid `authorization`
 * header.
 */
const PLACES: [
  name: string,
  request: (secret: string) => { line: string; headers?: string; body?: string }
][] = [
  ['a path', (secret) => ({ line: `GET /v2/workflows/${secret}/steps/x` })],
  ['a path without a route', (secret) => ({ line: `GET /v1/${secret}/topics` })],
  ['an integration id', (secret) => ({ line: `POST /v1/integrations/${secret}/set-primary` })],
  [
    'an integration id and an idempotency key',
    (secret) => ({
      line: `POST /v1/integrations/${secret}/set-primary`,
      headers: `idempotency-key: ${secret}\r\n`
    })
  ],
  ['a query value', (secret) => ({ line: `GET /v1/messages?limit=${secret}` })],
  ['a parameter name', (secret) => ({ line: `GET /_mock/faults?${secret}=1` })],
  ['a snapshot name', (secret) => ({ line: `POST /_mock/snapshots/${secret}/restore` })],
  ['an environment name', (secret) => ({ line: `DELETE /_mock/environments/${secret}` })],
  [
    'a field name',
    (secret) => ({ line: 'POST /_mock/faults', body: JSON.stringify({ [secret]: 1 }) })
  ],
  [
    'a field value',
    (secret) => ({ line: 'POST /_mock/clock/advance', body: JSON.stringify({ by: secret }) })
  ],
  ['a fault', (secret) => ({ line: 'GET /v1/messages', headers: `x-mock-fault: ${secret}=1\r\n` })],
  ['malformed JSON', (secret) => ({ line: 'POST /_mock/faults', body: secret })],
  [
    'a seed',
    (secret) => ({
      line: 'POST /_mock/seed',
      body: JSON.stringify({ [secret]: [{ name: secret }] })
    })
  ],
  [
    'a request id',
    (secret) => ({ line: 'GET /v1/messages?limit=x', headers: `x-request-id: ${secret}\r\n` })
  ],
  ['a malformed path', (secret) => ({ line: `GET /v1/${secret}/%zz` })]
]

const ODD_PLACES = [
  'a path',
  'a path without a route',
  'an integration id',
  'a query value',
  'a snapshot name'
]

test('the log never contains a secret, wherever the client sent it', async () => {
  const mock = await useLoggedMock({ adminToken: ADMIN_TOKEN })
  mock.services.environments.addApiKey(mock.services.environments.find('Live'), ODD_KEY)
  const leaks: string[] = []
  for (const [place, requestOf] of PLACES) {
    const others = [
      ...(ODD_PLACES.includes(place) ? [ODD_KEY] : []),
      ...(place === 'a request id' ? [] : [OF_NOBODY])
    ]
    for (const secret of [...Object.values(KEYS), ADMIN_TOKEN, ...others]) {
      const { line, headers = '', body = '' } = requestOf(encodeURIComponent(secret))
      const head =
        `host: localhost\r\nauthorization: ApiKey ${KEYS.shop}\r\n` +
        `content-length: ${body.length}\r\n`
      mock.log.length = 0
      await exchange(mock, `${line} HTTP/1.1\r\n${head}${headers}\r\n${body}`)
      const log = JSON.stringify(mock.log)
      if (mock.log.length === 0) leaks.push(`the request with ${place} left no log line`)
      if (log.includes(secret) || log.includes(encodeURIComponent(secret)))
        leaks.push(`${secret} in ${place}: ${log}`)
    }
  }
  expect(leaks).toEqual([])
})

test('rejects a path with 30,000 segments quickly, and logs it in short lines', async () => {
  const mock = await useLoggedMock()
  const before = process.cpuUsage()
  const words = Array.from({ length: 30_000 }, (_, index) => `${index}`).join('/')
  expect((await mock.get(`/v1/${words}`)).status).toBe(404)
  // Measure CPU time instead of elapsed time, because other tests may run at the same time.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(3000)
  expect(mock.log.every((line) => JSON.stringify(line).length < 20_000)).toBe(true)
})

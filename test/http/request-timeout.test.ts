import { expect, test } from 'vitest'
import { KEYS, SEED } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'
import { connectTo } from './exchange.js'

const HEAD = `host: a\r\nauthorization: ApiKey ${KEYS.shop}\r\n`
const POST =
  `POST /v1/integrations/mailgun/set-primary HTTP/1.1\r\n${HEAD}` +
  'idempotency-key: one\r\ncontent-length: 2\r\n\r\n'

test('an incomplete request gets a 408, and its idempotency key can be used again', async () => {
  const mock = await useMock({ seed: SEED, requestTimeout: 100 })
  const slow = await connectTo(mock)
  slow.send(`${POST}{`)
  expect(await slow.answer()).toMatchObject({ status: 408 })
  // The server has closed the connection, so the rest of the body arrives too late.
  slow.send('}')
  expect(await slow.answer()).toBeUndefined()

  const next = await connectTo(mock)
  next.send(`${POST}{}`)
  const response = await next.answer()
  expect(response).toMatchObject({ status: 200 })
  expect(response?.headers.get('idempotency-replay')).toBeNull()
  next.socket.destroy()
})

test('the request timeout does not apply to slow responses or idle connections', async () => {
  const mock = await useMock({ seed: SEED, requestTimeout: 50 })
  const connection = await connectTo(mock)
  for (let count = 0; count < 2; count += 1) {
    connection.send(`GET /v1/messages HTTP/1.1\r\n${HEAD}x-mock-fault: delay=200\r\n\r\n`)
    expect(await connection.answer()).toMatchObject({ status: 200 })
  }
  connection.socket.destroy()
})

import { expect, test } from 'vitest'
import { expectConsistentDatasets } from '../control/environments/environment-client.js'
import { connectTo } from '../http/exchange.js'
import { KEYS, SEED } from '../support/logged-mock.js'
import { useMock } from '../support/mock.js'

const BODIES = {
  '/_mock/faults': { effect: { status: 503 } },
  '/_mock/requests/verify': { path: '/never', within: 60_000 },
  '/_mock/clock/advance': { by: 1000 },
  '/_mock/seed': { environments: [{ name: 'Shop' }] },
  '/_mock/reset': {},
  '/v1/integrations/mailgun/set-primary': {}
}

test.each(Object.entries(BODIES))(
  'a POST to %s gets 401 if its environment is removed before the body arrives',
  async (path, json) => {
    const mock = await useMock({ seed: SEED })
    const { environments, faults } = mock.services
    const environment = environments.find('Shop')
    const body = JSON.stringify(json)
    const head = [
      `POST ${path} HTTP/1.1`,
      'host: a',
      `authorization: ApiKey ${KEYS.shop}`,
      'idempotency-key: one',
      'expect: 100-continue',
      `content-length: ${body.length}`
    ]
    const connection = await connectTo(mock)
    connection.send(`${head.join('\r\n')}\r\n\r\n`)
    expect(await connection.answer()).toMatchObject({ status: 100 })
    environments.remove(environment)
    connection.send(body)
    expect(await connection.answer()).toMatchObject({ status: 401 })
    connection.socket.destroy()
    expect(faults.list(environment)).toEqual([])
    expectConsistentDatasets(mock.db)
  }
)

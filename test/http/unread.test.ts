import { expect, test } from 'vitest'
import { MessageQuery } from '../../src/messages/filters.js'
import { useMock } from '../support/mock.js'

const PROFILES = ['document', 'live'] as const
const STEP = '/v2/workflows/order-shipped/steps/email-step'
const SET_PRIMARY = '/v1/integrations/66f1c2a47c9b1a0012ad0001/set-primary'

test.each(PROFILES)(
  'every operation reports an unknown query parameter in the profile %s',
  async (profile) => {
    const mock = await useMock({ profile })
    const list = await mock.get('/v1/messages?chanel=email')
    expect(list.status).toBe(200)
    expect(list.headers.get('x-mock-reason')).toBe(
      'unknown parameter chanel; did you mean channel?'
    )
    expect(list.json.data).toHaveLength(10)
    const other = await mock.get('/v1/messages?verbose=1')
    const parameters = Object.keys(MessageQuery.properties).join(', ')
    expect(other.headers.get('x-mock-reason')).toBe(
      `unknown parameter verbose; the parameters are ${parameters}`
    )
    for (const response of [
      await mock.get(`${STEP}?limit=1`),
      await mock.post(`${SET_PRIMARY}?limit=1`)
    ]) {
      expect(response.status).toBe(200)
      expect(response.headers.get('x-mock-reason')).toBe(
        'unknown parameter limit; this operation has no query parameters'
      )
    }
  }
)

test('x-mock-reason reports an unknown parameter after all other reasons', async () => {
  const mock = await useMock()
  const reasonOf = async (path: string, headers = {}) =>
    (await mock.call(path, { method: path === SET_PRIMARY ? 'POST' : 'GET', headers })).headers.get(
      'x-mock-reason'
    )
  expect(await reasonOf('/v1/messages?subscriberId=nobody&pge=1')).toBe(
    'no message matches subscriberId (60 are in the environment); ' +
      'no subscriber has this subscriberId; unknown parameter pge; did you mean page?'
  )
  expect(await reasonOf('/v1/messages?limit=0&pge=1')).toMatch(
    /^limit must be .+; unknown parameter pge; did you mean page\?$/
  )
  expect(await reasonOf(`${STEP}x?a=1`)).toMatch(
    /has no step .+; unknown parameter a; this operation has no query parameters$/
  )
  expect(await reasonOf('/v1/messages?pge=1', { 'x-mock-fault': 'status=503' })).toMatch(
    /^injected by .+; unknown parameter pge/
  )
  const keyed = { headers: { 'idempotency-key': 'k' } }
  await mock.post(`${SET_PRIMARY}?a=1`, keyed)
  expect((await mock.post(`${SET_PRIMARY}?a=1`, keyed)).headers.get('x-mock-reason')).toMatch(
    /^replay of .+; unknown parameter a; this operation has no query parameters$/
  )
})

import { expect, test } from 'vitest'
import { addFault, DEVELOPMENT, journalOf, keylessJournalOf, send, setPrimary, verify } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

const GUARD = 10_000
const times = (count: number, part: (index: number) => string, separator = '&') =>
  Array.from({ length: count }, (_, index) => part(index)).join(separator)

/** Requests that took minutes to describe: with a query or a path of a quarter of a megabyte, or a body of 64 KiB. */
const REQUESTS: [name: string, path: string, body?: string][] = [
  ['60,001 times the same parameter', `/v1/messages?${times(60_001, () => 'a=x')}`],
  ['9,999 ids of transactions', `/v1/messages?${times(9999, (index) => `transactionId=t${index}`)}`],
  ['9,999 parameters', `/v1/messages?${times(9999, (index) => `p${index}=${index}`)}`],
  ['60,000 words', `/v1/messages?a=${times(60_000, (index) => index.toString(36), ',')}`],
  ['a value encoded 120,000 times over', `/v1/messages?a=%${'25'.repeat(120_000)}41`],
  ['a path of 250,000 characters', `/v1/${'a'.repeat(125_000)}/${'%41'.repeat(40_000)}`],
  ['a word that is cut', setPrimary('none'), `${'a'.repeat(65_000)}${' '.repeat(10_000)}`],
  ['a name of a secret in a name of a secret', setPrimary('none'), `"${'token'.repeat(13_000)}`],
  ['the same in a form', setPrimary('none'), `&${'token'.repeat(13_000)}`],
  ['texts that do not end', setPrimary('none'), `{${'"key":"\\"'.repeat(7000)}`]
]

test.each(REQUESTS)(
  'a request with %s is listed, verified and matched by a fault at once',
  async (_name, path, body) => {
    const mock = await givenMock()
    const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
    const request = () => fetch(mock.url + path, { headers, ...(body !== undefined && { method: 'POST', body }) })
    await request()
    const before = performance.now()
    expect(await journalOf(mock)).toHaveLength(1)
    expect((await verify(mock, { query: { z: '1' } })).status).toBe(417)
    await addFault(mock, { match: { headers: { 'x-a': 'b' } }, effect: { status: 503 } })
    expect((await request()).status).not.toBe(500)
    expect((await mock.get('/_mock/faults')).json.faults[0]).toMatchObject({ seen: 0 })
    expect(performance.now() - before).toBeLessThan(GUARD)
  }
)

test('a Forwarded header of a quarter of a megabyte is refused at once', async () => {
  const mock = await givenMock()
  const before = performance.now()
  for (const part of ['for=[:', 'for=[;', 'for="[', 'for=[a,']) {
    const headers = { forwarded: part.repeat(30_000) }
    expect((await mock.get('/_mock/environments', { headers })).status).toBe(403)
  }
  expect(performance.now() - before).toBeLessThan(GUARD)
  expect(await keylessJournalOf(mock)).toEqual([])
})

test('a field with a name of a megabyte is refused at once', async () => {
  const mock = await givenMock()
  const before = performance.now()
  expect((await send(mock, 'POST', '/_mock/faults', { ['x'.repeat(1_000_000)]: 1 })).status).toBe(422)
  expect(performance.now() - before).toBeLessThan(GUARD)
})

test.each<[string, object, string]>([
  [
    '600,000 fields',
    Object.fromEntries(Array.from({ length: 600_000 }, (_, index) => [`a${index}`, 1])),
    'body has an object of more than 20,000 fields'
  ],
  [
    'so many assumptions as one object may have fields',
    { assumptions: Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`a${index}`, 'x'])) },
    'assumptions must have at most 100 fields'
  ],
  ['400,000 fault rules, each wrong', { faults: Array(400_000).fill({ x: 1 }) }, 'faults must have at most 1000'],
  [
    '140,000 fault rules',
    { faults: Array(140_000).fill({ effect: { status: 503 } }) },
    'faults must have at most 1000'
  ],
  [
    'a rule with thousands of headers',
    {
      faults: [
        {
          effect: {
            status: 503,
            headers: Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`x-${index}`, '1']))
          }
        }
      ]
    },
    'faults[0].effect.headers must have at most 100 fields'
  ]
])('an environment with %s is refused with the limit, at once', async (_name, body, message) => {
  const mock = await givenMock()
  const before = performance.now()
  const refused = await send(mock, 'POST', '/_mock/environments', body)
  expect(performance.now() - before).toBeLessThan(GUARD)
  expect(refused.status).toBe(422)
  const messages = Object.values<{ messages: string[] }>(refused.json.errors).flatMap((each) => each.messages)
  expect(messages[0]).toContain(message)
  expect(messages.length).toBeLessThanOrEqual(100)
})

test('others are answered while many such requests are described', async () => {
  const mock = await givenMock()
  const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
  const send = (index: number) => fetch(`${mock.url}${REQUESTS[3]?.[1]}&index=${index}`, { headers })
  for (let index = 0; index < 20; index++) await (await send(index)).arrayBuffer()
  for (const look of [() => verify(mock, { query: { z: '1' } }), () => journalOf(mock)]) {
    const order: string[] = []
    const looking = look().then(() => order.push('look'))
    await mock.get('/health').then(() => order.push('health'))
    await looking
    expect(order).toEqual(['health', 'look'])
    await mock.call('/_mock/requests', { method: 'DELETE' })
    for (let index = 0; index < 20; index++) await (await send(index)).arrayBuffer()
  }
})

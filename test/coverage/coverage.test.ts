import { expect, test } from 'vitest'
import type { Coverage, CoverageItem } from '../../src/coverage/schemas.js'
import {
  addFault,
  create,
  DEVELOPMENT,
  OTHER_ORGANIZATION,
  PRODUCTION,
  SENDGRID,
  setPrimary
} from '../support/control.js'
import { itemsOf } from '../support/coverage.js'
import { type TestMock, useMock } from '../support/mock.js'

async function coverageOf(mock: TestMock, key = DEVELOPMENT): Promise<Coverage> {
  return (await mock.get('/_mock/coverage', { key })).json
}

async function serverCoverage(mock: TestMock): Promise<Coverage> {
  return (await mock.get('/_mock/coverage/server')).json
}

async function countsOf(mock: TestMock, id: string) {
  const { count, injected, covered } = itemsOf(await coverageOf(mock)).find(
    (item) => item.id === id
  ) as CoverageItem
  return { count, injected, covered }
}

test('counts parameters, values and headers only in requests that get a 200', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?channel=sms&limit=-1')
  expect(await countsOf(mock, 'listMessages.value.channel=sms')).toEqual({
    count: 0,
    injected: 0,
    covered: false
  })
  await mock.get('/v1/messages?channel=sms&subscriberId=&transactionId[]=a')
  expect(await countsOf(mock, 'listMessages.value.channel=sms')).toEqual({
    count: 1,
    injected: 0,
    covered: true
  })
  expect(await countsOf(mock, 'listMessages.query.channel')).toMatchObject({ count: 1 })
  expect(await countsOf(mock, 'listMessages.query.subscriberId')).toMatchObject({ count: 0 })
  expect(await countsOf(mock, 'listMessages.query.limit')).toMatchObject({ count: 0 })
  expect(await countsOf(mock, 'listMessages.list.transactionId.several')).toMatchObject({
    count: 0
  })
  await mock.post(setPrimary('none'), { headers: { 'idempotency-key': 'a' } })
  await mock.post(setPrimary(SENDGRID))
  expect(await countsOf(mock, 'setIntegrationAsPrimary.header.idempotency-key')).toMatchObject({
    count: 0
  })
  await mock.post(setPrimary(SENDGRID), { headers: { 'idempotency-key': 'b' } })
  expect(await countsOf(mock, 'setIntegrationAsPrimary.header.idempotency-key')).toMatchObject({
    count: 1
  })
})

test('counts injected responses separately, and only an injected 500 as coverage', async () => {
  const mock = await useMock()
  for (const status of [404, 500, 503]) {
    await addFault(mock, { operation: 'setIntegrationAsPrimary', effect: { status } })
    await mock.post(setPrimary(SENDGRID))
  }
  const injected = { count: 0, injected: 1 }
  expect(await countsOf(mock, 'setIntegrationAsPrimary.status.404')).toEqual({
    ...injected,
    covered: false
  })
  expect(await countsOf(mock, 'setIntegrationAsPrimary.status.500')).toEqual({
    ...injected,
    covered: true
  })
  const [setPrimaryCoverage] = (await coverageOf(mock)).operations
  expect(setPrimaryCoverage?.others).toEqual([{ status: 503, count: 0, injected: 1 }])
})

test('lists unknown parameters and up to 20 unmocked paths, and masks API keys', async () => {
  const mock = await useMock()
  await mock.get(`/v1/topics/${PRODUCTION}?a=1`)
  await mock.call('/v1/messages', { method: 'POST' })
  await mock.call('/v1/messages', { method: 'POST' })
  await mock.get(`/v1/messages?chanel=email&${PRODUCTION}=1&channel=email`)
  const { requests, unmocked, operations } = await coverageOf(mock)
  expect([requests, unmocked]).toEqual([
    4,
    {
      requests: 3,
      targets: [
        { method: 'GET', path: '/v1/topics/***', requests: 1 },
        { method: 'POST', path: '/v1/messages', requests: 2 }
      ]
    }
  ])
  const unknownParameters = operations.flatMap(({ operation, unknownParameters }) =>
    unknownParameters.map((each) => ({ operation, ...each }))
  )
  expect(unknownParameters).toEqual([
    { operation: 'listMessages', parameter: 'chanel', requests: 1 },
    { operation: 'listMessages', parameter: '***', requests: 1 }
  ])
  const tooMany = Array.from(
    { length: unmocked.targets.length + 20 },
    (_, index) => `/v1/none-${index}`
  )
  for (const path of tooMany) await mock.get(path)
  const later = (await coverageOf(mock)).unmocked
  expect([later.requests, later.targets.length]).toEqual([unmocked.requests + tooMany.length, 20])
})

test("the server's coverage includes removed environments and requests without a key", async () => {
  const mock = await useMock()
  const { environmentId, apiKey } = (await create(mock, { from: 'Development' })).json
  await mock.get('/v1/messages?channel=sms', { key: apiKey })
  await mock.get('/v1/messages', { key: PRODUCTION })
  await mock.get('/v1/messages', { key: null })
  const requests = async (key: string) => (await coverageOf(mock, key)).requests
  expect([await requests(apiKey), await requests(PRODUCTION), await requests(DEVELOPMENT)]).toEqual(
    [1, 1, 0]
  )
  await mock.call(`/_mock/environments/${environmentId}`, { method: 'DELETE' })
  await mock.call('/v1/messages', { method: 'HEAD' })
  const server = await serverCoverage(mock)
  expect(server.requests).toBe(3)
  const coveredItems = itemsOf(server).filter(({ covered }) => covered)
  expect(coveredItems.map(({ name }) => name)).toEqual([
    'called',
    '200',
    '401',
    'channel',
    'channel=sms'
  ])
})

test('DELETE clears the coverage of one environment or of the whole server', async () => {
  const mock = await useMock()
  for (const key of [DEVELOPMENT, OTHER_ORGANIZATION]) await mock.get('/v1/messages', { key })
  expect((await mock.call('/_mock/coverage', { method: 'DELETE' })).status).toBe(204)
  const requests = async () => [
    (await coverageOf(mock)).requests,
    (await coverageOf(mock, OTHER_ORGANIZATION)).requests,
    (await serverCoverage(mock)).requests
  ]
  expect(await requests()).toEqual([0, 1, 2])
  expect((await mock.call('/_mock/coverage/server', { method: 'DELETE' })).status).toBe(204)
  expect(await requests()).toEqual([0, 0, 0])
  await mock.get('/v1/messages')
  expect(await requests()).toEqual([1, 0, 1])
})

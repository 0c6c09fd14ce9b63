import { expect, test } from 'vitest'
import { mergeCoverage } from '../../src/coverage/merge.js'
import type { Coverage } from '../../src/coverage/schemas.js'
import { create, MAILGUN, setPrimary } from '../support/control.js'
import { type TestMock, type TestRequest, useMock } from '../support/mock.js'

type Sent = [path: string, request?: TestRequest]

/** Sends the requests, and returns the coverage of only these requests. */
async function coverageOf(mock: TestMock, requests: readonly Sent[]): Promise<Coverage> {
  for (const [path, request] of requests) await mock.call(path, request)
  const { json } = await mock.get('/_mock/coverage/server')
  await mock.call('/_mock/coverage/server', { method: 'DELETE' })
  return json
}

const FIRST: readonly Sent[] = [
  ['/v1/messages?channel=sms'],
  ['/v1/messages?chanel=sms'],
  ['/v1/messages', { headers: { 'x-mock-fault': 'status=500' } }],
  ['/v1/topics']
]
const SECOND: readonly Sent[] = [
  [setPrimary(MAILGUN), { method: 'POST' }],
  ['/v1/messages?channel=sms&chanel=sms'],
  ['/v1/messages', { headers: { 'x-mock-fault': 'status=503' } }],
  ['/v1/messages', { key: 'wrong' }],
  ['/v1/topics'],
  ['/v1/subscribers']
]

test('the merged coverage of two runs equals the coverage of one combined run', async () => {
  const mock = await useMock()
  const runs = [await coverageOf(mock, FIRST), await coverageOf(mock, SECOND)]
  const together = await coverageOf(mock, [...FIRST, ...SECOND])
  expect(mergeCoverage(runs)).toEqual(together)
  expect(together.covered).toBeGreaterThan(Math.max(...runs.map(({ covered }) => covered)))
})

test('a run without requests adds no items to the merged coverage', async () => {
  const mock = await useMock()
  const unused = await coverageOf(mock, [])
  const { apiKey } = (await create(mock, { from: 'Development', profile: 'live' })).json
  const used = await coverageOf(mock, [['/v1/messages', { key: apiKey }]])
  expect(used.total).not.toBe(unused.total)
  expect(mergeCoverage([unused, used]).total).toBe(used.total)
})

test('merging two runs without requests returns the coverage of one run', async () => {
  const mock = await useMock()
  const unused = await coverageOf(mock, [])
  expect(mergeCoverage([unused, unused])).toEqual(unused)
})

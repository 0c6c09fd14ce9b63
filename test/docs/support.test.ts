import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEVELOPMENT, SENDGRID, setPrimary } from '../support/control.js'
import { givenMock } from '../support/mock.js'
import { shownSoFar, staleCitations, startNoting } from '../support/shown.js'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/support.md'), 'utf8')

test('what an answer shows is noted with the profile of its environment, and what it does not show is not', async () => {
  const live = await givenMock({ profile: 'live' })
  const mixed = await givenMock({ assumptions: { envelope: 'data' } })
  startNoting()
  await ask(`${live.url}/v1/messages?channel=sms&limit=0`, { 'idempotency-key': 'one' })
  await ask(mixed.url + setPrimary(SENDGRID), {}, 'POST')
  await ask(`${mixed.url}/v1/messages`, { authorization: '' })
  await ask(`${mixed.url}/_mock/requests`)
  await ask(`${mixed.url}/v1/nothing`)

  const shown = shownSoFar()
  expect(shown).toMatchObject({
    'listMessages.query.limit': ['live'],
    'listMessages.request.idempotency-key': ['live'],
    'listMessages.response.www-authenticate': [],
    'listMessages.status.200': ['live'],
    'listMessages.status.401': [],
    'listMessages.value.channel=sms': ['live'],
    'register.envelope=data': ['mixed'],
    'setIntegrationAsPrimary.path.integrationId._id': ['mixed'],
    'setIntegrationAsPrimary.status.200': ['mixed'],
    'unserved.501': ['mixed']
  })
  for (const name of ['listMessages.status.422', 'listMessages.query.page', 'register.envelope=bare']) {
    expect(shown).not.toHaveProperty([name])
  }
})

test('an injected answer shows nothing but the 500', async () => {
  const { url } = await givenMock({ profile: 'live', faultHeader: true })
  startNoting()
  for (const effect of ['status=401', 'status=500']) {
    await ask(`${url}/v1/messages?page=0`, { 'x-mock-fault': effect })
  }
  expect(shownSoFar()).toEqual({ 'listMessages.status.500': ['live'] })
})

test('a citation is stale when its row, or its profile, was not shown', () => {
  const cited = { one: ['document' as const, 'live' as const], two: [], three: ['mixed' as const] }
  expect(staleCitations(cited, { one: ['document', 'live'], two: [], three: ['mixed'], more: [] })).toEqual([])
  expect(staleCitations(cited, { one: ['live'], three: ['mixed'] })).toEqual(['one, profile document', 'two'])
})

test('docs/support.md names only tests that there are', () => {
  const files = [...page.matchAll(/`(?:test\/)?([\w./-]+\.test\.ts|[\w-]+\/)`/g)].map(([, name = '']) => name)
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter((name) => !existsSync(join(root, 'test', name)))).toEqual([])
})

async function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<void> {
  const response = await fetch(url, { method, headers: { authorization: `ApiKey ${DEVELOPMENT}`, ...headers } })
  await response.arrayBuffer()
}

import { expect, test } from 'vitest'
import { DEVELOPMENT, MAILGUN, SENDGRID, send, setPrimary } from '../../support/control.js'
import { type TestMock, useMock } from '../../support/mock.js'
import { createEnvironment, stateOf } from '../environments/environment-client.js'

const SPARE = { providerId: 'ses', channel: 'email', name: 'Spare mail' }

const add = (mock: TestMock, integration: object) =>
  send(mock, 'POST', '/_mock/integrations', integration)
const change = (mock: TestMock, id: string, patch: object) =>
  send(mock, 'PATCH', `/_mock/integrations/${id}`, patch)
const list = async (mock: TestMock, key = DEVELOPMENT) =>
  (await mock.get('/_mock/integrations', { key })).json.integrations

test('an added integration is in the list, and can be made primary', async () => {
  const mock = await useMock()
  const added = await add(mock, SPARE)
  expect([added.status, added.json.identifier]).toEqual([201, 'spare-mail'])
  expect(added.json).toMatchObject({
    ...SPARE,
    active: true,
    primary: false,
    deleted: false,
    credentials: {}
  })
  expect((await list(mock)).at(-1)).toEqual(added.json)
  expect((await mock.post(setPrimary('spare-mail'))).json).toEqual({
    ...added.json,
    primary: true,
    conditions: []
  })
  expect(
    (await stateOf(mock, DEVELOPMENT)).integrations?.find(({ _id }) => _id === SENDGRID)?.primary
  ).toBe(false)
})

test.each([
  ['a second primary for a channel', { ...SPARE, primary: true }, 422, 'primary'],
  ['no provider', { channel: 'email' }, 422, 'body'],
  ['an unknown channel', { ...SPARE, channel: 'mail' }, 422, 'channel'],
  ['an unknown field', { ...SPARE, provider: 'x' }, 422, 'provider'],
  ['an invalid timestamp', { ...SPARE, deleted: true, deletedAt: 'noon' }, 422, 'deletedAt'],
  [
    'a deletion time but no `deleted: true`',
    { ...SPARE, deletedAt: '2026-01-01' },
    422,
    'deletedAt'
  ],
  ['a taken identifier', { ...SPARE, identifier: 'sendgrid-main' }, 409, undefined],
  ['a taken id', { ...SPARE, _id: SENDGRID }, 409, undefined]
])('rejects an integration with %s and adds nothing', async (_title, body, status, field) => {
  const mock = await useMock()
  const before = await stateOf(mock, DEVELOPMENT)
  const response = await add(mock, body)
  expect([response.status, Object.keys(response.json.errors ?? {})]).toEqual([
    status,
    field ? [field] : []
  ])
  expect(await stateOf(mock, DEVELOPMENT)).toEqual(before)
})

test('does not repeat a credential of the wrong type in the error', async () => {
  const mock = await useMock()
  const seed = { integrations: [{ ...SPARE, credentials: { password: 987654321 } }] }
  for (const response of [
    await add(mock, { ...SPARE, credentials: { apiKey: ['SG.secret'] } }),
    await change(mock, SENDGRID, { credentials: 'SG.secret' }),
    await change(mock, SENDGRID, { credentials: 987654321 }),
    await send(mock, 'POST', '/_mock/environments', { apiKey: 987654321 }),
    await send(mock, 'POST', '/_mock/environments', { seed })
  ]) {
    expect(response.status).toBe(422)
    expect(response.text + response.headers.get('x-mock-reason')).not.toMatch(
      /SG\.secret|987654321/
    )
  }
  const { text } = await change(mock, SENDGRID, { credentials: { password: 987654321 } })
  expect(text).toContain('credentials.password must be a string, not a number: put it in quotes')
})

test('a change by id or identifier keeps the other fields and the list position', async () => {
  const mock = await useMock()
  const before = await list(mock)
  const [first] = before
  const credentials = { apiKey: 'SG.other' }
  expect((await change(mock, SENDGRID, { name: 'Other', credentials })).json).toEqual({
    ...first,
    name: 'Other',
    credentials
  })
  const { json } = await change(mock, 'sendgrid-main', { identifier: 'mail', configurations: null })
  const { configurations, ...expected } = {
    ...first,
    name: 'Other',
    credentials,
    identifier: 'mail'
  }
  expect(json).toEqual(expected)
  expect(await list(mock)).toEqual([json, ...before.slice(1)])
  expect((await mock.post(setPrimary('mail'))).status).toBe(200)
  expect((await mock.post(setPrimary('sendgrid-main'))).status).toBe(404)
})

test('a change can give a channel its first primary, but not a second one', async () => {
  const mock = await useMock()
  const response = await change(mock, MAILGUN, { primary: true })
  expect([response.status, Object.keys(response.json.errors)]).toEqual([422, ['primary']])
  expect(response.text).toContain(
    'primary must be false: channel email already has the primary integration sendgrid-main'
  )
  await change(mock, SENDGRID, { primary: false })
  expect((await change(mock, MAILGUN, { primary: true })).json.primary).toBe(true)
  // Set-primary still works after control requests have changed `primary`.
  expect((await mock.post(setPrimary(SENDGRID))).json.primary).toBe(true)
})

test('rejects a taken identifier, a new id, and a change to an unknown integration', async () => {
  const mock = await useMock()
  expect((await change(mock, MAILGUN, { identifier: 'sendgrid-main' })).status).toBe(409)
  expect((await change(mock, MAILGUN, { _id: SENDGRID })).status).toBe(422)
  expect((await change(mock, 'none', {})).status).toBe(404)
})

test('removing a primary leaves its channel without a primary until a reset', async () => {
  const mock = await useMock()
  const before = await list(mock)
  const remove = () => mock.call('/_mock/integrations/sendgrid-main', { method: 'DELETE' })
  expect((await remove()).status).toBe(204)
  expect((await remove()).status).toBe(404)
  expect(await list(mock)).toEqual(before.slice(1))
  expect((await mock.post(setPrimary(SENDGRID))).status).toBe(404)
  await mock.post('/_mock/reset')
  expect(await list(mock)).toEqual(before)
})

test('the list hides credentials if the assumption `credentials` is `hidden`', async () => {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { from: 'Development', profile: 'live' })
  const primary = (await mock.post(setPrimary(SENDGRID), { key })).json.data
  expect((await list(mock, key))[0]).toEqual(primary)
  expect(primary.credentials).toEqual({})
  const stored = await stateOf(mock, key)
  expect(stored.integrations?.[0]?.credentials).not.toEqual({})
})

test('retrieveWorkflowStep accepts the ids in the list of workflows', async () => {
  const mock = await useMock()
  const { workflows } = (await mock.get('/_mock/workflows')).json
  expect(workflows).toHaveLength(9)
  const [{ _id, identifier, slug, steps }] = workflows
  for (const workflow of [_id, identifier, slug]) {
    for (const name of [steps[0]._id, steps[0].stepId, steps[0].slug]) {
      const { json } = await mock.get(`/v2/workflows/${workflow}/steps/${name}`)
      expect(json).toMatchObject({ ...steps[0], workflowId: identifier, workflowDatabaseId: _id })
    }
  }
  const { apiKey: key } = await createEnvironment(mock, { from: 'Development', profile: 'live' })
  const { text } = await mock.get('/_mock/workflows', { key })
  expect([text.includes('"novu-cloud'), text.includes('"service-cloud')]).toEqual([true, false])
})

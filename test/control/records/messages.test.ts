import { expect, test } from 'vitest'
import { DEVELOPMENT, journalOf, send } from '../../support/control.js'
import { type TestMock, useMock } from '../../support/mock.js'
import { stateOf } from '../environments/environment-client.js'

/** A time that is later than the `createdAt` of every message in the default seed. */
const LATER = '2099-01-01T00:00:00.000Z'
const ID = '000000000000000000000001'

const add = (mock: TestMock, message: object, key?: string) =>
  send(mock, 'POST', '/_mock/messages', message, key)
const change = (mock: TestMock, id: string, patch: object) =>
  send(mock, 'PATCH', `/_mock/messages/${id}`, patch)
const list = async (mock: TestMock, query = '', key = DEVELOPMENT) =>
  (await mock.get(`/v1/messages?limit=1000${query}`, { key })).json

test('an added message is first in the list and has the current time', async () => {
  const mock = await useMock()
  await send(mock, 'PUT', '/_mock/clock', { mode: 'fixed', at: LATER })
  await list(mock, '&subscriberId=user-ada')
  const seed = {
    subscriberId: 'user-ada',
    workflow: 'order-shipped',
    channel: 'email',
    subject: 'New'
  }
  const first = await add(mock, seed)
  const second = await add(mock, { ...seed, subject: 'Newer' })

  expect([first.status, second.status]).toEqual([201, 201])
  expect(first.json).toMatchObject({
    createdAt: LATER,
    subject: 'New',
    email: 'ada@example.com',
    providerId: 'sendgrid',
    templateIdentifier: 'order-shipped',
    subscriber: { subscriberId: 'user-ada' }
  })
  const { data, totalCount } = await list(mock)
  expect(totalCount).toBe(62)
  expect(data.slice(0, 2)).toEqual([second.json, first.json])
  expect((await list(mock, '&subscriberId=user-ada')).data[0]).toEqual(second.json)
  expect(second.json.transactionId).not.toBe(first.json.transactionId)
  expect((await journalOf(mock)).filter(({ path }) => path.includes('_mock'))).toEqual([])
})

const REJECTED: [
  title: string,
  message: object,
  status: number,
  field?: string,
  reason?: RegExp
][] = [
  ['no channel', {}, 422, 'body'],
  ['an unknown field', { channel: 'sms', subjct: 'x' }, 422, 'subjct', /did you mean subject/],
  [
    'an unknown subscriber',
    { channel: 'sms', subscriberId: 'user-adda' },
    422,
    'subscriberId',
    /user-ada\?/
  ],
  [
    'an unknown workflow',
    { channel: 'sms', workflow: 'order-shiped' },
    422,
    'workflow',
    /order-shipped\?/
  ],
  ['an invalid timestamp', { channel: 'sms', createdAt: 'noon' }, 422, 'createdAt'],
  ['an error text but no error status', { channel: 'sms', errorText: 'x' }, 422, 'errorText'],
  ['a taken id', { channel: 'sms', _id: '' }, 409]
]

test.each(REJECTED)('rejects a message with %s and adds nothing', async (...row) => {
  const [, message, status, field, reason = /./] = row
  const mock = await useMock()
  const before = await stateOf(mock, DEVELOPMENT)
  const _id = before.messages?.[0]?._id
  const response = await add(mock, { ...message, ...('_id' in message && { _id }) })
  expect(response.status).toBe(status)
  expect(Object.keys(response.json.errors ?? {})).toEqual(field === undefined ? [] : [field])
  expect(response.headers.get('x-mock-reason')).toMatch(reason)
  expect(await stateOf(mock, DEVELOPMENT)).toEqual(before)
})

test('changing a message keeps its other fields, and filters match its new values', async () => {
  const mock = await useMock()
  await add(mock, {
    _id: ID,
    channel: 'email',
    subject: 'Old',
    subscriberId: 'user-ada',
    workflow: 'order-shipped'
  })
  const changed = await change(mock, ID, {
    channel: 'sms',
    subscriberId: 'user-kenji',
    transactionId: 'other',
    contextKeys: ['tenant:x'],
    createdAt: '2001-01-01',
    read: true
  })
  expect(changed.status, changed.text).toBe(200)
  expect(changed.json).toMatchObject({
    subject: 'Old',
    read: true,
    createdAt: '2001-01-01T00:00:00.000Z'
  })
  expect(changed.json).toMatchObject({
    subscriber: { subscriberId: 'user-kenji' },
    templateIdentifier: 'order-shipped'
  })
  expect(changed.json.email).not.toBe('ada@example.com')
  const filtered = await list(
    mock,
    '&channel=sms&subscriberId=user-kenji&transactionId=other&contextKeys=tenant:x'
  )
  expect(filtered.data).toEqual([changed.json])
  expect((await list(mock)).data.at(-1)).toEqual(changed.json)
  const state = await stateOf(mock, DEVELOPMENT)
  expect(state.messages?.at(-1)?._id).toBe(ID)
})

test('changing a field to null removes it, unless the API reference allows null', async () => {
  const mock = await useMock()
  await add(mock, {
    _id: ID,
    channel: 'email',
    status: 'error',
    errorText: 'bounced',
    subscriberId: 'user-ada'
  })
  const response = await change(mock, ID, { status: 'sent' })
  expect([response.status, Object.keys(response.json.errors)]).toEqual([422, ['errorText']])
  const { json } = await change(mock, ID, {
    status: 'sent',
    errorText: null,
    subscriberId: null,
    _templateId: null
  })
  expect(json).toMatchObject({ status: 'sent', _templateId: null })
  expect(['errorText', 'subscriber', 'email'].filter((field) => field in json)).toEqual([])
})

test.each([
  ['the id', { _id: ID }, '_id'],
  ['an unknown field', { subjct: 'x' }, 'subjct'],
  ['a flag to a string', { read: 'yes' }, 'read'],
  ['a required field to null', { channel: null }, 'body'],
  ['the workflow to an unknown workflow', { workflow: 'none' }, 'workflow']
])('rejects a change of %s and changes nothing', async (_what, patch, field) => {
  const mock = await useMock()
  const { json } = await add(mock, { channel: 'email' })
  const response = await change(mock, json._id, patch)
  expect([response.status, Object.keys(response.json.errors)]).toEqual([422, [field]])
  expect((await list(mock)).data[0]).toEqual(json)
})

test('a removed message is not found until the next reset', async () => {
  const mock = await useMock()
  const [{ _id }] = (await list(mock)).data
  const remove = () => mock.call(`/_mock/messages/${_id}`, { method: 'DELETE' })
  expect((await remove()).status).toBe(204)
  expect((await list(mock)).totalCount).toBe(59)
  expect((await remove()).json.message).toBe(`Message with id ${_id} not found`)
  expect((await change(mock, _id, {})).status).toBe(404)
  await mock.post('/_mock/reset')
  expect((await list(mock)).data[0]._id).toBe(_id)
})

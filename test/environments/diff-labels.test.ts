import { expect, test } from 'vitest'
import type { EnvironmentDiff } from '../../src/client/index.js'
import { createEnvironment } from '../control/environments/environment-client.js'
import { KEYS, useLoggedMock } from '../support/logged-mock.js'
import { type TestMock, useMock } from '../support/mock.js'
import { seedOf } from '../support/shop.js'

const MAIL = {
  stepId: 'mail',
  name: 'Order mail',
  type: 'email' as const,
  controlValues: { subject: 'Old' }
}
const SHIPPED = 'a'.repeat(24)

const SEED = seedOf({
  integrations: [
    { identifier: 'ses', name: 'Amazon SES', providerId: 'ses', channel: 'email', primary: true }
  ],
  subscribers: [{ subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' }],
  workflows: [{ identifier: 'order', name: 'Order', steps: [MAIL] }],
  messages: [{ _id: SHIPPED, channel: 'email', subject: 'Shipped' }]
})

const diffOf = async (mock: Pick<TestMock, 'get'>, key: string): Promise<EnvironmentDiff> =>
  (await mock.get('/_mock/diff', { key })).json

async function useSeededMock() {
  const mock = await useMock()
  const { apiKey: key } = await createEnvironment(mock, { seed: SEED })
  const add = async (message: object): Promise<string> =>
    (await mock.post('/_mock/messages', { key, body: JSON.stringify(message) })).json._id
  return { mock, key, add }
}

test('a diff describes removed records by their names and subjects', async () => {
  const { mock, key } = await useSeededMock()
  await mock.call('/_mock/snapshots/before', { method: 'PUT', key })
  await mock.post('/_mock/seed?mode=replace', { key, body: JSON.stringify(seedOf({})) })
  const { json } = await mock.get('/_mock/snapshots/before/diff', { key })
  const { integrations, subscribers, workflows, messages }: EnvironmentDiff = json
  expect([integrations, subscribers, workflows, messages].map(({ labels }) => labels)).toEqual([
    { ses: 'Amazon SES' },
    { ada: 'Ada Lovelace' },
    { order: 'Order' },
    { [SHIPPED]: 'email: Shipped' }
  ])
})

test.each([
  ['its channel and subject', { channel: 'email', subject: 'Hi', content: 'Tea?' }, 'email: Hi'],
  ['its channel and text', { channel: 'sms', content: 'Tea\nis  ready' }, 'sms: Tea is ready'],
  ['its channel and text without tags', { channel: 'email', content: '<p>Tea</p>' }, 'email: Tea'],
  [
    'its channel and the start of a long text',
    { channel: 'sms', content: 'x'.repeat(500) },
    `sms: ${'x'.repeat(100)}…`
  ],
  ['only its channel, if it has no content', { channel: 'push', content: '' }, 'push']
])('a diff describes a message by %s', async (_, message, label) => {
  const { mock, key, add } = await useSeededMock()
  const id = await add(message)
  expect((await diffOf(mock, key)).messages.labels).toEqual({ [id]: label })
})

test('a diff names the step that contains a changed field', async () => {
  const { mock, key } = await useSeededMock()
  const steps = [{ ...MAIL, controlValues: { subject: 'New' } }]
  const body = JSON.stringify({ workflows: [{ identifier: 'order', name: 'Order', steps }] })
  await mock.post('/_mock/seed', { key, body })
  const { labels, changed } = (await diffOf(mock, key)).workflows
  expect(labels).toEqual({ order: 'Order' })
  expect(changed.fields).toContainEqual(
    expect.objectContaining({ step: 'Order mail', field: 'steps.mail.controlValues.subject' })
  )
})

test('a diff masks secrets in labels, even a secret that shortening would cut in two', async () => {
  const mock = await useLoggedMock()
  const content = `${'x'.repeat(95)} ${KEYS.live}`
  await mock.post('/_mock/messages', {
    key: KEYS.live,
    body: JSON.stringify({ channel: 'sms', content })
  })
  const { labels = {} } = (await diffOf(mock, KEYS.live)).messages
  expect(Object.values(labels)).toEqual([`sms: ${'x'.repeat(95)} ***`])
})

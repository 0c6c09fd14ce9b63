import { Novu } from '@novu/api'
import { describe, expect, test } from 'vitest'
import { STUB_SETS } from '../../src/domain/stub.js'
import { OPERATIONS } from '../../src/operations.js'
import { readStubSet } from '../../src/stubs/built-in.js'
import { findStubProblems } from '../../src/stubs/checks.js'
import { create } from '../support/control.js'
import { useMock } from '../support/mock.js'

const topicKey = 'news'
const to = { subscriberId: 'ada' }

/** The calls that products make most often, besides the three operations. */
const CALLS: Record<string, (novu: Novu) => Promise<unknown>> = {
  trigger: (novu) => novu.trigger({ workflowId: 'welcome', to }),
  'trigger in bulk': (novu) => novu.triggerBulk({ events: [{ workflowId: 'welcome', to }] }),
  broadcast: (novu) => novu.triggerBroadcast({ name: 'welcome', payload: {} }),
  cancel: (novu) => novu.cancel('transaction'),
  'create a subscriber': (novu) => novu.subscribers.create({ subscriberId: 'ada' }),
  'create subscribers': (novu) => novu.subscribers.createBulk({ subscribers: [to] }),
  'search subscribers': (novu) => novu.subscribers.search({}),
  'retrieve a subscriber': (novu) => novu.subscribers.retrieve('ada'),
  'patch a subscriber': (novu) => novu.subscribers.patch({ firstName: 'Ada' }, 'ada'),
  'delete a subscriber': (novu) => novu.subscribers.delete('ada'),
  'set credentials': (novu) =>
    novu.subscribers.credentials.update({ providerId: 'fcm', credentials: {} }, 'ada'),
  'list preferences': (novu) => novu.subscribers.preferences.list({ subscriberId: 'ada' }),
  'change preferences': (novu) => novu.subscribers.preferences.update({}, 'ada'),
  'create a topic': (novu) => novu.topics.create({ key: topicKey }),
  'list topics': (novu) => novu.topics.list({}),
  'retrieve a topic': (novu) => novu.topics.get(topicKey),
  'delete a topic': (novu) => novu.topics.delete(topicKey),
  subscribe: (novu) => novu.topics.subscriptions.create({ subscriberIds: ['ada'] }, topicKey),
  unsubscribe: (novu) => novu.topics.subscriptions.delete({ subscriberIds: ['ada'] }, topicKey),
  'read the feed': (novu) => novu.subscribers.notifications.feed({ subscriberId: 'ada' }),
  'count unseen notifications': (novu) =>
    novu.subscribers.notifications.unseenCount({ subscriberId: 'ada' }),
  'list workflows': (novu) => novu.workflows.list({}),
  'list integrations': (novu) => novu.integrations.list()
}

const clientOf = (serverURL: string, secretKey = 'development-key') =>
  new Novu({ serverURL, secretKey })

describe('the official client with its defaults', () => {
  test.each(Object.entries(CALLS))('is rejected at once without stubs: %s', async (_name, call) => {
    const mock = await useMock()
    await expect(call(clientOf(mock.url))).rejects.toThrow(/is not mocked/)
  })

  test.each(Object.entries(CALLS))('gets a response from the stubs: %s', async (_name, call) => {
    const mock = await useMock({ stubs: 'novu-client' })
    await expect(call(clientOf(mock.url))).resolves.toBeDefined()
  })
})

test('a new environment can be created with a set of stubs', async () => {
  const mock = await useMock()
  const { apiKey } = (await create(mock, { from: 'Development', stubs: 'novu-client' })).json
  await expect(CALLS.trigger?.(clientOf(mock.url, apiKey))).resolves.toBeDefined()
  await expect(CALLS.trigger?.(clientOf(mock.url))).rejects.toThrow(/is not mocked/)
})

test.each(STUB_SETS)('every stub of the set %s is valid', (name) => {
  for (const stub of readStubSet(name)) {
    expect(findStubProblems(stub, OPERATIONS), stub.path).toEqual([])
  }
})

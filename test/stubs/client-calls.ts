import type { Novu } from '@novu/api'

const topicKey = 'news'
const to = { subscriberId: 'ada' }

/** The calls that apps make to Novu most often, except the mock's three operations. */
export const CALLS: Record<string, (novu: Novu) => Promise<unknown>> = {
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

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { CALLS } from '../stubs/client-calls.js'
import { loadClient } from './official-client.js'

/** A call to Novu's API: its name, and a function that sends it to a server. */
type Call = [name: string, send: (url: string, apiKey: string) => Promise<unknown>]

const EARLIER_CALLS: typeof CALLS = {
  ...CALLS,
  // Earlier versions take the subscriber's id. The newest version takes an object.
  'list preferences': (novu) => novu.subscribers.preferences.list('ada' as never)
}

/**
 * Returns the calls for one version of `@novu/api`. `folder` is a function because the folder is
 * known only after the tools are installed.
 */
export function callsOfNovuApi(version: string, folder: () => string): Call[] {
  return Object.entries(EARLIER_CALLS).map(([name, call]) => [
    name,
    async (url, apiKey) => {
      const manifest = join(folder(), 'package.json')
      return call(loadClient(manifest, `novu-api-${version}`).connect(url, apiKey))
    }
  ])
}

/** Returns the calls for the legacy client `@novu/node`. */
export function callsOfNovuNode(folder: () => string): Call[] {
  return Object.entries(NODE_CALLS).map(([name, call]) => [
    name,
    async (url, apiKey) => {
      const { Novu } = createRequire(join(folder(), 'package.json'))('@novu/node')
      return call(new Novu(apiKey, { backendUrl: url }))
    }
  ])
}

/** The parts of `@novu/node` that the calls use. The package has no ESM types to import. */
interface NovuNode {
  trigger(workflow: string, event: object): Promise<unknown>
  bulkTrigger(events: object[]): Promise<unknown>
  broadcast(workflow: string, event: object): Promise<unknown>
  subscribers: Record<string, (...values: unknown[]) => Promise<unknown>>
  topics: Record<string, (...values: unknown[]) => Promise<unknown>>
  integrations: Record<string, () => Promise<unknown>>
}

const to = { subscriberId: 'ada' }

const NODE_CALLS: Record<string, (novu: NovuNode) => Promise<unknown> | undefined> = {
  trigger: (novu) => novu.trigger('welcome', { to, payload: {} }),
  'trigger in bulk': (novu) => novu.bulkTrigger([{ name: 'welcome', to, payload: {} }]),
  broadcast: (novu) => novu.broadcast('welcome', { payload: {} }),
  'list subscribers': ({ subscribers }) => subscribers.list?.(),
  'create a subscriber': ({ subscribers }) => subscribers.identify?.('ada', {}),
  'create subscribers': ({ subscribers }) => subscribers.bulkCreate?.([to]),
  'retrieve a subscriber': ({ subscribers }) => subscribers.get?.('ada'),
  'update a subscriber': ({ subscribers }) => subscribers.update?.('ada', { firstName: 'Ada' }),
  'delete a subscriber': ({ subscribers }) => subscribers.delete?.('ada'),
  'set credentials': ({ subscribers }) => subscribers.setCredentials?.('ada', 'fcm', {}),
  'list preferences': ({ subscribers }) => subscribers.getPreference?.('ada'),
  'change a preference': ({ subscribers }) =>
    subscribers.updatePreference?.('ada', 'welcome', { enabled: true }),
  'read the feed': ({ subscribers }) => subscribers.getNotificationsFeed?.('ada', {}),
  'count unseen notifications': ({ subscribers }) => subscribers.getUnseenCount?.('ada', false),
  'create a topic': ({ topics }) => topics.create?.({ key: 'news', name: 'News' }),
  'list topics': ({ topics }) => topics.list?.({}),
  'retrieve a topic': ({ topics }) => topics.get?.('news'),
  'rename a topic': ({ topics }) => topics.rename?.('news', 'News'),
  'delete a topic': ({ topics }) => topics.delete?.('news'),
  subscribe: ({ topics }) => topics.addSubscribers?.('news', { subscribers: ['ada'] }),
  unsubscribe: ({ topics }) => topics.removeSubscribers?.('news', { subscribers: ['ada'] }),
  'list integrations': ({ integrations }) => integrations.getAll?.()
}

import { CHANNELS } from '../../core/enums.js'
import { createRandom } from '../../core/random.js'
import type { SubscriberResponse } from '../../messages/schemas.js'
import type { Stored } from '../environment-data.js'
import type { EnvironmentInput } from './input.js'
import { createFaker, pick } from './random.js'

/** Everything about a subscriber that is the same in each message to them. */
export type Recipient = ReturnType<typeof createRecipients>[number]

/** The contexts of environments whose messages have none. */
const TENANTS = [[], [], [], [], ['tenant:acme'], ['tenant:globex'], ['region:eu', 'tenant:umbrella']]

/** Returns the recipients, each in a context that the environment's own messages show, if possible of the subscriber. */
export function createRecipients(
  { messages }: EnvironmentInput,
  subscribers: readonly Stored<SubscriberResponse>[],
  randomSeed: number
) {
  const random = createRandom(randomSeed)
  const faker = createFaker(random)
  const examples = messages.some(({ contextKeys = [] }) => contextKeys.length > 0) ? messages : []
  const own = new Map(examples.map(({ subscriber, contextKeys }) => [subscriber?.subscriberId, contextKeys ?? []]))
  const contexts = examples.length > 0 ? examples.map(({ contextKeys }) => contextKeys ?? []) : TENANTS
  return subscribers.map((subscriber) => {
    const { email, phone, channels: settings = [] } = subscriber
    const tokens = settings.flatMap(({ credentials }) => credentials.deviceTokens ?? [])
    const hasChat = settings.some(({ credentials }) => credentials.deviceTokens === undefined)
    const lacks = { in_app: false, email: !email, sms: !phone, chat: !hasChat, push: false }
    const contextKeys = own.get(subscriber.subscriberId) ?? pick(random, contexts)
    return {
      subscriber,
      /** The channels on which the subscriber has an address. */
      channels: CHANNELS.filter((channel) => !lacks[channel]),
      deviceTokens: tokens.length > 0 ? tokens : [faker.string.alphanumeric(40)],
      contextKeys: contextKeys.length > 0 ? contextKeys : undefined
    }
  })
}

import { isoTime } from '../../core/clock.js'
import { SubscriberResponse } from '../../messages/schemas.js'
import type { Stored } from '../environment-data.js'
import type { SeedSubscriber } from '../format.js'
import { type EnvironmentBuilder, inOrder, type SeedLocation, timesOf } from './builder.js'

/** About what the defaults of a subscriber take, in characters of JSON. */
const DEFAULTS = 250

export function addSubscriber(builder: EnvironmentBuilder, seed: SeedSubscriber, location: SeedLocation): void {
  const subscriber = subscriberOf(builder, seed, location)
  builder.claimNames(['subscriber', 'subscriberId', seed.subscriberId], subscriber._id, location)
  builder.subscribers.set(seed.subscriberId, subscriber)
  builder.data.subscribers.push(subscriber)
  builder.countAdded(DEFAULTS, location)
}

/** Also for one that is embedded in a message and is none of the environment's. */
export function subscriberOf(
  builder: EnvironmentBuilder,
  seed: SeedSubscriber,
  location: SeedLocation
): Stored<SubscriberResponse> {
  const times = timesOf(seed, ['createdAt', 'updatedAt', 'lastOnlineAt'], location)
  const { createdAt = isoTime(builder.present()) } = times
  const { _id = builder.derivedId('subscriber', seed.subscriberId) } = seed
  return inOrder(SubscriberResponse, {
    deleted: false,
    ...seed,
    ...builder.owner,
    _id,
    updatedAt: createdAt,
    ...times,
    createdAt
  })
}

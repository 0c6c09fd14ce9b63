import { isoTime } from '../../core/clock.js'
import type { Channel } from '../../core/enums.js'
import type { Random } from '../../core/random.js'
import type { MessageResponse } from '../../messages/schemas.js'
import { pick, randomInt } from './random.js'

/** What became of a message: a warning says what it lacked, an error what the provider answered. */
export type Outcome = Pick<MessageResponse, 'status' | 'errorId' | 'errorText'>

const SENT: Outcome = { status: 'sent' }
const warning = (errorId: string, errorText: string): Outcome => ({ status: 'warning', errorId, errorText })
const NO_SENDER = warning('no_integration_from_phone', 'Integration does not have from phone configured')

/** The outcome where the subscriber lacks an address of the channel. */
export const NO_ADDRESS = {
  email: warning('mail_unexpected_error', 'Subscriber does not have an email address'),
  sms: warning('no_subscriber_phone', 'Subscriber does not have active phone'),
  chat: warning('no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id'),
  chatByPhone: warning('no_subscriber_chat_phone_number', 'Subscriber does not have phone number specified')
}

const noIntegration = (errorId: string, channel: Channel) =>
  warning(errorId, `Subscriber does not have an active ${channel} integration`)

/** The outcome where none of the channel's integrations is active. */
export const NO_INTEGRATION: Partial<Record<Channel, Outcome>> = {
  email: noIntegration('mail_unexpected_error', 'email'),
  sms: noIntegration('sms_missing_integration_error', 'sms'),
  chat: noIntegration('chat_missing_integration_error', 'chat')
}

/** How often the providers of a channel refuse a message, and with what. */
const REFUSALS: Record<Channel, { rate: number; errorId: string; texts: string[] }> = {
  in_app: { rate: 0, errorId: '', texts: [] },
  email: {
    rate: 0.01,
    errorId: 'mail_unexpected_error',
    texts: [
      'Maximum credits exceeded',
      'The recipient address is on the suppression list',
      '550 5.1.1 The email account that you tried to reach does not exist'
    ]
  },
  sms: {
    rate: 0.03,
    errorId: 'unexpected_sms_error',
    texts: [
      'Unreachable destination handset',
      'The destination number is not a mobile number',
      'Message filtered by the carrier'
    ]
  },
  chat: {
    rate: 0.02,
    errorId: 'unexpected_chat_error',
    texts: ['channel_not_found', 'Request failed with status code 404']
  },
  push: {
    rate: 0.04,
    errorId: 'unexpected_push_error',
    texts: ['Requested entity was not found.', 'The registration token is not a valid registration token']
  }
}

export interface Provider {
  id: string
  canSend: boolean
}

export interface Delivery {
  provider?: Provider
  outcome: Outcome
}

interface Sender {
  channel: Channel
  /** The usual one first; not empty. */
  providers: readonly Provider[]
  noIntegration: Outcome | undefined
}

/** Returns by which provider a message is sent, and what becomes of it; without a provider it is not sent. */
export function deliver(
  { channel, providers, noIntegration }: Sender,
  noAddress: Outcome | undefined,
  random: Random
): Delivery {
  if (noIntegration && random.next() < 0.25) return { outcome: noIntegration }
  const provider = random.next() < 0.9 && providers[0] ? providers[0] : pick(random, providers)
  if (noAddress) return { provider, outcome: noAddress }
  if (channel === 'sms' && !provider.canSend) return { provider, outcome: NO_SENDER }
  const { rate, errorId, texts } = REFUSALS[channel]
  if (random.next() >= rate) return { provider, outcome: SENT }
  return { provider, outcome: { status: 'error', errorId, errorText: pick(random, texts) } }
}

const HOUR = 3_600_000

/** Returns when an in-app message was delivered, seen and read, and whether a button was pressed. */
export function inboxState(random: Random, createdAt: number, now: number) {
  const delivered = createdAt + 40 + randomInt(random, 360)
  // From seconds to a day and a half, each order of magnitude as often as the other.
  const seenAt = delivered + randomInt(random, 1 << (12 + randomInt(random, 16)))
  const seen = random.next() < 0.75 && seenAt <= now
  const readAt = seenAt + 400 + randomInt(random, 60_000)
  const read = seen && random.next() < 0.75 && readAt <= now
  const isSnoozed = !read && random.next() < 0.03
  const again = delivered + (1 + randomInt(random, 24)) * HOUR
  const pressed = random.next() < 0.8 ? ('primary' as const) : ('secondary' as const)
  return {
    deliveredAt: isSnoozed && again <= now ? [isoTime(delivered), isoTime(again)] : [isoTime(delivered)],
    lastSeenDate: seen ? isoTime(seenAt) : undefined,
    lastReadDate: read ? isoTime(readAt) : undefined,
    read,
    seen,
    snoozedUntil: isSnoozed && again > now ? isoTime(again) : undefined,
    pressed: read && random.next() < 0.4 ? pressed : undefined
  }
}

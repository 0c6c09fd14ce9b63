import { isoTime } from '../../core/clock.js'
import type { Channel } from '../../core/enums.js'
import type { Random } from '../../core/random.js'
import type { MessageResponse } from '../../messages/schemas.js'
import { HOUR, pick, randomInt } from './random.js'

/** What became of a message: a warning says what it lacked, an error what the provider answered. */
export type Outcome = Pick<MessageResponse, 'status' | 'errorId' | 'errorText'>

const SENT: Outcome = { status: 'sent' }
const warning = (errorId: string, text: string): Outcome => ({ status: 'warning', errorId, errorText: text })
const NO_SENDER = warning('no_integration_from_phone', 'Integration does not have from phone configured')

/** The outcome where the subscriber lacks an address of the channel. */
export const NO_ADDRESS = {
  email: warning('mail_unexpected_error', 'Subscriber does not have an email address'),
  sms: warning('no_subscriber_phone', 'Subscriber does not have active phone'),
  chat: warning('no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id'),
  chatByPhone: warning('no_subscriber_chat_phone_number', 'Subscriber does not have phone number specified')
}

/** The outcome where none of the channel's integrations is active. */
export const NO_INTEGRATION: Partial<Record<Channel, Outcome>> = {
  email: warning('mail_unexpected_error', 'Subscriber does not have an active email integration'),
  sms: warning('sms_missing_integration_error', 'Subscriber does not have an active sms integration'),
  chat: warning('chat_missing_integration_error', 'Subscriber does not have an active chat integration')
}

/** How often the providers of a channel refuse a message, and with what. */
const REFUSALS: Record<Channel, [rate: number, errorId: string, ...texts: string[]]> = {
  in_app: [0, ''],
  email: [
    0.01,
    'mail_unexpected_error',
    'Maximum credits exceeded',
    'The recipient address is on the suppression list',
    '550 5.1.1 The email account that you tried to reach does not exist'
  ],
  sms: [0.03, 'unexpected_sms_error', 'Unreachable destination handset', 'Message filtered by the carrier'],
  chat: [0.02, 'unexpected_chat_error', 'channel_not_found', 'Request failed with status code 404'],
  push: [0.04, 'unexpected_push_error', 'Requested entity was not found.', 'The registration token is not valid']
}

export interface Sender {
  channel: Channel
  /** The usual one first; not empty. */
  providers: { id: string; canSend: boolean }[]
  noIntegration: Outcome | undefined
}

/** Returns by which provider a message is sent, undefined when it is not, and what becomes of it. */
export function deliver(
  { channel, providers, noIntegration }: Sender,
  noAddress: Outcome | undefined,
  random: Random
): { provider?: Sender['providers'][number]; outcome: Outcome } {
  if (noIntegration && random.next() < 0.25) return { outcome: noIntegration }
  const provider = random.next() < 0.9 && providers[0] ? providers[0] : pick(random, providers)
  if (noAddress) return { provider, outcome: noAddress }
  if (channel === 'sms' && !provider.canSend) return { provider, outcome: NO_SENDER }
  const [rate, errorId, ...texts] = REFUSALS[channel]
  if (random.next() >= rate) return { provider, outcome: SENT }
  return { provider, outcome: { status: 'error', errorId, errorText: pick(random, texts) } }
}

/** Returns when an in-app message was delivered, seen and read, and which button was pressed. */
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
    deliveredAt: (isSnoozed && again <= now ? [delivered, again] : [delivered]).map(isoTime),
    lastSeenDate: seen ? isoTime(seenAt) : undefined,
    lastReadDate: read ? isoTime(readAt) : undefined,
    read,
    seen,
    snoozedUntil: isSnoozed && again > now ? isoTime(again) : undefined,
    pressed: read && random.next() < 0.4 ? pressed : undefined
  }
}

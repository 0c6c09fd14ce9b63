import { isoTime } from '../../core/clock.js'
import type { Channel } from '../../core/enums.js'
import type { Random } from '../../core/random.js'
import { HOUR, pick, randomInt } from './random.js'

/** The warnings where the subscriber lacks an address. */
const NO_ADDRESS: Partial<Record<Channel, [errorId: string, text: string]>> = {
  email: ['mail_unexpected_error', 'Subscriber does not have an email address'],
  sms: ['no_subscriber_phone', 'Subscriber does not have active phone'],
  chat: ['no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id']
}

/** The share of messages that providers refuse, and with what. */
const REFUSALS: Record<Channel, [rate: number, errorId: string, text: string]> = {
  in_app: [0, '', ''],
  email: [0.01, 'mail_unexpected_error', 'Maximum credits exceeded'],
  sms: [0.03, 'unexpected_sms_error', 'Unreachable destination handset'],
  chat: [0.02, 'unexpected_chat_error', 'channel_not_found'],
  push: [0.04, 'unexpected_push_error', 'Requested entity was not found.']
}

/** Returns what becomes of a message: it is sent, or there is a warning or an error of its channel. */
export function outcomeOf(channel: Channel, hasAddress: boolean, random: Random) {
  const [warningId, warning] = (!hasAddress && NO_ADDRESS[channel]) || []
  if (warningId) return { status: 'warning', errorId: warningId, errorText: warning } as const
  const [rate, errorId, errorText] = REFUSALS[channel]
  return random.next() < rate ? ({ status: 'error', errorId, errorText } as const) : ({ status: 'sent' } as const)
}

/** Returns when an in-app message was delivered, seen and read, and which button was pressed. */
export function inboxState(random: Random, createdAt: number, now: number) {
  const delivered = createdAt + 40 + randomInt(random, 360)
  // From seconds to a day and a half, each order of magnitude as often as the other.
  const seenAt = delivered + randomInt(random, 1 << (12 + randomInt(random, 16)))
  const readAt = seenAt + 400 + randomInt(random, 60_000)
  const seen = random.next() < 0.75 && seenAt <= now
  const read = seen && random.next() < 0.75 && readAt <= now
  const isSnoozed = !read && random.next() < 0.03
  const again = delivered + (1 + randomInt(random, 24)) * HOUR
  return {
    deliveredAt: (isSnoozed && again <= now ? [delivered, again] : [delivered]).map(isoTime),
    lastSeenDate: seen ? isoTime(seenAt) : undefined,
    lastReadDate: read ? isoTime(readAt) : undefined,
    read,
    seen,
    snoozedUntil: isSnoozed && again > now ? isoTime(again) : undefined,
    pressed: read && random.next() < 0.4 ? pick(random, ['primary', 'primary', 'secondary'] as const) : undefined
  }
}

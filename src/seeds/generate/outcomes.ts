import type { Channel } from '../../core/enums.js'
import { escaped } from './texts.js'

// What became of a message that was sent, as the JSON of its last fields: a warning says what lacked, an error what the
// provider refused.

export const SENT = ',"status":"sent"'
export const NO_SENDER = failed(
  'warning',
  'no_integration_from_phone',
  'Integration does not have from phone configured'
)

/** What the providers of each channel refuse, and how often. */
export const REFUSALS: Record<Channel, { rate: number; outcomes: string[] }> = {
  in_app: { rate: 0, outcomes: [SENT] },
  email: refused(0.01, 'mail_unexpected_error', [
    'Maximum credits exceeded',
    'The recipient address is on the suppression list',
    '550 5.1.1 The email account that you tried to reach does not exist'
  ]),
  sms: refused(0.03, 'unexpected_sms_error', [
    'Unreachable destination handset',
    'The destination number is not a mobile number',
    'Message filtered by the carrier'
  ]),
  chat: refused(0.02, 'unexpected_chat_error', ['channel_not_found', 'Request failed with status code 404']),
  push: refused(0.04, 'unexpected_push_error', [
    'Requested entity was not found.',
    'The registration token is not a valid registration token'
  ])
}

function refused(rate: number, errorId: string, texts: readonly string[]) {
  return { rate, outcomes: texts.map((text) => failed('error', errorId, text)) }
}

function failed(status: 'error' | 'warning', errorId: string, errorText: string): string {
  return `,"status":"${status}","errorId":"${errorId}","errorText":"${escaped(errorText)}"`
}

const missing = (errorId: string, channel: Channel) =>
  failed('warning', errorId, `Subscriber does not have an active ${channel} integration`)

export const MISSING: Partial<Record<Channel, string>> = {
  email: missing('mail_unexpected_error', 'email'),
  sms: missing('sms_missing_integration_error', 'sms'),
  chat: missing('chat_missing_integration_error', 'chat')
}

export const NO_EMAIL = failed('warning', 'mail_unexpected_error', 'Subscriber does not have an email address')
export const NO_PHONE = failed('warning', 'no_subscriber_phone', 'Subscriber does not have active phone')
export const NO_CHAT = failed(
  'warning',
  'no_subscriber_chat_channel_id',
  'Subscriber does not have active chat channel id'
)
export const NO_CHAT_PHONE = failed(
  'warning',
  'no_subscriber_chat_phone_number',
  'Subscriber does not have phone number specified'
)

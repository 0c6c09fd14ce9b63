export const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const
export type Channel = (typeof CHANNELS)[number]

export const STEP_TYPES = [...CHANNELS, 'digest', 'trigger', 'delay', 'throttle', 'custom'] as const
export type StepType = (typeof STEP_TYPES)[number]

export const ORIGINS = ['service-cloud', 'service-cloud-v1', 'external'] as const

const PUSH_PROVIDERS = [
  'fcm',
  'apns',
  'expo',
  'one-signal',
  'pushpad',
  'push-webhook',
  'pusher-beams',
  'appio'
] as const

/** The providers that a subscriber can hold settings for: those of the chat channel, then those of push. */
export const CHAT_PUSH_PROVIDERS = [
  'slack',
  'discord',
  'msteams',
  'mattermost',
  'ryver',
  'zulip',
  'grafana-on-call',
  'getstream',
  'rocket-chat',
  'whatsapp-business',
  'chat-webhook',
  'service-slack',
  ...PUSH_PROVIDERS
] as const

export const TIME_UNITS = ['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'] as const

export const UI_GROUPS = [
  'IN_APP',
  'EMAIL',
  'DIGEST',
  'DELAY',
  'THROTTLE',
  'SMS',
  'CHAT',
  'PUSH',
  'SKIP',
  'LAYOUT'
] as const

export const UI_COMPONENTS = [
  'EMAIL_EDITOR_SELECT',
  'LAYOUT_SELECT',
  'EMAIL_RENDERER_SELECT',
  'BLOCK_EDITOR',
  'EMAIL_BODY',
  'TEXT_FULL_LINE',
  'TEXT_INLINE_LABEL',
  'IN_APP_BODY',
  'IN_APP_AVATAR',
  'IN_APP_PRIMARY_SUBJECT',
  'IN_APP_BUTTON_DROPDOWN',
  'IN_APP_DISABLE_SANITIZATION_SWITCH',
  'DISABLE_SANITIZATION_SWITCH',
  'URL_TEXT_BOX',
  'DIGEST_AMOUNT',
  'DIGEST_UNIT',
  'DIGEST_TYPE',
  'DIGEST_KEY',
  'DIGEST_CRON',
  'DELAY_AMOUNT',
  'DELAY_UNIT',
  'DELAY_TYPE',
  'DELAY_CRON',
  'DELAY_DYNAMIC_KEY',
  'THROTTLE_TYPE',
  'THROTTLE_WINDOW',
  'THROTTLE_UNIT',
  'THROTTLE_DYNAMIC_KEY',
  'THROTTLE_THRESHOLD',
  'THROTTLE_KEY',
  'EXTEND_TO_SCHEDULE',
  'SMS_BODY',
  'CHAT_BODY',
  'PUSH_BODY',
  'PUSH_SUBJECT',
  'QUERY_EDITOR',
  'DATA',
  'LAYOUT_EMAIL'
] as const

export const CONTENT_ISSUE_TYPES = [
  'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
  'INVALID_FILTER_ARG_IN_VARIABLE',
  'MISSING_VALUE',
  'TIER_LIMIT_EXCEEDED'
] as const

export const INTEGRATION_ISSUE_TYPES = ['MISSING_INTEGRATION', 'INBOX_NOT_CONNECTED'] as const

/** Who an idempotency key may belong to. */
export const KEY_SCOPES = ['environment', 'organization'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The kinds of records. An environment and its snapshots share a dataset of each until one of them changes it. */
export const DATASET_KINDS = ['integrations', 'subscribers', 'workflows', 'messages', 'idempotency'] as const
export type DatasetKind = (typeof DATASET_KINDS)[number]

/** What can be reset. `data` is all datasets but that of the idempotency keys. */
export const RESET_PARTS = ['data', 'requests', 'faults', 'clock', 'idempotency'] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** The operations of the service, by their names in the published document. */
export const OPERATION_IDS = ['setIntegrationAsPrimary', 'listMessages', 'retrieveWorkflowStep'] as const
export type OperationId = (typeof OPERATION_IDS)[number]

export const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const
export type Channel = (typeof CHANNELS)[number]

/** Whether a word is a channel; steps of such a type send messages. */
export const isChannel = (word: string): word is Channel =>
  (CHANNELS as readonly string[]).includes(word)

export const STEP_TYPES = [...CHANNELS, 'digest', 'trigger', 'delay', 'throttle', 'custom'] as const
export type StepType = (typeof STEP_TYPES)[number]

export const ORIGINS = ['service-cloud', 'service-cloud-v1', 'external'] as const

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
  'fcm',
  'apns',
  'expo',
  'one-signal',
  'pushpad',
  'push-webhook',
  'pusher-beams',
  'appio'
] as const

/** Who an idempotency key may belong to. */
export const KEY_SCOPES = ['environment', 'organization'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The kinds of records. An environment and its snapshots share a dataset of each until one of them changes it. */
export const DATASET_KINDS = [
  'integrations',
  'subscribers',
  'workflows',
  'messages',
  'idempotency'
] as const
export type DatasetKind = (typeof DATASET_KINDS)[number]

/** What can be reset. `data` is all datasets but that of the idempotency keys. */
export const RESET_PARTS = ['data', 'requests', 'faults', 'clock', 'idempotency'] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** The operations of the service, by their names in the published document. */
export const OPERATION_IDS = [
  'setIntegrationAsPrimary',
  'listMessages',
  'retrieveWorkflowStep'
] as const
export type OperationId = (typeof OPERATION_IDS)[number]

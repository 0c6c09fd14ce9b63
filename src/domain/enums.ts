export const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const
export type Channel = (typeof CHANNELS)[number]

/** Returns whether a value is a channel. If a step's type is a channel, the step sends messages. */
export const isChannel = (value: string): value is Channel =>
  (CHANNELS as readonly string[]).includes(value)

export const STEP_TYPES = [...CHANNELS, 'digest', 'trigger', 'delay', 'throttle', 'custom'] as const
export type StepType = (typeof STEP_TYPES)[number]

export const ORIGINS = ['service-cloud', 'service-cloud-v1', 'external'] as const

/** The chat and push providers for which a subscriber can have settings. */
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

/** The possible owners of an idempotency key. */
export const KEY_SCOPES = ['environment', 'organization'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/**
 * An environment has one dataset of each kind. It shares its datasets with its snapshots and forks.
 * A shared dataset is copied before an environment writes to it.
 */
export const DATASET_KINDS = [
  'integrations',
  'subscribers',
  'workflows',
  'messages',
  'idempotency'
] as const
export type DatasetKind = (typeof DATASET_KINDS)[number]

/**
 * The parts of an environment that can be reset. `data` stands for all datasets except
 * `idempotency`.
 */
export const RESET_PARTS = ['data', 'requests', 'faults', 'clock', 'idempotency'] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** The ids of the mocked operations in the OpenAPI document. */
export const OPERATION_IDS = [
  'setIntegrationAsPrimary',
  'listMessages',
  'retrieveWorkflowStep'
] as const
export type OperationId = (typeof OPERATION_IDS)[number]

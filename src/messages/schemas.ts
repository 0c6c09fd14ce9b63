import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { CHAT_PUSH_PROVIDERS } from '../domain/enums.js'
import { Channel, StepFilter } from '../schema/shared.js'
import {
  dateTime,
  freeObject,
  namedEnum,
  namedObject,
  nullable,
  ref,
  stringEnum
} from '../schema/typebox.js'

// These functions create optional fields.
const text = (description: string) => Type.Optional(Type.String({ description }))
const textOrNull = (description: string) => Type.Optional(nullable(Type.String({ description })))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const number = (description: string) => Type.Optional(Type.Number({ description }))
const listOf = <Schema extends TSchema>(
  items: Schema,
  description: string,
  limits: { minItems?: number } = {}
) => Type.Optional(Type.Array(items, { ...limits, description }))
const oneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  Type.Optional(stringEnum(words, { description }))

export const EmailBlockStyles = namedObject('EmailBlockStyles', 'Style of an email block', {
  textAlign: stringEnum(['center', 'left', 'right'], { description: 'Alignment of the text' })
})

export const EmailBlock = namedObject(
  'EmailBlock',
  'A block of an email that was created in the block editor',
  {
    type: stringEnum(['button', 'text'], { description: 'Kind of block' }),
    content: Type.String({ description: 'Text of the block, or label of the button' }),
    url: text('URL that the button opens'),
    styles: Type.Optional(ref(EmailBlockStyles))
  }
)
export type EmailBlock = Static<typeof EmailBlock>

export const MessageCTAData = namedObject('MessageCTAData', 'Target of a call to action', {
  url: text('URL that the call to action opens')
})

const ButtonType = namedEnum('ButtonType', 'Role of a button in its message', [
  'primary',
  'secondary'
])

export const MessageButton = namedObject('MessageButton', 'A button of a message', {
  type: ref(ButtonType),
  content: Type.String({ description: 'Label of the button' }),
  resultContent: text('Text to show after the button is pressed')
})

export const MessageActionResult = namedObject(
  'MessageActionResult',
  'Result of an action that the subscriber took',
  {
    payload: Type.Optional(freeObject('Payload of the action')),
    type: Type.Optional(ref(ButtonType, 'Role of the button that was pressed'))
  }
)

export const MessageAction = namedObject(
  'MessageAction',
  'Action that a message offers to its subscriber',
  {
    status: oneOf(['pending', 'done'], '`done` once a button was pressed, otherwise `pending`'),
    buttons: listOf(ref(MessageButton), 'Buttons that the message shows', { minItems: 0 }),
    result: Type.Optional(ref(MessageActionResult))
  }
)

const CTA =
  'Call to action of a message. If a message has no call to action, the object is empty or its ' +
  'action has no buttons'
export const MessageCTA = namedObject('MessageCTA', CTA, {
  type: oneOf(['redirect'], 'Kind of call to action; `redirect` opens a URL'),
  data: Type.Optional(ref(MessageCTAData)),
  action: Type.Optional(ref(MessageAction))
})
export type MessageCTA = Static<typeof MessageCTA>

const ChatPushProvider = namedEnum(
  'ChatPushProvider',
  'A provider for the chat or push channel',
  CHAT_PUSH_PROVIDERS
)

export const ChannelCredentials = namedObject(
  'ChannelCredentials',
  'Addresses of a subscriber at a chat or push provider',
  {
    webhookUrl: text('URL that messages are posted to'),
    channel: text('Channel at the chat provider'),
    deviceTokens: listOf(Type.String(), 'Tokens of the devices that receive push messages', {
      minItems: 0
    }),
    alertUid: text('Identifier of the alert'),
    title: text('Title of the alert'),
    imageUrl: text('URL of an image for the alert'),
    state: text('State of the alert'),
    externalUrl: text('URL to which the alert links')
  }
)

const CHANNEL_SETTINGS = "A subscriber's settings for a chat or push provider"
export const ChannelSettings = namedObject('ChannelSettingsDto', CHANNEL_SETTINGS, {
  providerId: ref(ChatPushProvider, 'Identifier of the provider'),
  integrationIdentifier: text('The `identifier` of the integration'),
  credentials: ref(ChannelCredentials),
  _integrationId: Type.String({ description: 'The `_id` of the integration' })
})

export const SubscriberResponse = namedObject(
  'SubscriberResponseDto',
  'A recipient of notifications',
  {
    _id: text('Internal identifier, different from `subscriberId`'),
    firstName: textOrNull('Given name'),
    lastName: textOrNull('Family name'),
    email: textOrNull('Email address'),
    phone: textOrNull('Phone number'),
    avatar: textOrNull("URL of the subscriber's picture"),
    locale: textOrNull('Language and region, such as `en-GB`'),
    channels: listOf(
      ref(ChannelSettings),
      'Settings for chat and push, with one entry per integration'
    ),
    topics: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Topics that the subscriber belongs to',
        deprecated: true
      })
    ),
    isOnline: Type.Optional(
      nullable(Type.Boolean({ description: 'Whether the subscriber has an Inbox open' }))
    ),
    lastOnlineAt: Type.Optional(nullable(dateTime('When the subscriber last had an Inbox open'))),
    __v: number('Version number of the record'),
    data: Type.Optional(nullable(freeObject('Custom data of the subscriber'))),
    timezone: textOrNull('Time zone, such as `Europe/London`'),
    subscriberId: Type.String({ description: 'Identifier used to create the subscriber' }),
    _organizationId: Type.String({ description: 'Identifier of the owning organization' }),
    _environmentId: Type.String({ description: 'Identifier of the owning environment' }),
    deleted: Type.Boolean({ description: 'Whether the subscriber is soft-deleted' }),
    createdAt: dateTime('When the subscriber was created'),
    updatedAt: dateTime('When the subscriber was last changed')
  }
)
export type SubscriberResponse = Static<typeof SubscriberResponse>

/**
 * The subscriber's fields that Novu includes in a message. See the assumption
 * `embedded-subscriber`.
 */
export const EMBEDDED_FIELDS = [
  ...['_id', 'subscriberId', 'firstName', 'lastName', 'avatar', 'createdAt', 'updatedAt'],
  ...['_organizationId', '_environmentId', 'deleted']
]

const CHANNELS_ENABLED = 'Which channels are enabled for notifications'
export const SubscriberPreferenceChannels = namedObject(
  'SubscriberPreferenceChannels',
  CHANNELS_ENABLED,
  {
    email: flag('Whether email is enabled'),
    sms: flag('Whether SMS is enabled'),
    in_app: flag('Whether the Inbox is enabled'),
    chat: flag('Whether chat is enabled'),
    push: flag('Whether push is enabled')
  }
)

export const NotificationGroup = namedObject('NotificationGroup', 'A group of workflows', {
  _id: text('Identifier of the group'),
  name: Type.String({ description: 'Display name' }),
  _environmentId: Type.String({ description: 'Identifier of the owning environment' }),
  _organizationId: Type.String({ description: 'Identifier of the owning organization' }),
  _parentId: text('Identifier of the group that this group was copied from')
})

export const NotificationTriggerVariable = namedObject(
  'NotificationTriggerVariable',
  'A variable that a workflow uses',
  {
    name: Type.String({ description: 'Name of the variable' })
  }
)

export const NotificationTrigger = namedObject('NotificationTrigger', 'What starts a workflow', {
  type: stringEnum(['event'], { description: 'Kind of trigger; always `event`' }),
  identifier: Type.String({ description: 'Name that triggers the workflow' }),
  variables: Type.Array(ref(NotificationTriggerVariable), {
    description: 'Payload variables that the workflow uses'
  }),
  subscriberVariables: listOf(
    ref(NotificationTriggerVariable),
    'Subscriber variables that the workflow uses'
  )
})

const TimeUnit = namedEnum('TimeUnit', 'A unit of time', [
  'seconds',
  'minutes',
  'hours',
  'days',
  'weeks',
  'months'
])
const unit = Type.Optional(ref(TimeUnit, 'Unit of `amount`'))
const digestKey = text('Key that events are grouped by')

const MONDAY_ON = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
const Weekday = namedEnum('Weekday', 'A day of the week', [...MONDAY_ON, 'sunday'])
const ORDINAL_VALUES = ['day', 'weekday', 'weekend', 'sunday', ...MONDAY_ON] as const

export const TimedConfig = namedObject('TimedConfig', 'When a timed digest is sent', {
  atTime: text('Time of day to send the digest, such as `09:00`'),
  weekDays: listOf(ref(Weekday), 'Days of the week to send the digest on'),
  monthDays: listOf(Type.String(), 'Days of the month to send the digest on, as numbers'),
  ordinal: oneOf(
    ['1', '2', '3', '4', '5', 'last'],
    'Which occurrence of `ordinalValue` in the month to use, such as `2` for the second'
  ),
  ordinalValue: oneOf(ORDINAL_VALUES, 'Kind of day that `ordinal` counts'),
  monthlyType: oneOf(
    ['each', 'on'],
    'How the days are chosen: `each` uses `monthDays`, `on` uses `ordinal`'
  )
})

const REGULAR_DIGEST = 'A digest that collects events for a fixed period'
export const DigestRegularMetadata = namedObject('DigestRegularMetadata', REGULAR_DIGEST, {
  type: stringEnum(['regular', 'backoff'], {
    description: '`regular` always digests; `backoff` digests only if there was a recent event'
  }),
  amount: number('How long to collect events, in `unit`'),
  unit,
  digestKey,
  backoff: flag('Whether to digest only if there was a recent event'),
  backoffAmount: number('How far back to look for a recent event, in `backoffUnit`'),
  backoffUnit: Type.Optional(ref(TimeUnit, 'Unit of `backoffAmount`')),
  updateMode: flag('Whether later events update a message that was already sent')
})

export const DigestTimedMetadata = namedObject(
  'DigestTimedMetadata',
  'A digest that is sent on a schedule',
  {
    type: stringEnum(['timed'], { description: 'Always `timed`' }),
    amount: number('Number of units between two digests'),
    unit,
    digestKey,
    timed: Type.Optional(ref(TimedConfig))
  }
)

export const DelayRegularMetadata = namedObject(
  'DelayRegularMetadata',
  'A delay with a fixed length',
  {
    type: stringEnum(['regular'], { description: 'Always `regular`' }),
    amount: number('Number of units to wait'),
    unit
  }
)

export const DelayScheduledMetadata = namedObject(
  'DelayScheduledMetadata',
  'A delay until a date in the payload',
  {
    type: stringEnum(['scheduled'], { description: 'Always `scheduled`' }),
    delayPath: Type.String({ description: 'Path to the date in the payload' })
  }
)

const StepMetadata = Type.Union(
  [
    ref(DigestRegularMetadata),
    ref(DigestTimedMetadata),
    ref(DelayRegularMetadata),
    ref(DelayScheduledMetadata)
  ],
  { $id: 'StepMetadata', description: 'Settings of a digest or delay step' }
)

export const MessageTemplate = Type.Unsafe<Record<string, unknown>>({
  $id: 'MessageTemplate',
  ...freeObject("Template of a step. The API reference doesn't define its fields")
})

export const ReplyCallback = namedObject(
  'ReplyCallback',
  "Where a subscriber's replies are forwarded",
  {
    active: flag('Whether replies are forwarded'),
    url: text('URL that replies are posted to')
  }
)

const stepFields = {
  _id: text('Identifier of the step'),
  uuid: text('Identifier of the step in the workflow editor'),
  name: text('Display name'),
  _templateId: text('Identifier of the message template'),
  active: flag('Whether the step runs'),
  shouldStopOnFail: flag('Whether the workflow ends if this step fails'),
  template: Type.Optional(ref(MessageTemplate)),
  filters: listOf(ref(StepFilter), 'Conditions under which the step runs'),
  _parentId: text('Identifier of the preceding step'),
  metadata: Type.Optional(ref(StepMetadata)),
  replyCallback: Type.Optional(ref(ReplyCallback))
}

const VARIANT = 'A variant of a step, without variants of its own'
export const NotificationStepVariant = namedObject('NotificationStepVariant', VARIANT, stepFields)

export const NotificationStep = namedObject('NotificationStepDto', 'A step of a workflow', {
  ...stepFields,
  variants: listOf(ref(NotificationStepVariant), 'Variants of this step')
})

export const WorkflowResponse = namedObject(
  'WorkflowResponse',
  'The workflow that sent a message',
  {
    _id: text('Identifier of the workflow'),
    name: Type.String({ description: 'Display name' }),
    description: Type.String({ description: 'What the workflow is for' }),
    active: Type.Boolean({ description: 'Whether the workflow can be triggered' }),
    draft: Type.Boolean({ description: 'Whether the workflow is still a draft' }),
    preferenceSettings: ref(SubscriberPreferenceChannels),
    critical: Type.Boolean({ description: "Whether subscribers can't turn the workflow off" }),
    tags: Type.Array(Type.String(), { description: 'Tags of the workflow' }),
    steps: Type.Array(ref(NotificationStep), { description: 'Steps of the workflow, in order' }),
    _organizationId: Type.String({ description: 'Identifier of the owning organization' }),
    _creatorId: Type.String({ description: 'Identifier of the user who created the workflow' }),
    _environmentId: Type.String({ description: 'Identifier of the owning environment' }),
    triggers: Type.Array(ref(NotificationTrigger), { description: 'Triggers of the workflow' }),
    _notificationGroupId: Type.String({ description: "Identifier of the workflow's group" }),
    _parentId: text('Identifier of the workflow that this workflow was copied from'),
    deleted: Type.Boolean({ description: 'Whether the workflow is soft-deleted' }),
    deletedAt: Type.String({
      description: 'When the workflow was deleted; required even if the workflow is not deleted'
    }),
    deletedBy: Type.String({
      description: 'Who deleted the workflow; required even if the workflow is not deleted'
    }),
    notificationGroup: Type.Optional(ref(NotificationGroup)),
    data: Type.Optional(freeObject('Custom data of the workflow')),
    workflowIntegrationStatus: Type.Optional(
      freeObject('State of the integrations that the workflow uses')
    )
  }
)
export type WorkflowResponse = Static<typeof WorkflowResponse>

const MessageContent = Type.Union([Type.Array(ref(EmailBlock)), Type.String()], {
  $id: 'MessageContent',
  description: 'Content of a message: text, or blocks from the block editor'
})
const MessageStatus = namedEnum('MessageStatus', 'Delivery status of a message', [
  'sent',
  'error',
  'warning'
])

const DELIVERED_AT =
  'Timestamp of each delivery. A message can be delivered again, for example after a snooze'
const MESSAGE = 'A notification to one subscriber on one channel'
export const MessageResponse = namedObject('MessageResponseDto', MESSAGE, {
  _id: text('Message identifier'),
  _templateId: textOrNull('Identifier of the template'),
  _environmentId: Type.String({ description: 'Identifier of the owning environment' }),
  _messageTemplateId: textOrNull('Identifier of the message template'),
  _organizationId: Type.String({ description: 'Identifier of the owning organization' }),
  _notificationId: Type.String({ description: 'Identifier of the notification' }),
  _subscriberId: Type.String({ description: 'The `_id` of the subscriber' }),
  subscriber: Type.Optional(ref(SubscriberResponse)),
  template: Type.Optional(ref(WorkflowResponse)),
  templateIdentifier: text('Identifier of the message template'),
  createdAt: Type.String({ description: 'When the message was created' }),
  deliveredAt: listOf(Type.String(), DELIVERED_AT),
  lastSeenDate: text('When the message was last seen'),
  lastReadDate: text('When the message was last read'),
  content: Type.Optional(ref(MessageContent)),
  transactionId: Type.String({
    description: 'Identifier of the trigger that created the message'
  }),
  subject: text('Subject of an email or of an Inbox message'),
  channel: ref(Channel, 'Channel that the message was sent on'),
  read: Type.Boolean({ description: 'Whether the message has been read' }),
  seen: Type.Boolean({ description: 'Whether the message has been seen' }),
  snoozedUntil: text('When the message will be unsnoozed'),
  email: text('Email address that the message was sent to'),
  phone: text('Phone number that the message was sent to'),
  directWebhookUrl: text('URL that the message was posted to'),
  providerId: text('Identifier of the provider that sent the message'),
  deviceTokens: listOf(Type.String(), 'Tokens of the devices that the message was sent to'),
  title: text('Title of a push message'),
  cta: ref(MessageCTA),
  _feedId: textOrNull('Identifier of the feed'),
  status: ref(MessageStatus),
  errorId: text('Identifier of the error, if the message has one'),
  errorText: text('Description of the error, if the message has one'),
  payload: Type.Optional(freeObject('Payload of the trigger that produced the message')),
  overrides: Type.Optional(
    freeObject('Provider-specific overrides that were sent with the trigger')
  ),
  contextKeys: listOf(Type.String(), 'Contexts that the message was sent in, each as `type:id`')
})
export type MessageResponse = Static<typeof MessageResponse>

/** The fields that the assumption `message-extras` adds to each message. */
export const MESSAGE_EXTRAS = {
  id: Type.String({ description: 'The same as `_id`' }),
  updatedAt: Type.String({ description: 'When the message was last delivered, seen or read' }),
  __v: Type.Number({ description: 'Version number of the record; always 0' })
}

const isExtra = (name: string) => Object.hasOwn(MESSAGE_EXTRAS, name)

/** Returns a copy of the message without the fields that the assumption `message-extras` adds. */
export function withoutExtras<Message extends object>(message: Message): Message {
  const fields = Object.entries(message).filter(([name]) => !isExtra(name))
  return Object.fromEntries(fields) as Message
}

/** Returns only the fields that the assumption `message-extras` adds. */
export function extrasOf(message: object): object {
  return Object.fromEntries(Object.entries(message).filter(([name]) => isExtra(name)))
}

export const MessagesPage = namedObject('MessagesPage', 'One page of messages', {
  totalCount: number('Total number of messages available'),
  hasMore: Type.Boolean({ description: 'Whether more messages are available' }),
  data: Type.Array(ref(MessageResponse), { description: 'Messages on this page' }),
  pageSize: Type.Number({ description: 'Maximum number of messages per page' }),
  page: Type.Number({ description: 'Number of this page, starting at 0' })
})

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

// Fields that may be left out.
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
  'One block of an email that was made with the block editor',
  {
    type: stringEnum(['button', 'text'], { description: 'Kind of the block' }),
    content: Type.String({ description: 'The text, or the label of the button' }),
    url: text('URL that a button opens'),
    styles: Type.Optional(ref(EmailBlockStyles))
  }
)
export type EmailBlock = Static<typeof EmailBlock>

export const MessageCTAData = namedObject('MessageCTAData', 'Target of a call to action', {
  url: text('URL that the call to action opens')
})

const ButtonType = namedEnum('ButtonType', 'Which of two buttons', ['primary', 'secondary'])

export const MessageButton = namedObject('MessageButton', 'A button of a message', {
  type: ref(ButtonType),
  content: Type.String({ description: 'Label of the button' }),
  resultContent: text('Text to show after it was pressed')
})

export const MessageActionResult = namedObject('MessageActionResult', 'Outcome of an action', {
  payload: Type.Optional(freeObject('Payload of the action')),
  type: Type.Optional(ref(ButtonType, 'The button that was pressed'))
})

export const MessageAction = namedObject('MessageAction', 'Action that a message offers', {
  status: oneOf(['pending', 'done'], 'Whether a button has been pressed'),
  buttons: listOf(ref(MessageButton), 'Buttons to press', { minItems: 0 }),
  result: Type.Optional(ref(MessageActionResult))
})

const CTA =
  'Call to action of a message; one that has none is empty, or has an action without buttons'
export const MessageCTA = namedObject('MessageCTA', CTA, {
  type: oneOf(['redirect'], 'Kind of action: opening a URL'),
  data: Type.Optional(ref(MessageCTAData)),
  action: Type.Optional(ref(MessageAction))
})
export type MessageCTA = Static<typeof MessageCTA>

const ChatPushProvider = namedEnum(
  'ChatPushProvider',
  'A provider of the chat or push channel',
  CHAT_PUSH_PROVIDERS
)

export const ChannelCredentials = namedObject(
  'ChannelCredentials',
  'Address of a subscriber at the provider',
  {
    webhookUrl: text('URL that messages are posted to'),
    channel: text('Channel specification of a chat provider'),
    deviceTokens: listOf(Type.String(), 'Tokens of the devices that get push messages', {
      minItems: 0
    }),
    alertUid: text('Identifier of the alert'),
    title: text('Title of the alert'),
    imageUrl: text('URL of an image for the alert'),
    state: text('State of the alert'),
    externalUrl: text('URL that the alert links to')
  }
)

const CHANNEL_SETTINGS = 'Settings of a subscriber for a chat or push provider'
export const ChannelSettings = namedObject('ChannelSettingsDto', CHANNEL_SETTINGS, {
  providerId: ref(ChatPushProvider, 'Identifier of the provider'),
  integrationIdentifier: text('Identifier of the integration'),
  credentials: ref(ChannelCredentials),
  _integrationId: Type.String({ description: 'Record identifier of the integration' })
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
    avatar: textOrNull('URL of a picture'),
    locale: textOrNull('Language and region, such as `en-GB`'),
    channels: listOf(ref(ChannelSettings), 'Settings for chat and push, one entry per integration'),
    topics: Type.Optional(
      Type.Array(Type.String(), { description: 'Topics it belongs to', deprecated: true })
    ),
    isOnline: Type.Optional(
      nullable(Type.Boolean({ description: 'Whether an Inbox of the subscriber is open' }))
    ),
    lastOnlineAt: Type.Optional(
      nullable(dateTime('When an Inbox of the subscriber was last open'))
    ),
    __v: number('Document version'),
    data: Type.Optional(nullable(freeObject('Custom data of the subscriber'))),
    timezone: textOrNull('Time zone, such as `Europe/London`'),
    subscriberId: Type.String({ description: 'Identifier used to create the subscriber' }),
    _organizationId: Type.String({ description: 'Owning organization' }),
    _environmentId: Type.String({ description: 'Owning environment' }),
    deleted: Type.Boolean({ description: 'Soft-delete marker' }),
    createdAt: dateTime('When the subscriber was created'),
    updatedAt: dateTime('When the subscriber was last changed')
  }
)
export type SubscriberResponse = Static<typeof SubscriberResponse>

/**
 * The fields of a subscriber in a message that the deployed service sends: see assumption
 * `embedded-subscriber`.
 */
export const EMBEDDED_FIELDS = [
  ...['_id', 'subscriberId', 'firstName', 'lastName', 'avatar', 'createdAt', 'updatedAt'],
  ...['_organizationId', '_environmentId', 'deleted']
]

const CHANNELS_ENABLED = 'Which channels are enabled'
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
  _id: text('Record identifier'),
  name: Type.String({ description: 'Display name' }),
  _environmentId: Type.String({ description: 'Owning environment' }),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _parentId: text('Identifier of the group that it was copied from')
})

export const NotificationTriggerVariable = namedObject(
  'NotificationTriggerVariable',
  'A variable of a trigger',
  {
    name: Type.String({ description: 'Name of the variable' })
  }
)

export const NotificationTrigger = namedObject('NotificationTrigger', 'A trigger of a workflow', {
  type: stringEnum(['event'], { description: 'What triggers it' }),
  identifier: Type.String({ description: 'Name to trigger it by' }),
  variables: Type.Array(ref(NotificationTriggerVariable), {
    description: 'Variables of the payload'
  }),
  subscriberVariables: listOf(ref(NotificationTriggerVariable), 'Variables of the subscriber')
})

const TimeUnit = namedEnum('TimeUnit', 'A unit of time', [
  'seconds',
  'minutes',
  'hours',
  'days',
  'weeks',
  'months'
])
const unit = Type.Optional(ref(TimeUnit, 'Unit of the amount'))
const digestKey = text('Key to group events by')

const MONDAY_ON = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
const Weekday = namedEnum('Weekday', 'A day of the week', [...MONDAY_ON, 'sunday'])
const ORDINAL_VALUES = ['day', 'weekday', 'weekend', 'sunday', ...MONDAY_ON] as const

export const TimedConfig = namedObject('TimedConfig', 'When a timed digest is sent', {
  atTime: text('Time of the day, such as `09:00`'),
  weekDays: listOf(ref(Weekday), 'Days of the week'),
  monthDays: listOf(Type.String(), 'Days of the month, as numbers'),
  ordinal: oneOf(
    ['1', '2', '3', '4', '5', 'last'],
    'Which of the `ordinalValue` days of the month'
  ),
  ordinalValue: oneOf(ORDINAL_VALUES, 'The days that `ordinal` counts'),
  monthlyType: oneOf(['each', 'on'], 'Whether `monthDays` (each) or `ordinal` (on) names the days')
})

const REGULAR_DIGEST = 'A digest of the events within a time span'
export const DigestRegularMetadata = namedObject('DigestRegularMetadata', REGULAR_DIGEST, {
  type: stringEnum(['regular', 'backoff'], {
    description: 'Whether it begins at once or looks back first'
  }),
  amount: number('Number of units to collect events for'),
  unit,
  digestKey,
  backoff: flag('Whether it looks back'),
  backoffAmount: number('Number of units to look back'),
  backoffUnit: Type.Optional(ref(TimeUnit, 'Unit of `backoffAmount`')),
  updateMode: flag('Whether a message that was sent is updated by later events')
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

export const DelayRegularMetadata = namedObject('DelayRegularMetadata', 'A delay of fixed length', {
  type: stringEnum(['regular'], { description: 'Always `regular`' }),
  amount: number('Number of units to wait'),
  unit
})

export const DelayScheduledMetadata = namedObject(
  'DelayScheduledMetadata',
  'A delay until a date in the payload',
  {
    type: stringEnum(['scheduled'], { description: 'Always `scheduled`' }),
    delayPath: Type.String({ description: 'Path in the payload of the date to wait for' })
  }
)

const StepMetadata = Type.Union(
  [
    ref(DigestRegularMetadata),
    ref(DigestTimedMetadata),
    ref(DelayRegularMetadata),
    ref(DelayScheduledMetadata)
  ],
  { $id: 'StepMetadata', description: 'Settings of a digest or a delay' }
)

export const MessageTemplate = Type.Unsafe<Record<string, unknown>>({
  $id: 'MessageTemplate',
  ...freeObject('Template of a step, whose fields the contract leaves open')
})

export const ReplyCallback = namedObject('ReplyCallback', 'Callback for replies of a subscriber', {
  active: flag('Whether replies are forwarded'),
  url: text('URL that replies are posted to')
})

const stepFields = {
  _id: text('Record identifier of the step'),
  uuid: text('Identifier of the step that editors use'),
  name: text('Display name'),
  _templateId: text('Identifier of the message template'),
  active: flag('Whether the step runs'),
  shouldStopOnFail: flag('Whether a failure here ends the workflow'),
  template: Type.Optional(ref(MessageTemplate)),
  filters: listOf(ref(StepFilter), 'Conditions under which the step runs'),
  _parentId: text('Identifier of the preceding step'),
  metadata: Type.Optional(ref(StepMetadata)),
  replyCallback: Type.Optional(ref(ReplyCallback))
}

const VARIANT = 'A variant of a step; it has no variants itself'
export const NotificationStepVariant = namedObject('NotificationStepVariant', VARIANT, stepFields)

export const NotificationStep = namedObject('NotificationStepDto', 'A step of a workflow', {
  ...stepFields,
  variants: listOf(ref(NotificationStepVariant), 'Variants of this step')
})

export const WorkflowResponse = namedObject(
  'WorkflowResponse',
  'The workflow that sent a message',
  {
    _id: text('Record identifier of the workflow'),
    name: Type.String({ description: 'Display name' }),
    description: Type.String({ description: 'What the workflow is for' }),
    active: Type.Boolean({ description: 'Whether it can be triggered' }),
    draft: Type.Boolean({ description: 'Whether it is not yet finished' }),
    preferenceSettings: ref(SubscriberPreferenceChannels),
    critical: Type.Boolean({ description: 'Whether subscribers cannot switch it off' }),
    tags: Type.Array(Type.String(), { description: 'Tags to find it by' }),
    steps: Type.Array(ref(NotificationStep), { description: 'Its steps, in their order' }),
    _organizationId: Type.String({ description: 'Owning organization' }),
    _creatorId: Type.String({ description: 'Identifier of the user who created it' }),
    _environmentId: Type.String({ description: 'Owning environment' }),
    triggers: Type.Array(ref(NotificationTrigger), { description: 'What triggers it' }),
    _notificationGroupId: Type.String({ description: 'Identifier of its group' }),
    _parentId: text('Identifier of the workflow that it was copied from'),
    deleted: Type.Boolean({ description: 'Soft-delete marker' }),
    deletedAt: Type.String({ description: 'Required even if the workflow was never deleted' }),
    deletedBy: Type.String({ description: 'Required even if the workflow was never deleted' }),
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
  description: 'Message content: blocks of the email editor, or text'
})
const MessageStatus = namedEnum('MessageStatus', 'What became of a message', [
  'sent',
  'error',
  'warning'
])

const DELIVERED_AT =
  'Delivery dates; several when delivered more than once, for example after a snooze'
const MESSAGE = 'A notification to one subscriber on one channel'
export const MessageResponse = namedObject('MessageResponseDto', MESSAGE, {
  _id: text('Message identifier'),
  _templateId: textOrNull('Template identifier'),
  _environmentId: Type.String({ description: 'Owning environment' }),
  _messageTemplateId: textOrNull('Message template identifier'),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _notificationId: Type.String({ description: 'Notification identifier' }),
  _subscriberId: Type.String({ description: 'Internal identifier of the subscriber' }),
  subscriber: Type.Optional(ref(SubscriberResponse)),
  template: Type.Optional(ref(WorkflowResponse)),
  templateIdentifier: text('Identifier of the message template'),
  createdAt: Type.String({ description: 'Creation date' }),
  deliveredAt: listOf(Type.String(), DELIVERED_AT),
  lastSeenDate: text('When it was last seen'),
  lastReadDate: text('When it was last read'),
  content: Type.Optional(ref(MessageContent)),
  transactionId: Type.String({
    description: 'Identifier of the trigger that produced the message'
  }),
  subject: text('Subject of an email or of an Inbox message'),
  channel: ref(Channel, 'The channel it was sent on'),
  read: Type.Boolean({ description: 'Whether it has been read' }),
  seen: Type.Boolean({ description: 'Whether it has been seen' }),
  snoozedUntil: text('Date when the message will be unsnoozed'),
  email: text('Address the message was sent to'),
  phone: text('Phone number the message was sent to'),
  directWebhookUrl: text('URL that the message was posted to'),
  providerId: text('Identifier of the provider'),
  deviceTokens: listOf(Type.String(), 'Devices that the message was sent to'),
  title: text('Title of a push message'),
  cta: ref(MessageCTA),
  _feedId: textOrNull('Identifier of the feed'),
  status: ref(MessageStatus),
  errorId: text('Present when the message has an error'),
  errorText: text('Present when the message has an error'),
  payload: Type.Optional(freeObject('Payload of the trigger that produced the notification')),
  overrides: Type.Optional(freeObject('Provider-specific overrides used at the trigger')),
  contextKeys: listOf(Type.String(), 'Contexts it was sent in, each as `type:id`')
})
export type MessageResponse = Static<typeof MessageResponse>

export const MessagesPage = namedObject('MessagesPage', 'One page of messages', {
  totalCount: number('Total number of messages available'),
  hasMore: Type.Boolean({ description: 'Whether more messages are available' }),
  data: Type.Array(ref(MessageResponse), { description: 'Messages of this page' }),
  pageSize: Type.Number({ description: 'Messages per page' }),
  page: Type.Number({ description: 'Current page number' })
})

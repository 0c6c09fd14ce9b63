import { type Static, Type } from '@sinclair/typebox'
import { CHANNELS, CHAT_PUSH_PROVIDERS, TIME_UNITS } from '../core/enums.js'
import { StepFilter } from '../core/step-filter.js'
import { freeObject, namedObject, nullable, ref, stringEnum } from '../core/typebox.js'

export const EmailBlockStyles = namedObject('EmailBlockStyles', 'Style of an email block', {
  textAlign: stringEnum(['center', 'left', 'right'])
})

export const EmailBlock = namedObject('EmailBlock', 'One block of an email that was made with the block editor', {
  type: stringEnum(['button', 'text']),
  content: Type.String({ description: 'The text, or the label of the button' }),
  url: Type.Optional(Type.String({ description: 'URL that a button opens' })),
  styles: Type.Optional(ref(EmailBlockStyles))
})
export type EmailBlock = Static<typeof EmailBlock>

export const MessageCTAData = namedObject('MessageCTAData', 'Target of a call to action', {
  url: Type.Optional(Type.String({ description: 'URL that the call to action opens' }))
})

const BUTTON_TYPES = ['primary', 'secondary'] as const

export const MessageButton = namedObject('MessageButton', 'A button of a message', {
  type: stringEnum(BUTTON_TYPES),
  content: Type.String({ description: 'Label of the button' }),
  resultContent: Type.Optional(Type.String({ description: 'Text to show after it was pressed' }))
})

export const MessageActionResult = namedObject('MessageActionResult', 'Outcome of an action', {
  payload: Type.Optional(freeObject('Payload of the action')),
  type: Type.Optional(stringEnum(BUTTON_TYPES, { description: 'The button that was pressed' }))
})

export const MessageAction = namedObject('MessageAction', 'Action that a message offers', {
  status: Type.Optional(stringEnum(['pending', 'done'])),
  buttons: Type.Optional(Type.Array(ref(MessageButton), { minItems: 0 })),
  result: Type.Optional(ref(MessageActionResult))
})

export const MessageCTA = namedObject('MessageCTA', 'Call to action of a message; empty if it has none', {
  type: Type.Optional(stringEnum(['redirect'])),
  data: Type.Optional(ref(MessageCTAData)),
  action: Type.Optional(ref(MessageAction))
})
export type MessageCTA = Static<typeof MessageCTA>

export const ChannelCredentials = namedObject('ChannelCredentials', 'Address of a subscriber at the provider', {
  webhookUrl: Type.Optional(Type.String()),
  channel: Type.Optional(Type.String({ description: 'Channel specification of a chat provider' })),
  deviceTokens: Type.Optional(Type.Array(Type.String(), { minItems: 0 })),
  alertUid: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  imageUrl: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  externalUrl: Type.Optional(Type.String())
})

export const ChannelSettings = namedObject('ChannelSettings', 'Settings of a subscriber for a chat or push provider', {
  providerId: stringEnum(CHAT_PUSH_PROVIDERS),
  integrationIdentifier: Type.Optional(Type.String({ description: 'Identifier of the integration' })),
  credentials: ref(ChannelCredentials),
  _integrationId: Type.String({ description: 'Record identifier of the integration' })
})

export const SubscriberResponse = namedObject('SubscriberResponse', 'A recipient of notifications', {
  _id: Type.Optional(Type.String({ description: 'Internal identifier, different from `subscriberId`' })),
  firstName: Type.Optional(nullable(Type.String())),
  lastName: Type.Optional(nullable(Type.String())),
  email: Type.Optional(nullable(Type.String())),
  phone: Type.Optional(nullable(Type.String())),
  avatar: Type.Optional(nullable(Type.String())),
  locale: Type.Optional(nullable(Type.String())),
  channels: Type.Optional(
    Type.Array(ref(ChannelSettings), { description: 'Settings for chat and push, one entry per integration' })
  ),
  topics: Type.Optional(
    Type.Array(Type.String(), { description: 'Topics the subscriber belongs to', deprecated: true })
  ),
  isOnline: Type.Optional(nullable(Type.Boolean())),
  lastOnlineAt: Type.Optional(nullable(Type.String({ description: 'ISO 8601' }))),
  __v: Type.Optional(Type.Number({ description: 'Document version' })),
  data: Type.Optional(nullable(freeObject('Custom data of the subscriber'))),
  timezone: Type.Optional(nullable(Type.String())),
  subscriberId: Type.String({ description: 'Identifier used to create the subscriber' }),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _environmentId: Type.String({ description: 'Owning environment' }),
  deleted: Type.Boolean({ description: 'Soft-delete marker' }),
  createdAt: Type.String({ description: 'ISO 8601' }),
  updatedAt: Type.String({ description: 'ISO 8601' })
})
export type SubscriberResponse = Static<typeof SubscriberResponse>

export const SubscriberPreferenceChannels = namedObject('SubscriberPreferenceChannels', 'Which channels are enabled', {
  email: Type.Optional(Type.Boolean()),
  sms: Type.Optional(Type.Boolean()),
  in_app: Type.Optional(Type.Boolean()),
  chat: Type.Optional(Type.Boolean()),
  push: Type.Optional(Type.Boolean())
})

export const NotificationGroup = namedObject('NotificationGroup', 'A group of workflows', {
  _id: Type.Optional(Type.String()),
  name: Type.String(),
  _environmentId: Type.String({ description: 'Owning environment' }),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _parentId: Type.Optional(Type.String())
})

export const NotificationTriggerVariable = namedObject('NotificationTriggerVariable', 'A variable of a trigger', {
  name: Type.String()
})

export const NotificationTrigger = namedObject('NotificationTrigger', 'A trigger of a workflow', {
  type: stringEnum(['event']),
  identifier: Type.String({ description: 'Name to trigger it by' }),
  variables: Type.Array(ref(NotificationTriggerVariable), { description: 'Variables of the payload' }),
  subscriberVariables: Type.Optional(
    Type.Array(ref(NotificationTriggerVariable), { description: 'Variables of the subscriber' })
  )
})

export const TimedConfig = namedObject('TimedConfig', 'When a timed digest is sent', {
  atTime: Type.Optional(Type.String()),
  weekDays: Type.Optional(
    Type.Array(stringEnum(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']))
  ),
  monthDays: Type.Optional(Type.Array(Type.String())),
  ordinal: Type.Optional(stringEnum(['1', '2', '3', '4', '5', 'last'])),
  ordinalValue: Type.Optional(
    stringEnum([
      'day',
      'weekday',
      'weekend',
      'sunday',
      'monday',
      'tuesday',
      'wednesday',
      'thursday',
      'friday',
      'saturday'
    ])
  ),
  monthlyType: Type.Optional(stringEnum(['each', 'on']))
})

export const DigestRegularMetadata = namedObject('DigestRegularMetadata', 'A digest of the events within a time span', {
  type: stringEnum(['regular', 'backoff']),
  amount: Type.Optional(Type.Number({ description: 'Number of units to collect events for' })),
  unit: Type.Optional(stringEnum(TIME_UNITS)),
  digestKey: Type.Optional(Type.String({ description: 'Key to group events by' })),
  backoff: Type.Optional(Type.Boolean()),
  backoffAmount: Type.Optional(Type.Number()),
  backoffUnit: Type.Optional(stringEnum(TIME_UNITS)),
  updateMode: Type.Optional(Type.Boolean())
})

export const DigestTimedMetadata = namedObject('DigestTimedMetadata', 'A digest that is sent on a schedule', {
  type: stringEnum(['timed']),
  amount: Type.Optional(Type.Number()),
  unit: Type.Optional(stringEnum(TIME_UNITS)),
  digestKey: Type.Optional(Type.String({ description: 'Key to group events by' })),
  timed: Type.Optional(ref(TimedConfig))
})

export const DelayRegularMetadata = namedObject('DelayRegularMetadata', 'A delay of fixed length', {
  type: stringEnum(['regular']),
  amount: Type.Optional(Type.Number({ description: 'Number of units to wait' })),
  unit: Type.Optional(stringEnum(TIME_UNITS))
})

export const DelayScheduledMetadata = namedObject('DelayScheduledMetadata', 'A delay until a date in the payload', {
  type: stringEnum(['scheduled']),
  delayPath: Type.String({ description: 'Path in the payload of the date to wait for' })
})

export const MessageTemplate = Type.Unsafe<Record<string, unknown>>({
  $id: 'MessageTemplate',
  ...freeObject('Template of a step, whose fields the contract leaves open')
})

export const ReplyCallback = namedObject('ReplyCallback', 'Callback for replies of a subscriber', {
  active: Type.Optional(Type.Boolean()),
  url: Type.Optional(Type.String())
})

const stepFields = {
  _id: Type.Optional(Type.String()),
  uuid: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  _templateId: Type.Optional(Type.String()),
  active: Type.Optional(Type.Boolean()),
  shouldStopOnFail: Type.Optional(Type.Boolean({ description: 'Whether a failure here ends the workflow' })),
  template: Type.Optional(ref(MessageTemplate)),
  filters: Type.Optional(Type.Array(ref(StepFilter), { description: 'Conditions under which the step runs' })),
  _parentId: Type.Optional(Type.String({ description: 'Identifier of the preceding step' })),
  metadata: Type.Optional(
    Type.Union(
      [ref(DigestRegularMetadata), ref(DigestTimedMetadata), ref(DelayRegularMetadata), ref(DelayScheduledMetadata)],
      { description: 'Settings of a digest or a delay' }
    )
  ),
  replyCallback: Type.Optional(ref(ReplyCallback))
}

export const NotificationStepVariant = namedObject(
  'NotificationStepVariant',
  'A variant of a step; it has no variants itself',
  stepFields
)

export const NotificationStep = namedObject('NotificationStep', 'A step of a workflow', {
  ...stepFields,
  variants: Type.Optional(Type.Array(ref(NotificationStepVariant), { description: 'Variants of this step' }))
})

export const WorkflowResponse = namedObject('WorkflowResponse', 'The workflow that sent a message', {
  _id: Type.Optional(Type.String()),
  name: Type.String(),
  description: Type.String(),
  active: Type.Boolean(),
  draft: Type.Boolean(),
  preferenceSettings: ref(SubscriberPreferenceChannels),
  critical: Type.Boolean(),
  tags: Type.Array(Type.String()),
  steps: Type.Array(ref(NotificationStep)),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _creatorId: Type.String(),
  _environmentId: Type.String({ description: 'Owning environment' }),
  triggers: Type.Array(ref(NotificationTrigger)),
  _notificationGroupId: Type.String(),
  _parentId: Type.Optional(Type.String()),
  deleted: Type.Boolean({ description: 'Soft-delete marker' }),
  deletedAt: Type.String({ description: 'Required even if the workflow was never deleted' }),
  deletedBy: Type.String({ description: 'Required even if the workflow was never deleted' }),
  notificationGroup: Type.Optional(ref(NotificationGroup)),
  data: Type.Optional(freeObject('Custom data of the workflow')),
  workflowIntegrationStatus: Type.Optional(freeObject('State of the integrations that the workflow uses'))
})
export type WorkflowResponse = Static<typeof WorkflowResponse>

export const MessageResponse = namedObject('MessageResponse', 'A notification to one subscriber on one channel', {
  _id: Type.Optional(Type.String({ description: 'Message identifier' })),
  _templateId: Type.Optional(nullable(Type.String({ description: 'Template identifier' }))),
  _environmentId: Type.String({ description: 'Owning environment' }),
  _messageTemplateId: Type.Optional(nullable(Type.String({ description: 'Message template identifier' }))),
  _organizationId: Type.String({ description: 'Owning organization' }),
  _notificationId: Type.String({ description: 'Notification identifier' }),
  _subscriberId: Type.String({ description: 'Internal identifier of the subscriber' }),
  subscriber: Type.Optional(ref(SubscriberResponse)),
  template: Type.Optional(ref(WorkflowResponse)),
  templateIdentifier: Type.Optional(Type.String({ description: 'Identifier of the message template' })),
  createdAt: Type.String({ description: 'Creation date' }),
  deliveredAt: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Delivery dates; several when delivered more than once, for example after a snooze'
    })
  ),
  lastSeenDate: Type.Optional(Type.String()),
  lastReadDate: Type.Optional(Type.String()),
  content: Type.Optional(
    Type.Union([Type.Array(ref(EmailBlock)), Type.String()], {
      description: 'Message content: blocks of the email editor, or text'
    })
  ),
  transactionId: Type.String({ description: 'Identifier of the trigger that produced the message' }),
  subject: Type.Optional(Type.String()),
  channel: stringEnum(CHANNELS, { description: 'The channel it was sent on' }),
  read: Type.Boolean(),
  seen: Type.Boolean(),
  snoozedUntil: Type.Optional(Type.String({ description: 'Date when the message will be unsnoozed' })),
  email: Type.Optional(Type.String({ description: 'Address the message was sent to' })),
  phone: Type.Optional(Type.String({ description: 'Phone number the message was sent to' })),
  directWebhookUrl: Type.Optional(Type.String()),
  providerId: Type.Optional(Type.String({ description: 'Identifier of the provider' })),
  deviceTokens: Type.Optional(Type.Array(Type.String())),
  title: Type.Optional(Type.String()),
  cta: ref(MessageCTA),
  _feedId: Type.Optional(nullable(Type.String())),
  status: stringEnum(['sent', 'error', 'warning']),
  errorId: Type.Optional(Type.String({ description: 'Present when the message has an error' })),
  errorText: Type.Optional(Type.String({ description: 'Present when the message has an error' })),
  payload: Type.Optional(freeObject('Payload of the trigger that produced the notification')),
  overrides: Type.Optional(freeObject('Provider-specific overrides used at the trigger')),
  contextKeys: Type.Optional(Type.Array(Type.String(), { description: 'Contexts it was sent in, each as `type:id`' }))
})
export type MessageResponse = Static<typeof MessageResponse>

export const MessagesPage = namedObject('MessagesPage', 'One page of messages', {
  totalCount: Type.Optional(Type.Number({ description: 'Total number of messages available' })),
  hasMore: Type.Boolean({ description: 'Whether more messages are available' }),
  data: Type.Array(ref(MessageResponse), { description: 'Messages of this page' }),
  pageSize: Type.Number({ description: 'Messages per page' }),
  page: Type.Number({ description: 'Current page number' })
})

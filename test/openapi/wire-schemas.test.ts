import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { wireSchemas } from '../support/wire-schemas.js'

/** The fields that a workflow step and a step variant have in common. */
const STEP = `
    _id?, uuid?, name?, _templateId? string
    active?, shouldStopOnFail? boolean
    template? MessageTemplate
    filters? StepFilterDto[]
    _parentId? string
    metadata? DigestRegularMetadata|DigestTimedMetadata|DelayRegularMetadata|DelayScheduledMetadata
    replyCallback? ReplyCallback`

/**
 * The objects in Novu's API reference, copied by hand in the same order. Each line lists field
 * names and then their type. `?` marks an optional field. A type is `{}` (any object), `a/b` (an
 * enum), `map<T>` (a map from strings to T) or the capitalized name of another object in this list.
 * Nothing here is derived from the code under test.
 */
const REFERENCE: Record<string, string> = {
  CredentialsDto: `
    apiKey?, user?, secretKey?, domain?, password?, host?, port?, region?, accountSid? string
    messageProfileId?, token?, from?, senderName?, projectName?, applicationId?, clientId? string
    baseUrl?, webhookUrl?, redirectUrl?, serviceAccount?, ipPoolName?, apiKeyRequestHeader? string
    secretKeyRequestHeader?, idPath?, datePath?, apiToken?, authenticationTokenKey? string
    instanceId?, alertUid?, title?, imageUrl?, state?, externalLink?, channelId? string
    phoneNumberIdentification?, accessKey?, appSid?, senderId?, tenantId?, AppIOBaseUrl? string
    secure?, requireTls?, ignoreTls?, hmac?, authenticateByToken? boolean
    tlsOptions? {}`,
  ConfigurationsDto: `
    inboundWebhookEnabled? boolean
    inboundWebhookSigningKey? string`,
  FieldFilterPartDto: `
    field, value string
    operator LARGER/SMALLER/LARGER_EQUAL/SMALLER_EQUAL/EQUAL/NOT_EQUAL/ALL_IN/ANY_IN/NOT_IN/BETWEEN/NOT_BETWEEN/LIKE/NOT_LIKE/IN
    on subscriber/payload`,
  StepFilterDto: `
    isNegated boolean
    type BOOLEAN/TEXT/DATE/NUMBER/STATEMENT/LIST/MULTI_LIST/GROUP
    value AND/OR
    children FieldFilterPartDto[]`,
  Integration: `
    _id?, _environmentId, _organizationId, name, identifier, providerId string
    channel in_app/email/sms/chat/push
    credentials CredentialsDto
    configurations? ConfigurationsDto
    active, deleted boolean
    deletedAt?, deletedBy? string
    primary boolean
    conditions? StepFilterDto[]`,
  EmailBlockStyles: 'textAlign center/left/right',
  EmailBlock: `
    type button/text
    content, url? string
    styles? EmailBlockStyles`,
  MessageCTAData: 'url? string',
  MessageButton: `
    type primary/secondary
    content, resultContent? string`,
  MessageActionResult: `
    payload? {}
    type? primary/secondary`,
  MessageAction: `
    status? pending/done
    buttons? MessageButton[]
    result? MessageActionResult`,
  MessageCTA: `
    type? redirect
    data? MessageCTAData
    action? MessageAction`,
  ChannelCredentials: `
    webhookUrl?, channel? string
    deviceTokens? string[]
    alertUid?, title?, imageUrl?, state?, externalUrl? string`,
  ChannelSettingsDto: `
    providerId slack/discord/msteams/mattermost/ryver/zulip/grafana-on-call/getstream/rocket-chat/whatsapp-business/chat-webhook/service-slack/fcm/apns/expo/one-signal/pushpad/push-webhook/pusher-beams/appio
    integrationIdentifier? string
    credentials ChannelCredentials
    _integrationId string`,
  SubscriberResponseDto: `
    _id? string
    firstName?, lastName?, email?, phone?, avatar?, locale? string|null
    channels? ChannelSettingsDto[]
    topics? string[]
    isOnline? boolean|null
    lastOnlineAt? string|null
    __v? number
    data? {}|null
    timezone? string|null
    subscriberId, _organizationId, _environmentId string
    deleted boolean
    createdAt, updatedAt string`,
  SubscriberPreferenceChannels: 'email?, sms?, in_app?, chat?, push? boolean',
  NotificationGroup: '_id?, name, _environmentId, _organizationId, _parentId? string',
  NotificationTriggerVariable: 'name string',
  NotificationTrigger: `
    type event
    identifier string
    variables, subscriberVariables? NotificationTriggerVariable[]`,
  TimedConfig: `
    atTime? string
    weekDays? monday/tuesday/wednesday/thursday/friday/saturday/sunday[]
    monthDays? string[]
    ordinal? 1/2/3/4/5/last
    ordinalValue? day/weekday/weekend/sunday/monday/tuesday/wednesday/thursday/friday/saturday
    monthlyType? each/on`,
  DigestRegularMetadata: `
    type regular/backoff
    amount? number
    unit? seconds/minutes/hours/days/weeks/months
    digestKey? string
    backoff? boolean
    backoffAmount? number
    backoffUnit? seconds/minutes/hours/days/weeks/months
    updateMode? boolean`,
  DigestTimedMetadata: `
    type timed
    amount? number
    unit? seconds/minutes/hours/days/weeks/months
    digestKey? string
    timed? TimedConfig`,
  DelayRegularMetadata: `
    type regular
    amount? number
    unit? seconds/minutes/hours/days/weeks/months`,
  DelayScheduledMetadata: `
    type scheduled
    delayPath string`,
  ReplyCallback: `
    active? boolean
    url? string`,
  NotificationStepVariant: STEP,
  NotificationStepDto: `${STEP}
    variants? NotificationStepVariant[]`,
  WorkflowResponse: `
    _id?, name, description string
    active, draft boolean
    preferenceSettings SubscriberPreferenceChannels
    critical boolean
    tags string[]
    steps NotificationStepDto[]
    _organizationId, _creatorId, _environmentId string
    triggers NotificationTrigger[]
    _notificationGroupId, _parentId? string
    deleted boolean
    deletedAt, deletedBy string
    notificationGroup? NotificationGroup
    data?, workflowIntegrationStatus? {}`,
  MessageResponseDto: `
    _id? string
    _templateId? string|null
    _environmentId string
    _messageTemplateId? string|null
    _organizationId, _notificationId, _subscriberId string
    subscriber? SubscriberResponseDto
    template? WorkflowResponse
    templateIdentifier?, createdAt string
    deliveredAt? string[]
    lastSeenDate?, lastReadDate? string
    content? EmailBlock[]|string
    transactionId, subject? string
    channel in_app/email/sms/chat/push
    read, seen boolean
    snoozedUntil?, email?, phone?, directWebhookUrl?, providerId? string
    deviceTokens? string[]
    title? string
    cta MessageCTA
    _feedId? string|null
    status sent/error/warning
    errorId?, errorText? string
    payload?, overrides? {}
    contextKeys? string[]`,
  MessagesPage: `
    totalCount? number
    hasMore boolean
    data MessageResponseDto[]
    pageSize, page number`,
  UiSchemaProperty: `
    placeholder? string|number|boolean|{}|(string|number|boolean|{})[]
    component EMAIL_EDITOR_SELECT/LAYOUT_SELECT/EMAIL_RENDERER_SELECT/BLOCK_EDITOR/EMAIL_BODY/TEXT_FULL_LINE/TEXT_INLINE_LABEL/IN_APP_BODY/IN_APP_AVATAR/IN_APP_PRIMARY_SUBJECT/IN_APP_BUTTON_DROPDOWN/IN_APP_DISABLE_SANITIZATION_SWITCH/DISABLE_SANITIZATION_SWITCH/URL_TEXT_BOX/DIGEST_AMOUNT/DIGEST_UNIT/DIGEST_TYPE/DIGEST_KEY/DIGEST_CRON/DELAY_AMOUNT/DELAY_UNIT/DELAY_TYPE/DELAY_CRON/DELAY_DYNAMIC_KEY/THROTTLE_TYPE/THROTTLE_WINDOW/THROTTLE_UNIT/THROTTLE_DYNAMIC_KEY/THROTTLE_THRESHOLD/THROTTLE_KEY/EXTEND_TO_SCHEDULE/SMS_BODY/CHAT_BODY/PUSH_BODY/PUSH_SUBJECT/QUERY_EDITOR/DATA/LAYOUT_EMAIL
    properties? map<UiSchemaProperty>`,
  UiSchema: `
    group? IN_APP/EMAIL/DIGEST/DELAY/THROTTLE/SMS/CHAT/PUSH/SKIP/LAYOUT
    properties? map<UiSchemaProperty>`,
  ControlsMetadataDto: `
    dataSchema? {}
    uiSchema? UiSchema`,
  StepContentIssueDto: `
    issueType ILLEGAL_VARIABLE_IN_CONTROL_VALUE/INVALID_FILTER_ARG_IN_VARIABLE/MISSING_VALUE/TIER_LIMIT_EXCEEDED
    variableName?, message string`,
  StepIntegrationIssue: `
    issueType MISSING_INTEGRATION/INBOX_NOT_CONNECTED
    variableName?, message string`,
  StepIssuesDto: `
    controls? map<StepContentIssueDto[]>
    integration? map<StepIntegrationIssue[]>`,
  WorkflowStep: `
    controls ControlsMetadataDto
    controlValues?, variables {}
    stepId, _id, name, slug string
    type in_app/email/sms/chat/push/digest/trigger/delay/throttle/custom
    origin service-cloud/service-cloud-v1/external
    workflowId, workflowDatabaseId string
    issues? StepIssuesDto`
}

/** Our names for enums and unions that have no name in the API reference. */
const UNNAMED = `
  ButtonType Channel ChatPushProvider ContentIssueType FilterOperator FilterType
  IntegrationIssueType MessageContent MessageStatus Origin Placeholder StepMetadata StepType
  TimeUnit UiComponent UiGroup Weekday`
  .trim()
  .split(/\s+/)

const names = wireSchemas.map((schema) => String(schema.$id))
const objects = wireSchemas.filter((schema) => schema.additionalProperties === false)

test('each API reference type has a schema, and only MessageTemplate allows unknown fields', () => {
  expect([...names].sort()).toEqual(
    [...Object.keys(REFERENCE), 'MessageTemplate', ...UNNAMED].sort()
  )
  const open = names.filter((name) => !objects.includes(named(name)))
  expect(open.sort()).toEqual(['MessageTemplate', ...UNNAMED].sort())
})

test.each(Object.entries(REFERENCE))(
  '%s has the same fields as in the API reference, in the same order',
  (name, rows) => {
    const schema = named(name)
    const fields = fieldsOf(schema).map(([field, value]) => {
      return `${field}${(schema.required ?? []).includes(field) ? '' : '?'} ${notation(value)}`
    })
    expect(fields).toEqual(rows.trim().split(/\n\s*/).flatMap(fieldsOfRow))
  }
)

test('all patterns, bounds and defaults in the schemas are from the API reference', () => {
  const bounds =
    /"(format|pattern|default|const|multipleOf|uniqueItems|minItems|(exclusive)?(min|max)[A-Z]\w+|(min|max)imum)":[^,}]*/g
  expect(new Set(JSON.stringify(wireSchemas).match(bounds))).toEqual(
    new Set(['"minItems":0', '"format":"date-time"'])
  )
  const times = ['lastOnlineAt', 'createdAt', 'updatedAt'].map(
    (field) => `SubscriberResponseDto.${field}`
  )
  expect([fieldsWith('format'), fieldsWith('deprecated')]).toEqual([
    times,
    ['SubscriberResponseDto.topics']
  ])
})

test('every schema compiles in strict mode, and has a description', () => {
  const formats = { 'date-time': true as const }
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, formats, schemas: [...wireSchemas] })
  for (const name of names) {
    expect(ajv.getSchema(name), name).toBeTypeOf('function')
    expect(named(name).description, name).toMatch(/^[A-Z].+[^.]$/)
  }
})

function named(name: string): TSchema {
  const schema = wireSchemas.find(({ $id }) => $id === name)
  if (!schema) throw new Error(`no schema ${name}`)
  return schema
}

function fieldsOf(schema: TSchema): [name: string, schema: TSchema][] {
  return Object.entries(schema.properties as Record<string, TSchema>)
}

/** Searches all objects, and returns the fields whose schema has this keyword. */
function fieldsWith(keyword: string): string[] {
  return objects.flatMap((schema) =>
    fieldsOf(schema).flatMap(([field, value]) => (keyword in value ? `${schema.$id}.${field}` : []))
  )
}

/** Returns the fields in a line of `REFERENCE`, each with its type. */
function fieldsOfRow(row: string): string[] {
  const [, fields = '', type] = /^(.*) (\S+)$/.exec(row) ?? []
  return fields.split(', ').map((field) => `${field} ${type}`)
}

/** Returns a field's schema in the notation that `REFERENCE` uses. */
function notation(field: TSchema): string {
  const reference = String(field.$ref).replace(/#$/, '')
  const schema = UNNAMED.includes(reference) ? named(reference) : field
  if (schema.$ref) return reference
  if (schema.anyOf) return schema.anyOf.map(notation).join('|')
  if (schema.enum) return schema.enum.join('/')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => notation({ ...schema, type })).join('|')
  if (schema.type === 'array') {
    const items = notation(schema.items)
    return schema.items.anyOf ? `(${items})[]` : `${items}[]`
  }
  if (schema.type !== 'object') return schema.type
  return schema.additionalProperties === true
    ? '{}'
    : `map<${notation(schema.additionalProperties)}>`
}

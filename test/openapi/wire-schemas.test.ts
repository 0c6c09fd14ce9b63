import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { wireSchemas } from '../support/wire-schemas.js'

/**
 * The contract, typed out by hand and in its order: one line a field, `name? type`.
 *
 * `?` is optional, `{}` a free object, `a/b` a list of words, `map<T>` any names with values T, and a name with a
 * capital another of these objects. Nothing here is taken from the code it checks.
 */
const CONTRACT: Record<string, string> = {
  CredentialsDto: `
    apiKey? string
    user? string
    secretKey? string
    domain? string
    password? string
    host? string
    port? string
    region? string
    accountSid? string
    messageProfileId? string
    token? string
    from? string
    senderName? string
    projectName? string
    applicationId? string
    clientId? string
    baseUrl? string
    webhookUrl? string
    redirectUrl? string
    serviceAccount? string
    ipPoolName? string
    apiKeyRequestHeader? string
    secretKeyRequestHeader? string
    idPath? string
    datePath? string
    apiToken? string
    authenticationTokenKey? string
    instanceId? string
    alertUid? string
    title? string
    imageUrl? string
    state? string
    externalLink? string
    channelId? string
    phoneNumberIdentification? string
    accessKey? string
    appSid? string
    senderId? string
    tenantId? string
    AppIOBaseUrl? string
    secure? boolean
    requireTls? boolean
    ignoreTls? boolean
    hmac? boolean
    authenticateByToken? boolean
    tlsOptions? {}`,
  ConfigurationsDto: `
    inboundWebhookEnabled? boolean
    inboundWebhookSigningKey? string`,
  FieldFilterPartDto: `
    field string
    value string
    operator LARGER/SMALLER/LARGER_EQUAL/SMALLER_EQUAL/EQUAL/NOT_EQUAL/ALL_IN/ANY_IN/NOT_IN/BETWEEN/NOT_BETWEEN/LIKE/NOT_LIKE/IN
    on subscriber/payload`,
  StepFilterDto: `
    isNegated boolean
    type BOOLEAN/TEXT/DATE/NUMBER/STATEMENT/LIST/MULTI_LIST/GROUP
    value AND/OR
    children FieldFilterPartDto[]`,
  Integration: `
    _id? string
    _environmentId string
    _organizationId string
    name string
    identifier string
    providerId string
    channel in_app/email/sms/chat/push
    credentials CredentialsDto
    configurations? ConfigurationsDto
    active boolean
    deleted boolean
    deletedAt? string
    deletedBy? string
    primary boolean
    conditions? StepFilterDto[]`,
  EmailBlockStyles: `
    textAlign center/left/right`,
  EmailBlock: `
    type button/text
    content string
    url? string
    styles? EmailBlockStyles`,
  MessageCTAData: `
    url? string`,
  MessageButton: `
    type primary/secondary
    content string
    resultContent? string`,
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
    webhookUrl? string
    channel? string
    deviceTokens? string[]
    alertUid? string
    title? string
    imageUrl? string
    state? string
    externalUrl? string`,
  ChannelSettingsDto: `
    providerId slack/discord/msteams/mattermost/ryver/zulip/grafana-on-call/getstream/rocket-chat/whatsapp-business/chat-webhook/service-slack/fcm/apns/expo/one-signal/pushpad/push-webhook/pusher-beams/appio
    integrationIdentifier? string
    credentials ChannelCredentials
    _integrationId string`,
  SubscriberResponseDto: `
    _id? string
    firstName? string|null
    lastName? string|null
    email? string|null
    phone? string|null
    avatar? string|null
    locale? string|null
    channels? ChannelSettingsDto[]
    topics? string[]
    isOnline? boolean|null
    lastOnlineAt? string|null
    __v? number
    data? {}|null
    timezone? string|null
    subscriberId string
    _organizationId string
    _environmentId string
    deleted boolean
    createdAt string
    updatedAt string`,
  SubscriberPreferenceChannels: `
    email? boolean
    sms? boolean
    in_app? boolean
    chat? boolean
    push? boolean`,
  NotificationGroup: `
    _id? string
    name string
    _environmentId string
    _organizationId string
    _parentId? string`,
  NotificationTriggerVariable: `
    name string`,
  NotificationTrigger: `
    type event
    identifier string
    variables NotificationTriggerVariable[]
    subscriberVariables? NotificationTriggerVariable[]`,
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
  NotificationStepVariant: `
    _id? string
    uuid? string
    name? string
    _templateId? string
    active? boolean
    shouldStopOnFail? boolean
    template? MessageTemplate
    filters? StepFilterDto[]
    _parentId? string
    metadata? DigestRegularMetadata|DigestTimedMetadata|DelayRegularMetadata|DelayScheduledMetadata
    replyCallback? ReplyCallback`,
  NotificationStepDto: `
    _id? string
    uuid? string
    name? string
    _templateId? string
    active? boolean
    shouldStopOnFail? boolean
    template? MessageTemplate
    filters? StepFilterDto[]
    _parentId? string
    metadata? DigestRegularMetadata|DigestTimedMetadata|DelayRegularMetadata|DelayScheduledMetadata
    replyCallback? ReplyCallback
    variants? NotificationStepVariant[]`,
  WorkflowResponse: `
    _id? string
    name string
    description string
    active boolean
    draft boolean
    preferenceSettings SubscriberPreferenceChannels
    critical boolean
    tags string[]
    steps NotificationStepDto[]
    _organizationId string
    _creatorId string
    _environmentId string
    triggers NotificationTrigger[]
    _notificationGroupId string
    _parentId? string
    deleted boolean
    deletedAt string
    deletedBy string
    notificationGroup? NotificationGroup
    data? {}
    workflowIntegrationStatus? {}`,
  MessageResponseDto: `
    _id? string
    _templateId? string|null
    _environmentId string
    _messageTemplateId? string|null
    _organizationId string
    _notificationId string
    _subscriberId string
    subscriber? SubscriberResponseDto
    template? WorkflowResponse
    templateIdentifier? string
    createdAt string
    deliveredAt? string[]
    lastSeenDate? string
    lastReadDate? string
    content? EmailBlock[]|string
    transactionId string
    subject? string
    channel in_app/email/sms/chat/push
    read boolean
    seen boolean
    snoozedUntil? string
    email? string
    phone? string
    directWebhookUrl? string
    providerId? string
    deviceTokens? string[]
    title? string
    cta MessageCTA
    _feedId? string|null
    status sent/error/warning
    errorId? string
    errorText? string
    payload? {}
    overrides? {}
    contextKeys? string[]`,
  MessagesPage: `
    totalCount? number
    hasMore boolean
    data MessageResponseDto[]
    pageSize number
    page number`,
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
    variableName? string
    message string`,
  StepIntegrationIssue: `
    issueType MISSING_INTEGRATION/INBOX_NOT_CONNECTED
    variableName? string
    message string`,
  StepIssuesDto: `
    controls? map<StepContentIssueDto[]>
    integration? map<StepIntegrationIssue[]>`,
  WorkflowStep: `
    controls ControlsMetadataDto
    controlValues? {}
    variables {}
    stepId string
    _id string
    name string
    slug string
    type in_app/email/sms/chat/push/digest/trigger/delay/throttle/custom
    origin service-cloud/service-cloud-v1/external
    workflowId string
    workflowDatabaseId string
    issues? StepIssuesDto`
}

const NULLABLE = [
  'MessageResponseDto._templateId',
  'MessageResponseDto._messageTemplateId',
  'MessageResponseDto._feedId',
  'SubscriberResponseDto.firstName',
  'SubscriberResponseDto.lastName',
  'SubscriberResponseDto.email',
  'SubscriberResponseDto.phone',
  'SubscriberResponseDto.avatar',
  'SubscriberResponseDto.locale',
  'SubscriberResponseDto.isOnline',
  'SubscriberResponseDto.lastOnlineAt',
  'SubscriberResponseDto.data',
  'SubscriberResponseDto.timezone'
]

type Values = Record<string, unknown>

/** Words and unions that the contract gives no name. */
const UNNAMED = [
  'ButtonType',
  'Channel',
  'ChatPushProvider',
  'ContentIssueType',
  'FilterOperator',
  'FilterType',
  'IntegrationIssueType',
  'MessageContent',
  'MessageStatus',
  'Origin',
  'Placeholder',
  'StepMetadata',
  'StepType',
  'TimeUnit',
  'UiComponent',
  'UiGroup',
  'Weekday'
]

const schemas = [...wireSchemas]
const names = schemas.map((schema) => String(schema.$id))
const objects = schemas.filter((schema) => schema.additionalProperties === false)

const formats = { 'date-time': true as const }
const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true, formats, schemas })

function named(name: string): TSchema {
  const schema = schemas.find((candidate) => candidate.$id === name)
  if (!schema) throw new Error(`no schema ${name}`)
  return schema
}

function isValid(name: string, value: unknown): boolean {
  const validate = ajv.getSchema(name)
  if (!validate) throw new Error(`no schema ${name}`)
  return validate(value) === true
}

const fieldsOf = (schema: TSchema) => Object.entries(schema.properties as Record<string, TSchema>)
const isRequired = (schema: TSchema, field: string) => (schema.required ?? []).includes(field)
const referred = (schema: TSchema) => String(schema.$ref).replace(/#$/, '')
/** The words or the union that a reference stands for; any other schema as it is. */
const written = (schema: TSchema) => (UNNAMED.includes(referred(schema)) ? named(referred(schema)) : schema)

/** A field's schema in the notation of `CONTRACT`. */
function notation(field: TSchema): string {
  const schema = written(field)
  if (schema.$ref) return referred(schema)
  if (schema.anyOf) return schema.anyOf.map(notation).join('|')
  if (schema.enum) return schema.enum.join('/')
  if (Array.isArray(schema.type)) return schema.type.map((type) => notation({ ...schema, type })).join('|')
  if (schema.type === 'array')
    return schema.items.anyOf ? `(${notation(schema.items)})[]` : `${notation(schema.items)}[]`
  if (schema.type !== 'object') return schema.type
  return schema.additionalProperties === true ? '{}' : `map<${notation(schema.additionalProperties)}>`
}

/** A believable smallest value: an object with its required fields only, the first of the words, the first of a union. */
function smallest(schema: TSchema): unknown {
  if (schema.$ref) return smallest(named(referred(schema)))
  if (schema.anyOf) return smallest(schema.anyOf[0])
  if (schema.enum) return schema.enum[0]
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return 'text'
    case 'number':
      return 1.5
    case 'boolean':
      return false
    case 'array':
      return [smallest(schema.items)]
    case 'object':
      if (schema.properties) return withFields(schema, (field) => isRequired(schema, field))
      return schema.additionalProperties === true ? {} : { 'any name': smallest(schema.additionalProperties) }
    default:
      throw new Error(`no value known for ${JSON.stringify(schema)}`)
  }
}

function withFields(schema: TSchema, wanted: (field: string) => boolean): Values {
  const fields = fieldsOf(schema).filter(([field]) => wanted(field))
  return Object.fromEntries(fields.map(([field, value]) => [field, smallest(value)]))
}

const everyField = (schema: TSchema) => withFields(schema, () => true)

function without(value: Values, field: string): Values {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== field))
}

describe('the schemas', () => {
  test('are those of the contract, no more and no fewer', () => {
    expect([...names].sort()).toEqual([...Object.keys(CONTRACT), 'MessageTemplate', ...UNNAMED].sort())
  })

  test.each(Object.entries(CONTRACT))('%s has the fields of the contract, in its order', (name, fields) => {
    const schema = named(name)
    const noted = fieldsOf(schema).map(
      ([field, value]) => `${field}${isRequired(schema, field) ? '' : '?'} ${notation(value)}`
    )
    expect(noted).toEqual(fields.trim().split(/\n\s*/))
  })

  test('take no other fields, except for the message template, which the contract leaves open', () => {
    const open = names.filter((name) => named(name).additionalProperties !== false)
    expect(open.sort()).toEqual(['MessageTemplate', ...UNNAMED].sort())
    expect(isValid('MessageTemplate', { anything: [1, null] })).toBe(true)
    expect(isValid('MessageTemplate', [])).toBe(false)
    expect(isValid('MessageTemplate', null)).toBe(false)
  })

  test('bind values no further than the contract does: no patterns, bounds or defaults, and one format', () => {
    const bounds =
      /"(format|pattern|default|const|multipleOf|uniqueItems|minItems|(exclusive)?(min|max)[A-Z]\w+|(min|max)imum)":[^,}]*/g
    expect(new Set(JSON.stringify(schemas).match(bounds))).toEqual(new Set(['"minItems":0', '"format":"date-time"']))
    const dates = objects.flatMap((schema) =>
      fieldsOf(schema).flatMap(([field, { format }]) => (format ? `${schema.$id}.${field}` : []))
    )
    expect(dates).toEqual(['lastOnlineAt', 'createdAt', 'updatedAt'].map((field) => `SubscriberResponseDto.${field}`))
  })

  test('mark as deprecated what the contract does', () => {
    const deprecated = objects.flatMap((schema) =>
      fieldsOf(schema).flatMap(([field, value]) => (value.deprecated ? `${schema.$id}.${field}` : []))
    )
    expect(deprecated).toEqual(['SubscriberResponseDto.topics'])
  })

  test('describe every field, by its own words or those of what it refers to', () => {
    const silent = objects.flatMap((schema) =>
      fieldsOf(schema).flatMap(([field, value]) => {
        const description = value.description ?? (value.$ref && named(referred(value)).description)
        return /^[A-Z`].+[^.]$/.test(description ?? '') ? [] : `${schema.$id}.${field}`
      })
    )
    expect(silent).toEqual([])
  })

  test('name what several fields share: words that two of them have are a schema', () => {
    const lists = objects.flatMap((schema) =>
      fieldsOf(schema).flatMap(([, { enum: words, items }]) => (words ?? items?.enum)?.join() ?? [])
    )
    const repeated = lists.filter((list, index) => list.includes(',') && lists.indexOf(list) !== index)
    expect(repeated).toEqual([])
    const unions = objects.flatMap((schema) => fieldsOf(schema).filter(([, { anyOf }]) => anyOf))
    expect(unions).toEqual([])
  })

  test('refer only to themselves or to a shape that stands before them', () => {
    for (const [position, schema] of schemas.entries()) {
      const known = names.slice(0, position + 1).map((name) => `"${name}#"`)
      const references = [...JSON.stringify(schema).matchAll(/"\$ref":("[^"]*")/g)].map((match) => match[1])
      expect(known).toEqual(expect.arrayContaining(references))
    }
  })

  test.each(names)('%s compiles in strict mode and is described', (name) => {
    expect(ajv.getSchema(name)).toBeTypeOf('function')
    expect(named(name).description).toMatch(/^[A-Z].+[^.]$/)
  })
})

describe('the smallest answers that the official clients accept', () => {
  const page = { hasMore: false, data: [], pageSize: 10, page: 0 }
  const message = {
    _environmentId: 'e',
    _organizationId: 'o',
    _notificationId: 'n',
    _subscriberId: 's',
    createdAt: '2026-01-02T03:04:05.678Z',
    transactionId: 't',
    channel: 'email',
    read: false,
    seen: false,
    cta: {},
    status: 'sent'
  }
  const answers: [string, Values][] = [
    [
      'Integration',
      {
        _environmentId: 'e',
        _organizationId: 'o',
        name: 'Mail',
        identifier: 'mail',
        providerId: 'sendgrid',
        channel: 'email',
        credentials: {},
        active: true,
        deleted: false,
        primary: true
      }
    ],
    ['MessagesPage', page],
    ['MessagesPage', { ...page, data: [message] }],
    ['MessageResponseDto', message],
    [
      'WorkflowStep',
      {
        controls: {},
        variables: {},
        stepId: 's',
        _id: '1',
        name: 'S',
        slug: 's_1',
        type: 'email',
        origin: 'external',
        workflowId: 'w',
        workflowDatabaseId: '2'
      }
    ]
  ]

  test.each(answers)('%s %j', (name, answer) => {
    expect(isValid(name, answer)).toBe(true)
  })
})

describe.each(objects.map((schema) => [String(schema.$id), schema] as const))('%s', (name, schema) => {
  const fields = fieldsOf(schema)
  const whole = everyField(schema)

  test('passes with its required fields and with all of them', () => {
    expect(isValid(name, smallest(schema))).toBe(true)
    expect(isValid(name, whole)).toBe(true)
  })

  test('refuses an unknown field', () => {
    expect(isValid(name, { ...whole, unknownField: 'text' })).toBe(false)
  })

  test.each(fields)('%s may be absent only where it is optional', (field) => {
    expect(isValid(name, without(whole, field))).toBe(!isRequired(schema, field))
  })

  test.each(fields)('%s may be null only where the contract says so', (field) => {
    expect(isValid(name, { ...whole, [field]: null })).toBe(NULLABLE.includes(`${name}.${field}`))
  })

  const closedLists = fields.flatMap(([field, property]) => {
    const value = written(property)
    if (value.enum) return [{ field, list: value.enum as string[], holding: (word: string): unknown => word }]
    const list = (value.items && written(value.items).enum) as string[] | undefined
    return list ? [{ field, list, holding: (word: string): unknown => [word] }] : []
  })

  test.each(closedLists)('$field takes each of its words and no other', ({ field, list, holding }) => {
    for (const word of list) expect(isValid(name, { ...whole, [field]: holding(word) }), word).toBe(true)
    for (const word of ['unknown-word', '', ` ${list[0]}`]) {
      expect(isValid(name, { ...whole, [field]: holding(word) }), word).toBe(false)
    }
  })
})

test('null is allowed in these fields and nowhere else', () => {
  const nullable = objects.flatMap((schema) =>
    fieldsOf(schema)
      .filter(([field]) => isValid(String(schema.$id), { ...everyField(schema), [field]: null }))
      .map(([field]) => `${schema.$id}.${field}`)
  )
  expect(nullable.sort()).toEqual([...NULLABLE].sort())
})

describe('unions, maps and recursion', () => {
  const message = everyField(named('MessageResponseDto'))
  const block = { type: 'button', content: 'Open', url: 'https://example.com', styles: { textAlign: 'center' } }

  test.each([
    ['text', true],
    ['', true],
    [[], true],
    [[block], true],
    [[block, { ...block, extra: 1 }], false],
    [['text'], false],
    [block, false],
    [7, false]
  ])('the content %j of a message: %s', (content, expected) => {
    expect(isValid('MessageResponseDto', { ...message, content })).toBe(expected)
  })

  test.each([
    [{ type: 'regular' }, true],
    [{ type: 'backoff', backoff: true, backoffAmount: 5, backoffUnit: 'minutes', updateMode: false }, true],
    [{ type: 'timed', timed: { weekDays: ['monday', 'friday'], ordinal: 'last', monthlyType: 'on' } }, true],
    [{ type: 'scheduled', delayPath: 'payload.sendAt' }, true],
    [{ type: 'scheduled' }, false],
    [{ type: 'timed', backoff: true }, false],
    [{ type: 'backoff', timed: {} }, false],
    [{ type: 'regular', unit: 'years' }, false],
    [{ amount: 5 }, false],
    [{}, false]
  ])('the metadata %j of a step: %s', (metadata, expected) => {
    expect(isValid('NotificationStepDto', { metadata })).toBe(expected)
    expect(isValid('NotificationStepVariant', { metadata })).toBe(expected)
  })

  test('a variant has no variants of its own', () => {
    expect(isValid('NotificationStepDto', { variants: [{ name: 'Other' }] })).toBe(true)
    expect(isValid('NotificationStepDto', { variants: [{ name: 'Other', variants: [] }] })).toBe(false)
  })

  test.each([
    ['text', true],
    [0, true],
    [false, true],
    [{ url: { placeholder: '' } }, true],
    [[], true],
    [['text', 1, true, {}], true],
    [[null], false],
    [[['text']], false]
  ])('the placeholder %j of a control: %s', (placeholder, expected) => {
    expect(isValid('UiSchemaProperty', { component: 'DATA', placeholder })).toBe(expected)
  })

  test('a control is checked at any depth', () => {
    const nested = (component: string) => ({
      component: 'DATA',
      properties: { a: { component: 'DATA', properties: { b: { component } } } }
    })
    expect(isValid('UiSchema', { properties: { any: nested('EMAIL_BODY') } })).toBe(true)
    expect(isValid('UiSchema', { properties: { any: nested('UNKNOWN') } })).toBe(false)
  })

  test('issues are lists under any name', () => {
    const content = { issueType: 'MISSING_VALUE', variableName: 'subject', message: 'Subject is required' }
    const integration = { issueType: 'MISSING_INTEGRATION', message: 'Missing active primary integration provider' }
    expect(isValid('StepIssuesDto', {})).toBe(true)
    expect(isValid('StepIssuesDto', { controls: { 'redirect.url': [content], body: [] }, integration: {} })).toBe(true)
    expect(isValid('StepIssuesDto', { integration: { email: [integration] } })).toBe(true)
    expect(isValid('StepIssuesDto', { controls: { subject: content } })).toBe(false)
    expect(isValid('StepIssuesDto', { controls: { subject: [integration] } })).toBe(false)
  })
})

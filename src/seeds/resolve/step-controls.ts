import { type StepType, TIME_UNITS, type UiComponent } from '../../core/enums.js'
import type { ControlsMetadata, UiSchema, UiSchemaProperty } from '../../workflow-steps/schemas.js'

type JsonSchema = Record<string, unknown>
type UiGroup = NonNullable<UiSchema['group']>
type Placeholder = NonNullable<UiSchemaProperty['placeholder']>

/**
 * The controls of a step that was made in the service itself, as the service declares them for its type.
 * Every call gives objects of its own, no two of them shared: change them as you like.
 *
 * Not for the steps of external workflows: there the developer declares the schema.
 */
export function defaultControls(type: StepType): ControlsMetadata {
  return CONTROLS[type]()
}

const CONTROLS: Record<StepType, () => ControlsMetadata> = {
  in_app: () => ({ dataSchema: inAppSchema(), uiSchema: inAppUi() }),
  email: () => ({ dataSchema: emailSchema(), uiSchema: emailUi() }),
  sms: () => ({ dataSchema: bodySchema(), uiSchema: bodyUi('SMS', 'SMS_BODY') }),
  chat: () => ({ dataSchema: bodySchema(), uiSchema: bodyUi('CHAT', 'CHAT_BODY') }),
  push: () => ({ dataSchema: pushSchema(), uiSchema: pushUi() }),
  digest: () => ({ dataSchema: digestSchema(), uiSchema: digestUi() }),
  delay: () => ({ dataSchema: delaySchema(), uiSchema: delayUi() }),
  throttle: () => ({ dataSchema: throttleSchema(), uiSchema: throttleUi() }),
  custom: () => ({ dataSchema: openSchema() }),
  trigger: () => ({ dataSchema: openSchema() })
}

const inAppSchema = () => draft7({ anyOf: [inAppContent(['subject']), inAppContent(['body'])] })

function inAppContent(required: string[]): JsonSchema {
  const properties = {
    subject: string(),
    body: string(),
    disableOutputSanitization: boolean(),
    avatar: url(),
    primaryAction: action(),
    secondaryAction: action(),
    data: anyObject(),
    redirect: redirect()
  }
  return controls(properties, required)
}

function emailSchema(): JsonSchema {
  const properties = {
    body: string({ default: '' }),
    editorType: oneOf(['block', 'html'], { default: 'block' }),
    subject: nonEmptyString(),
    disableOutputSanitization: boolean(),
    layoutId: { type: ['string', 'null'] }
  }
  return draft7(controls(properties, ['subject']))
}

const bodySchema = () => draft7(controls({ body: string() }, ['body']))

const pushSchema = () => draft7(controls({ subject: string(), body: string() }, ['subject', 'body']))

function digestSchema(): JsonSchema {
  const regular = {
    type: oneOf(['regular']),
    ...duration(),
    digestKey: string(),
    lookBackWindow: strictObject({ ...duration(), ...extendToSchedule() }, ['amount', 'unit']),
    ...extendToSchedule()
  }
  const timed = { type: oneOf(['timed']), cron: nonEmptyString(), digestKey: string(), ...extendToSchedule() }
  return draft7({ anyOf: [controls(regular, ['amount', 'unit']), controls(timed, ['cron'])] })
}

function delaySchema(): JsonSchema {
  const variant = (type: string, properties: JsonSchema) =>
    controls({ type: string({ const: type }), ...properties, ...extendToSchedule() }, [
      'type',
      ...Object.keys(properties)
    ])
  return draft7({
    anyOf: [
      variant('regular', duration()),
      variant('timed', { cron: nonEmptyString() }),
      variant('dynamic', { dynamicKey: nonEmptyString() })
    ]
  })
}

function throttleSchema(): JsonSchema {
  const properties = {
    type: oneOf(['fixed', 'dynamic'], { default: 'fixed' }),
    amount: atLeastOne(),
    unit: oneOf(['minutes', 'hours', 'days']),
    dynamicKey: nonEmptyString(),
    threshold: atLeastOne(),
    throttleKey: string()
  }
  return draft7(controls(properties))
}

const openSchema = (): JsonSchema => ({ type: 'object', properties: {}, required: [], additionalProperties: true })

const draft7 = (schema: JsonSchema): JsonSchema => ({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })

/** What every step of the service can be told: its own properties, and when to be skipped. */
const controls = (properties: JsonSchema, required?: string[]) =>
  strictObject({ skip: anyObject(), ...properties }, required)

function strictObject(properties: JsonSchema, required?: string[]): JsonSchema {
  return { type: 'object', properties, ...(required && { required }), additionalProperties: false }
}

const anyObject = (): JsonSchema => ({ type: 'object', properties: {}, additionalProperties: {} })

const action = () => strictObject({ label: string(), redirect: redirect() }, ['label'])

const redirect = () =>
  strictObject({ url: url(), target: oneOf(['_self', '_blank', '_parent', '_top', '_unfencedTop']) }, ['url', 'target'])

/** An address on the web, a path, or whatever begins with a variable; never `mailto:`. */
const URL_PATTERN =
  '^(?:\\{\\{[^}]*\\}\\}.*|(?!mailto:)(?:https?:\\/\\/[^\\s/$.?#][^\\s]*(?:\\{\\{[^}]*\\}\\})*[^\\s]*)|\\/[^\\s]*(?:\\{\\{[^}]*\\}\\})*[^\\s]*)$'

const url = () => string({ pattern: URL_PATTERN })

const duration = () => ({
  amount: atLeastOne(),
  unit: oneOf(TIME_UNITS)
})

const extendToSchedule = () => ({ extendToSchedule: boolean() })

const string = (keywords: JsonSchema = {}): JsonSchema => ({ type: 'string', ...keywords })

const nonEmptyString = () => string({ minLength: 1 })

const oneOf = (words: readonly string[], keywords: JsonSchema = {}) => string({ enum: [...words], ...keywords })

const boolean = (): JsonSchema => ({ type: 'boolean' })

const atLeastOne = (): JsonSchema => ({ type: 'number', minimum: 1 })

// The deployed service sends `placeholder: null` in places. The contract lists no null there: the key is left out.

const inAppUi = () =>
  ui('IN_APP', {
    body: field('IN_APP_BODY', ''),
    avatar: field('IN_APP_AVATAR'),
    subject: field('IN_APP_PRIMARY_SUBJECT', ''),
    primaryAction: field('IN_APP_BUTTON_DROPDOWN'),
    secondaryAction: field('IN_APP_BUTTON_DROPDOWN'),
    redirect: field('URL_TEXT_BOX', { url: { placeholder: '' }, target: { placeholder: '_self' } }),
    disableOutputSanitization: field('IN_APP_DISABLE_SANITIZATION_SWITCH', false),
    data: field('DATA')
  })

// The deployed service has `rendererType: EMAIL_RENDERER_SELECT` here since 2026. Its clients before 3.14.1 hold a
// closed list of components without it and refuse the whole answer.
const emailUi = () =>
  ui('EMAIL', {
    body: field('EMAIL_BODY'),
    subject: field('TEXT_INLINE_LABEL'),
    editorType: field('EMAIL_EDITOR_SELECT', 'block'),
    disableOutputSanitization: field('DISABLE_SANITIZATION_SWITCH', false),
    layoutId: field('LAYOUT_SELECT')
  })

const bodyUi = (group: UiGroup, body: UiComponent) => ui(group, { body: field(body) })

const pushUi = () => ui('PUSH', { subject: field('PUSH_SUBJECT'), body: field('PUSH_BODY') })

const digestUi = () =>
  ui('DIGEST', {
    amount: field('DIGEST_AMOUNT', ''),
    unit: field('DIGEST_UNIT', 'seconds'),
    digestKey: field('DIGEST_KEY', ''),
    cron: field('DIGEST_CRON', ''),
    type: field('DIGEST_TYPE', 'regular'),
    extendToSchedule: field('EXTEND_TO_SCHEDULE', false)
  })

const delayUi = () =>
  ui('DELAY', {
    amount: field('DELAY_AMOUNT'),
    unit: field('DELAY_UNIT', 'seconds'),
    cron: field('DELAY_CRON', ''),
    dynamicKey: field('DELAY_DYNAMIC_KEY', ''),
    type: field('DELAY_TYPE', 'regular'),
    extendToSchedule: field('EXTEND_TO_SCHEDULE', false)
  })

const throttleUi = () =>
  ui('THROTTLE', {
    type: field('THROTTLE_TYPE', 'fixed'),
    amount: field('THROTTLE_WINDOW'),
    unit: field('THROTTLE_UNIT', 'minutes'),
    dynamicKey: field('THROTTLE_DYNAMIC_KEY', 'payload.timestamp'),
    threshold: field('THROTTLE_THRESHOLD', 1),
    throttleKey: field('THROTTLE_KEY', '')
  })

function ui(group: UiGroup, properties: Record<string, UiSchemaProperty>): UiSchema {
  return { group, properties: { ...properties, skip: field('QUERY_EDITOR') } }
}

function field(component: UiComponent, placeholder?: Placeholder): UiSchemaProperty {
  return { component, ...(placeholder !== undefined && { placeholder }) }
}

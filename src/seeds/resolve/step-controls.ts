import { type StepType, TIME_UNITS, type UiComponent } from '../../core/enums.js'
import type { ControlsMetadata, UiSchema, UiSchemaProperty } from '../../workflow-steps/schemas.js'

type JsonSchema = Record<string, unknown>

/** Returns a copy of the controls that the deployed service declares for a step of the type. */
export function defaultControls(type: StepType): ControlsMetadata {
  return JSON.parse(JSON.stringify(CONTROLS[type]))
}

const STRING = { type: 'string' }
const NON_EMPTY = { type: 'string', minLength: 1 }
const BOOLEAN = { type: 'boolean' }
const AT_LEAST_ONE = { type: 'number', minimum: 1 }
const ANY_OBJECT = { type: 'object', properties: {}, additionalProperties: {} }
const OPEN = { type: 'object', properties: {}, required: [], additionalProperties: true }

/** An address on the web, a path, or anything that begins with a variable; never `mailto:`. */
const URL = {
  type: 'string',
  pattern:
    '^(?:\\{\\{[^}]*\\}\\}.*|(?!mailto:)(?:https?:\\/\\/[^\\s/$.?#][^\\s]*(?:\\{\\{[^}]*\\}\\})*[^\\s]*)|\\/[^\\s]*(?:\\{\\{[^}]*\\}\\})*[^\\s]*)$'
}
const REDIRECT = closed({ url: URL, target: oneOf('_self', '_blank', '_parent', '_top', '_unfencedTop') }, [
  'url',
  'target'
])
const ACTION = closed({ label: STRING, redirect: REDIRECT }, ['label'])
const DURATION = { amount: AT_LEAST_ONE, unit: oneOf(...TIME_UNITS) }
const EXTEND = { extendToSchedule: BOOLEAN }

const IN_APP = {
  subject: STRING,
  body: STRING,
  disableOutputSanitization: BOOLEAN,
  avatar: URL,
  primaryAction: ACTION,
  secondaryAction: ACTION,
  data: ANY_OBJECT,
  redirect: REDIRECT
}
const EMAIL = {
  body: { type: 'string', default: '' },
  editorType: { ...oneOf('block', 'html'), default: 'block' },
  subject: NON_EMPTY,
  disableOutputSanitization: BOOLEAN,
  layoutId: { type: ['string', 'null'] }
}
const DIGEST_REGULAR = {
  type: oneOf('regular'),
  ...DURATION,
  digestKey: STRING,
  lookBackWindow: closed({ ...DURATION, ...EXTEND }, ['amount', 'unit']),
  ...EXTEND
}
const DIGEST_TIMED = { type: oneOf('timed'), cron: NON_EMPTY, digestKey: STRING, ...EXTEND }
const THROTTLE = {
  type: { ...oneOf('fixed', 'dynamic'), default: 'fixed' },
  amount: AT_LEAST_ONE,
  unit: oneOf('minutes', 'hours', 'days'),
  dynamicKey: NON_EMPTY,
  threshold: AT_LEAST_ONE,
  throttleKey: STRING
}
const BODY_SCHEMA = draft7(controls({ body: STRING }, ['body']))

// The deployed service has `placeholder: null` in places, where the contract allows no null, and since 2026
// `rendererType: EMAIL_RENDERER_SELECT` for emails, which its clients before 3.14.1 refuse. Both are left out.
const CONTROLS: Record<StepType, ControlsMetadata> = {
  in_app: {
    dataSchema: draft7({ anyOf: [controls(IN_APP, ['subject']), controls(IN_APP, ['body'])] }),
    uiSchema: ui('IN_APP', {
      body: ['IN_APP_BODY', ''],
      avatar: ['IN_APP_AVATAR'],
      subject: ['IN_APP_PRIMARY_SUBJECT', ''],
      primaryAction: ['IN_APP_BUTTON_DROPDOWN'],
      secondaryAction: ['IN_APP_BUTTON_DROPDOWN'],
      redirect: ['URL_TEXT_BOX', { url: { placeholder: '' }, target: { placeholder: '_self' } }],
      disableOutputSanitization: ['IN_APP_DISABLE_SANITIZATION_SWITCH', false],
      data: ['DATA']
    })
  },
  email: {
    dataSchema: draft7(controls(EMAIL, ['subject'])),
    uiSchema: ui('EMAIL', {
      body: ['EMAIL_BODY'],
      subject: ['TEXT_INLINE_LABEL'],
      editorType: ['EMAIL_EDITOR_SELECT', 'block'],
      disableOutputSanitization: ['DISABLE_SANITIZATION_SWITCH', false],
      layoutId: ['LAYOUT_SELECT']
    })
  },
  sms: { dataSchema: BODY_SCHEMA, uiSchema: ui('SMS', { body: ['SMS_BODY'] }) },
  chat: { dataSchema: BODY_SCHEMA, uiSchema: ui('CHAT', { body: ['CHAT_BODY'] }) },
  push: {
    dataSchema: draft7(controls({ subject: STRING, body: STRING }, ['subject', 'body'])),
    uiSchema: ui('PUSH', { subject: ['PUSH_SUBJECT'], body: ['PUSH_BODY'] })
  },
  digest: {
    dataSchema: draft7({ anyOf: [controls(DIGEST_REGULAR, ['amount', 'unit']), controls(DIGEST_TIMED, ['cron'])] }),
    uiSchema: ui('DIGEST', {
      amount: ['DIGEST_AMOUNT', ''],
      unit: ['DIGEST_UNIT', 'seconds'],
      digestKey: ['DIGEST_KEY', ''],
      cron: ['DIGEST_CRON', ''],
      type: ['DIGEST_TYPE', 'regular'],
      extendToSchedule: ['EXTEND_TO_SCHEDULE', false]
    })
  },
  delay: {
    dataSchema: draft7({
      anyOf: [
        delay('regular', DURATION),
        delay('timed', { cron: NON_EMPTY }),
        delay('dynamic', { dynamicKey: NON_EMPTY })
      ]
    }),
    uiSchema: ui('DELAY', {
      amount: ['DELAY_AMOUNT'],
      unit: ['DELAY_UNIT', 'seconds'],
      cron: ['DELAY_CRON', ''],
      dynamicKey: ['DELAY_DYNAMIC_KEY', ''],
      type: ['DELAY_TYPE', 'regular'],
      extendToSchedule: ['EXTEND_TO_SCHEDULE', false]
    })
  },
  throttle: {
    dataSchema: draft7(controls(THROTTLE)),
    uiSchema: ui('THROTTLE', {
      type: ['THROTTLE_TYPE', 'fixed'],
      amount: ['THROTTLE_WINDOW'],
      unit: ['THROTTLE_UNIT', 'minutes'],
      dynamicKey: ['THROTTLE_DYNAMIC_KEY', 'payload.timestamp'],
      threshold: ['THROTTLE_THRESHOLD', 1],
      throttleKey: ['THROTTLE_KEY', '']
    })
  },
  custom: { dataSchema: OPEN },
  trigger: { dataSchema: OPEN }
}

function draft7(schema: JsonSchema): JsonSchema {
  return { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' }
}

/** The controls of any step: its own properties, and when it is skipped. */
function controls(properties: JsonSchema, required?: string[]): JsonSchema {
  return closed({ skip: ANY_OBJECT, ...properties }, required)
}

function closed(properties: JsonSchema, required?: string[]): JsonSchema {
  return { type: 'object', properties, ...(required && { required }), additionalProperties: false }
}

function delay(type: string, properties: JsonSchema): JsonSchema {
  return controls({ type: { ...STRING, const: type }, ...properties, ...EXTEND }, ['type', ...Object.keys(properties)])
}

function oneOf(...values: string[]): JsonSchema {
  return { type: 'string', enum: values }
}

type Field = [component: UiComponent, placeholder?: UiSchemaProperty['placeholder'] & {}]

function ui(group: UiSchema['group'] & {}, fields: Record<string, Field>): UiSchema {
  const properties = Object.entries({ ...fields, skip: ['QUERY_EDITOR'] as Field }).map(
    ([name, [component, placeholder]]) => [name, { component, ...(placeholder !== undefined && { placeholder }) }]
  )
  return { group, properties: Object.fromEntries(properties) }
}

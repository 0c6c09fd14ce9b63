import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { STEP_TYPES, type StepType } from '../../../src/core/enums.js'
import { defaultControls } from '../../../src/seeds/resolve/step-controls.js'
import { wireSchemas } from '../../support/wire-schemas.js'
import deployed from './step-control-schemas.json' with { type: 'json' }

const open = { type: 'object', properties: {}, required: [], additionalProperties: true }

const dataSchemas: Record<StepType, object> = { ...deployed, chat: deployed.sms, custom: open, trigger: open }

const skip = { component: 'QUERY_EDITOR' }

const uiSchemas: Record<StepType, object | undefined> = {
  in_app: {
    group: 'IN_APP',
    properties: {
      body: { component: 'IN_APP_BODY', placeholder: '' },
      avatar: { component: 'IN_APP_AVATAR' },
      subject: { component: 'IN_APP_PRIMARY_SUBJECT', placeholder: '' },
      primaryAction: { component: 'IN_APP_BUTTON_DROPDOWN' },
      secondaryAction: { component: 'IN_APP_BUTTON_DROPDOWN' },
      redirect: {
        component: 'URL_TEXT_BOX',
        placeholder: { url: { placeholder: '' }, target: { placeholder: '_self' } }
      },
      skip,
      disableOutputSanitization: { component: 'IN_APP_DISABLE_SANITIZATION_SWITCH', placeholder: false },
      data: { component: 'DATA' }
    }
  },
  email: {
    group: 'EMAIL',
    properties: {
      body: { component: 'EMAIL_BODY' },
      subject: { component: 'TEXT_INLINE_LABEL' },
      skip,
      editorType: { component: 'EMAIL_EDITOR_SELECT', placeholder: 'block' },
      disableOutputSanitization: { component: 'DISABLE_SANITIZATION_SWITCH', placeholder: false },
      layoutId: { component: 'LAYOUT_SELECT' }
    }
  },
  sms: { group: 'SMS', properties: { body: { component: 'SMS_BODY' }, skip } },
  chat: { group: 'CHAT', properties: { body: { component: 'CHAT_BODY' }, skip } },
  push: {
    group: 'PUSH',
    properties: { subject: { component: 'PUSH_SUBJECT' }, body: { component: 'PUSH_BODY' }, skip }
  },
  digest: {
    group: 'DIGEST',
    properties: {
      amount: { component: 'DIGEST_AMOUNT', placeholder: '' },
      unit: { component: 'DIGEST_UNIT', placeholder: 'seconds' },
      digestKey: { component: 'DIGEST_KEY', placeholder: '' },
      cron: { component: 'DIGEST_CRON', placeholder: '' },
      type: { component: 'DIGEST_TYPE', placeholder: 'regular' },
      extendToSchedule: { component: 'EXTEND_TO_SCHEDULE', placeholder: false },
      skip
    }
  },
  delay: {
    group: 'DELAY',
    properties: {
      skip,
      amount: { component: 'DELAY_AMOUNT' },
      unit: { component: 'DELAY_UNIT', placeholder: 'seconds' },
      cron: { component: 'DELAY_CRON', placeholder: '' },
      dynamicKey: { component: 'DELAY_DYNAMIC_KEY', placeholder: '' },
      type: { component: 'DELAY_TYPE', placeholder: 'regular' },
      extendToSchedule: { component: 'EXTEND_TO_SCHEDULE', placeholder: false }
    }
  },
  throttle: {
    group: 'THROTTLE',
    properties: {
      skip,
      type: { component: 'THROTTLE_TYPE', placeholder: 'fixed' },
      amount: { component: 'THROTTLE_WINDOW' },
      unit: { component: 'THROTTLE_UNIT', placeholder: 'minutes' },
      dynamicKey: { component: 'THROTTLE_DYNAMIC_KEY', placeholder: 'payload.timestamp' },
      threshold: { component: 'THROTTLE_THRESHOLD', placeholder: 1 },
      throttleKey: { component: 'THROTTLE_KEY', placeholder: '' }
    }
  },
  custom: undefined,
  trigger: undefined
}

const accepted: [StepType, object][] = [
  ['in_app', { subject: 'Order shipped' }],
  [
    'in_app',
    {
      subject: 'Order shipped',
      body: 'Hi {{subscriber.firstName}}',
      avatar: 'https://example.com/ada.png',
      redirect: { url: '/orders/{{payload.orderId}}', target: '_self' },
      primaryAction: { label: 'Track it', redirect: { url: '{{payload.trackingUrl}}', target: '_blank' } },
      secondaryAction: { label: 'Dismiss' },
      data: { orderId: '{{payload.orderId}}' },
      skip: { '==': [{ var: 'payload.quiet' }, true] }
    }
  ],
  ['email', { subject: 'On its way', body: '<p>Order {{payload.orderId}}</p>', editorType: 'html' }],
  ['email', { subject: 'On its way', body: '{"type":"doc","content":[]}', editorType: 'block', layoutId: null }],
  ['sms', { body: 'Order {{payload.orderId}} has shipped' }],
  ['chat', { body: 'Order {{payload.orderId}} has shipped' }],
  ['push', { subject: 'On its way', body: 'Order {{payload.orderId}}' }],
  ['digest', { type: 'regular', amount: 5, unit: 'minutes', digestKey: 'payload.orderId' }],
  ['digest', { amount: 1, unit: 'months', lookBackWindow: { amount: 2, unit: 'weeks', extendToSchedule: true } }],
  ['digest', { type: 'timed', cron: '0 9 * * 1-5' }],
  ['delay', { type: 'regular', amount: 1, unit: 'hours' }],
  ['delay', { type: 'timed', cron: '0 9 * * *', extendToSchedule: true }],
  ['delay', { type: 'dynamic', dynamicKey: 'payload.sendAt' }],
  ['throttle', { type: 'fixed', amount: 1, unit: 'hours', threshold: 3 }],
  ['throttle', { type: 'dynamic', dynamicKey: 'payload.timestamp', throttleKey: 'payload.orderId' }],
  ['custom', {}],
  ['custom', { anything: ['at', 'all'] }],
  ['trigger', {}]
]

const refused: [StepType, unknown][] = [
  ['in_app', {}],
  ['in_app', { subject: 'Order shipped', title: 'unknown' }],
  ['in_app', { body: 'x', redirect: { url: '/orders' } }],
  ['in_app', { body: 'x', redirect: { url: '/orders', target: '_new' } }],
  ['in_app', { body: 'x', primaryAction: { redirect: { url: '/orders', target: '_self' } } }],
  ['email', { body: '<p>no subject</p>' }],
  ['email', { subject: '' }],
  ['email', { subject: 'x', editorType: 'markdown' }],
  ['sms', {}],
  ['chat', { body: 7 }],
  ['push', { body: 'no subject' }],
  ['digest', { type: 'regular', amount: 0, unit: 'minutes' }],
  ['digest', { type: 'regular', amount: 5, unit: 'years' }],
  ['digest', { type: 'timed', cron: '' }],
  ['digest', { type: 'timed', amount: 5, unit: 'minutes' }],
  ['delay', { amount: 1, unit: 'hours' }],
  ['delay', { type: 'dynamic', dynamicKey: '' }],
  ['throttle', { type: 'fixed', amount: 1, unit: 'seconds' }],
  ['throttle', { threshold: 0 }],
  ['custom', 'not an object']
]

const compile = (type: StepType) => new Ajv({ strict: false }).compile(defaultControls(type).dataSchema ?? {})

describe.each(STEP_TYPES)('the default controls of %s', (type) => {
  test('have the data schema of the deployed service', () => {
    expect(defaultControls(type).dataSchema).toEqual(dataSchemas[type])
  })

  test('have the UI schema of the deployed service, without what the contract or older clients refuse', () => {
    expect(defaultControls(type).uiSchema).toEqual(uiSchemas[type])
  })

  test('have no field that is present and undefined', () => {
    const controls = defaultControls(type)
    expect(controls).toStrictEqual(JSON.parse(JSON.stringify(controls)))
  })

  test('fit the wire', () => {
    const ajv = new Ajv({ strict: false, formats: { 'date-time': true }, schemas: [...wireSchemas] })
    expect(ajv.validate('ControlsMetadataDto', defaultControls(type)), ajv.errorsText()).toBe(true)
  })

  test('show a field only for what the data schema knows', () => {
    const { dataSchema, uiSchema } = defaultControls(type)
    const alternatives = (dataSchema?.anyOf ?? [dataSchema]) as { properties: object }[]
    const known = alternatives.flatMap(({ properties }) => Object.keys(properties))
    expect(known).toEqual(expect.arrayContaining(Object.keys(uiSchema?.properties ?? {})))
  })

  test('are valid draft-07 when they name a draft', () => {
    const { dataSchema } = defaultControls(type)
    const ajv = new Ajv({ strict: false })
    expect(ajv.validate('http://json-schema.org/draft-07/schema#', dataSchema)).toBe(true)
  })

  test('are new objects each time, and share none within themselves', () => {
    const before = defaultControls(type)
    const objects = objectsIn(before)
    expect(new Set(objects).size).toBe(objects.length)

    for (const object of objects) for (const key of Object.keys(object)) Reflect.deleteProperty(object, key)

    expect(before).toEqual({})
    expect(defaultControls(type).dataSchema).toEqual(dataSchemas[type])
    expect(defaultControls(type).uiSchema).toEqual(uiSchemas[type])
  })
})

test.each(accepted)('%s accepts %j', (type, values) => {
  const accepts = compile(type)
  accepts(values)
  expect(accepts.errors ?? []).toEqual([])
})

test.each(refused)('%s refuses %j', (type, values) => {
  expect(compile(type)(values)).toBe(false)
})

describe.each([
  ['a redirect', (url: string) => ({ body: 'x', redirect: { url, target: '_self' } })],
  [
    "an action's redirect",
    (url: string) => ({ body: 'x', primaryAction: { label: 'x', redirect: { url, target: '_self' } } })
  ],
  ['an avatar', (url: string) => ({ body: 'x', avatar: url })]
])('the address of %s', (_what, withUrl) => {
  const accepts = compile('in_app')

  test.each([
    'https://example.com',
    'http://example.com/a?b=c#d',
    'https://example.com/orders/{{payload.orderId}}',
    'https://{{payload.host}}/orders',
    '/',
    '/orders',
    '/orders/{{payload.orderId}}/track',
    '{{payload.url}}',
    '{{payload.host}}/orders and more'
  ])('may be %s', (url) => {
    expect(accepts(withUrl(url))).toBe(true)
  })

  test.each([
    '',
    'mailto:ada@example.com',
    'example.com',
    'orders/7',
    'ftp://example.com',
    'https://',
    '/or ders',
    'javascript:x'
  ])('may not be %j', (url) => {
    expect(accepts(withUrl(url))).toBe(false)
  })
})

function objectsIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

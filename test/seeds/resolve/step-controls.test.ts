import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { STEP_TYPES, type StepType } from '../../../src/core/enums.js'
import { defaultControls } from '../../../src/seeds/resolve/step-controls.js'
import { wireSchemas } from '../../support/wire-schemas.js'

const accepts = (type: StepType, values: unknown) =>
  new Ajv({ strict: false }).validate(defaultControls(type).dataSchema ?? {}, values)

describe.each(STEP_TYPES)('the default controls of %s', (type) => {
  test('fit the wire, and have a valid schema', () => {
    const ajv = new Ajv({ strict: false, formats: { 'date-time': true }, schemas: [...wireSchemas] })
    expect(ajv.validate('ControlsMetadataDto', defaultControls(type)), ajv.errorsText()).toBe(true)
    const { dataSchema } = defaultControls(type)
    expect(ajv.validate('http://json-schema.org/draft-07/schema#', dataSchema), ajv.errorsText()).toBe(true)
  })

  test('are new objects each time', () => {
    const before = JSON.stringify(defaultControls(type))
    Object.assign(defaultControls(type).dataSchema ?? {}, { changed: true })
    expect(JSON.stringify(defaultControls(type))).toBe(before)
  })
})

/** What the deployed service accepts of each type, and the field that it refuses it without. */
test.each<[StepType, Record<string, unknown>, string]>([
  ['in_app', { subject: 'Shipped', skip: { '==': [{ var: 'payload.quiet' }, true] } }, 'subject'],
  ['email', { subject: 'Shipped', body: '<p>Hello</p>', editorType: 'html', layoutId: null }, 'subject'],
  ['sms', { body: 'Order {{payload.orderId}}' }, 'body'],
  ['chat', { body: 'Order {{payload.orderId}}' }, 'body'],
  ['push', { subject: 'Shipped', body: 'Order {{payload.orderId}}' }, 'subject'],
  ['digest', { type: 'regular', amount: 5, unit: 'minutes', lookBackWindow: { amount: 2, unit: 'weeks' } }, 'amount'],
  ['delay', { type: 'dynamic', dynamicKey: 'payload.sendAt' }, 'dynamicKey']
])('%s accepts %j, but not without %s', (type, values, required) => {
  expect(accepts(type, values)).toBe(true)
  expect(accepts(type, { ...values, [required]: undefined })).toBe(false)
  expect(accepts(type, { ...values, unknown: 1 })).toBe(false)
})

test.each([
  ['{{payload.url}}', true],
  ['/orders/{{payload.orderId}}', true],
  ['https://{{payload.host}}/a?b=c#d', true],
  ['mailto:ada@example.com', false],
  ['example.com', false],
  ['/or ders', false],
  ['javascript:x', false]
])('the address of a redirect or an avatar may be %s: %j', (url, isAccepted) => {
  expect(accepts('in_app', { body: 'x', avatar: url })).toBe(isAccepted)
  expect(accepts('in_app', { body: 'x', redirect: { url, target: '_self' } })).toBe(isAccepted)
})

import { expect, test } from 'vitest'
import { send } from '../../support/control.js'
import { useMock } from '../../support/mock.js'

const STEP = '/v2/workflows/order-shipped/steps/email-step'
const CHANGE = '/_mock/workflows/order-shipped/steps/email-step'

test('changing a step keeps its other fields and the other steps of the workflow', async () => {
  const mock = await useMock()
  const other = '/v2/workflows/order-shipped/steps/sms-step'
  const before = (await mock.get(STEP)).json
  const otherBefore = (await mock.get(other)).json
  const controlValues = { subject: 'Another {{payload.orderId}}', body: '<p>Hi</p>' }
  const changed = await send(mock, 'PATCH', CHANGE, { controlValues, issues: null })
  const { issues: _issues, ...others } = before
  expect(changed.json).toEqual({ ...others, controlValues })
  expect((await mock.get(STEP)).json).toEqual(changed.json)
  expect((await mock.get(other)).json).toEqual(otherBefore)
})

test.each([
  ['an unknown type', CHANGE, { type: 'fax' }, 422, 'type'],
  [
    'an incomplete issue',
    CHANGE,
    { issues: { controls: { body: [{ message: 'x' }] } } },
    422,
    'issues'
  ],
  ['an unknown step', `${CHANGE}-2`, { name: 'x' }, 404, undefined]
])('rejects a change with %s and changes nothing', async (_title, path, patch, status, field) => {
  const mock = await useMock()
  const before = (await mock.get(STEP)).json
  const response = await send(mock, 'PATCH', path, patch)
  expect(response.status).toBe(status)
  expect(
    Object.keys(response.json.errors ?? {}).every((errorField) =>
      errorField.startsWith(field ?? '?')
    )
  ).toBe(true)
  expect((await mock.get(STEP)).json).toEqual(before)
})

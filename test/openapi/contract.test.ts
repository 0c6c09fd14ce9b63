import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { CONTRACT, jsonSchemaOf } from '../../src/openapi/contract.js'
import { SENDGRID, setPrimary } from '../support/control.js'
import { useMock } from '../support/mock.js'

/**
 * Returns a validator for an exported schema. Ajv's strict mode rejects unknown keywords and
 * formats.
 */
function validatorOf(name: keyof typeof CONTRACT) {
  const logger = { log: () => {}, warn: expect.unreachable, error: expect.unreachable }
  return new Ajv({ allowUnionTypes: true, logger }).compile(jsonSchemaOf(name, CONTRACT[name]))
}

test('the exported schemas accept the responses of a server', async () => {
  const mock = await useMock()
  const live = await useMock({ profile: 'live' })
  const { json: page } = await mock.get('/v1/messages?limit=100')
  const templates = page.data.flatMap(({ template = [] }: { template?: object }) => template)
  const subscribers = page.data.flatMap(
    ({ subscriber = [] }: { subscriber?: object }) => subscriber
  )
  expect([templates.length > 0, subscribers.length > 0]).toEqual([true, true])
  const responses: Record<keyof typeof CONTRACT, unknown[]> = {
    Channel: page.data.map(({ channel }: { channel: unknown }) => channel),
    ErrorBody: [(await mock.get('/v1/none')).json],
    Integration: [(await mock.post(setPrimary(SENDGRID))).json],
    MessageResponse: page.data,
    MessagesPage: [page],
    StepErrorBody: [(await live.get('/v2/workflows/order-shipped/steps/none')).json],
    SubscriberResponse: subscribers,
    ValidationErrorBody: [(await mock.get('/v1/messages?page=-1')).json],
    WorkflowErrorBody: [(await live.get('/v2/workflows/none/steps/none')).json],
    WorkflowResponse: templates,
    WorkflowStep: [(await mock.get('/v2/workflows/order-shipped/steps/email-step')).json]
  }
  for (const name of Object.keys(CONTRACT) as (keyof typeof CONTRACT)[]) {
    const validate = validatorOf(name)
    for (const response of responses[name]) {
      expect([validate(response), validate.errors], name).toEqual([true, null])
    }
  }
})

test('the exported schemas reject unknown values', () => {
  expect(
    validatorOf('MessagesPage')({
      hasMore: false,
      pageSize: 1,
      page: 0,
      data: [{ channel: 'fax' }]
    })
  ).toBe(false)
  expect(validatorOf('Channel')('fax')).toBe(false)
})

test('exported schemas are named like the OpenAPI schemas, without the Dto suffix', async () => {
  const { components } = (await (await useMock({ profile: 'live' })).get('/openapi.json')).json
  const names = Object.keys(components.schemas).map((name) => name.replace(/Dto$/, ''))
  expect(names).toEqual(expect.arrayContaining(Object.keys(CONTRACT)))
})

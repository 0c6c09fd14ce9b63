import { describe, expect, test } from 'vitest'
import { STEP_TYPES } from '../../src/domain/enums.js'
import { WorkflowStep } from '../../src/workflow-steps/schemas.js'
import { useMock } from '../support/mock.js'

/** Ids and their base62 encodings, taken from published examples. */
const SHIPPED = { _id: '507f1f77bcf86cd799439011', base62: 'WOmdqnzOjKcHpEdl' }
const EMAIL = { _id: '6615943e7ace93b0540ae377', base62: 'f5VFlcRWmt1PF4uV' }
const OTHER = { _id: '64da692e9a94fb2e6449ad06', base62: 'eamRyNwrjbOC9dkE' }
const EARLY = { _id: '0015943e7ace93b0540ae377', base62: '026PyJ6ENG5VHmpL' }

const WORKFLOW_SLUG = `order-shipped_wf_${SHIPPED.base62}`
const STEP_SLUG = `email-step_st_${EMAIL.base62}`

const SEED = shop([
  {
    _id: SHIPPED._id,
    identifier: 'order-shipped',
    name: 'Order shipped',
    steps: [
      {
        _id: EMAIL._id,
        name: 'Email Step',
        type: 'email',
        controlValues: { subject: 'On its way', body: 'Hi' }
      }
    ]
  },
  {
    _id: OTHER._id,
    identifier: 'order-lost',
    steps: [{ _id: EARLY._id, stepId: 'sorry', type: 'sms' }]
  }
])

describe('retrieving a step', () => {
  test('returns the same response for an _id, an identifier and a slug', async () => {
    const mock = await useMock({ seed: SEED })
    const responses = await Promise.all(
      [SHIPPED._id, 'order-shipped', WORKFLOW_SLUG].flatMap((workflowId) =>
        [EMAIL._id, 'email-step', STEP_SLUG].map((stepId) =>
          mock.get(`/v2/workflows/${workflowId}/steps/${stepId}`)
        )
      )
    )
    expect(responses[0]).toMatchObject({
      status: 200,
      json: {
        _id: EMAIL._id,
        stepId: 'email-step',
        workflowId: 'order-shipped',
        workflowDatabaseId: SHIPPED._id
      }
    })
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1)
  })

  test.each([
    '',
    'an-older-name',
    'a_wf_b_st_c',
    `x_st_${EMAIL.base62}`,
    `x_wf_${OTHER.base62}`,
    'Été / ✓'
  ])('uses only the id in a slug and ignores the name %j', async (name) => {
    const mock = await useMock({ seed: SEED })
    const workflowId = encodeURIComponent(`${name}_wf_${SHIPPED.base62}`)
    const stepId = encodeURIComponent(`${name}_st_${EMAIL.base62}`)
    const response = await mock.get(`/v2/workflows/${workflowId}/steps/${stepId}`)
    expect(response).toMatchObject({
      status: 200,
      json: { _id: EMAIL._id, workflowDatabaseId: SHIPPED._id }
    })
  })

  test('finds a step by percent-encoded names with unusual characters', async () => {
    const identifier = 'orders/été 100%'
    const stepId = 'step?#_st_ 日本'
    const workflows = [{ identifier, steps: [{ stepId, type: 'chat' }] }]
    const mock = await useMock({ seed: shop(workflows) })
    const response = await mock.get(
      `/v2/workflows/${encodeURIComponent(identifier)}/steps/${encodeURIComponent(stepId)}`
    )
    expect(response).toMatchObject({ status: 200, json: { workflowId: identifier, stepId } })
  })
})

describe('ambiguous parameters', () => {
  test('an _id takes precedence over an equal identifier of another workflow', async () => {
    const mock = await useMock({
      seed: shop([
        { _id: OTHER._id, identifier: SHIPPED._id, steps: [{ type: 'sms' }] },
        { _id: SHIPPED._id, identifier: 'order-shipped', steps: [{ type: 'email' }] }
      ])
    })
    const byId = await mock.get(`/v2/workflows/${SHIPPED._id}/steps/email-step`)
    expect(byId.json).toMatchObject({
      workflowId: 'order-shipped',
      workflowDatabaseId: SHIPPED._id
    })
    const lookalike = await mock.get(`/v2/workflows/${OTHER._id}/steps/sms-step`)
    expect(lookalike.json).toMatchObject({ workflowId: SHIPPED._id, workflowDatabaseId: OTHER._id })
  })

  test("a step's _id takes precedence over a stepId, and a stepId over a slug", async () => {
    const steps = [
      { _id: EMAIL._id, stepId: 'first', type: 'email' },
      { _id: OTHER._id, stepId: EMAIL._id, type: 'sms' },
      { _id: EARLY._id, stepId: STEP_SLUG, type: 'push' }
    ]
    const workflows = [{ identifier: 'order-shipped', steps }]
    const mock = await useMock({ seed: shop(workflows) })
    const step = async (stepId: string) =>
      (await mock.get(`/v2/workflows/order-shipped/steps/${stepId}`)).json._id
    expect(await step(EMAIL._id)).toBe(EMAIL._id)
    expect(await step(STEP_SLUG)).toBe(EARLY._id)
    expect(await step(`_st_${EMAIL.base62}`)).toBe(EMAIL._id)
    expect(await step(OTHER._id)).toBe(OTHER._id)
  })

  test.each([
    ['one digit too few', WORKFLOW_SLUG.slice(0, -1), STEP_SLUG.slice(0, -1)],
    ['one digit too many', `${WORKFLOW_SLUG}0`, `${STEP_SLUG}0`],
    ['an extra leading zero', `_wf_0${SHIPPED.base62}`, `_st_0${EMAIL.base62}`],
    ['only lower-case letters', WORKFLOW_SLUG.toLowerCase(), STEP_SLUG.toLowerCase()],
    ['only the digits', SHIPPED.base62, EMAIL.base62],
    ['the _id instead of the base62 digits', `_wf_${SHIPPED._id}`, `_st_${EMAIL._id}`]
  ])('a slug with %s finds neither a workflow nor a step', async (_fault, workflowId, stepId) => {
    const mock = await useMock({ seed: SEED })
    expect(await mock.get(`/v2/workflows/${workflowId}/steps/${EMAIL._id}`)).toMatchObject({
      status: 404,
      json: { message: `Workflow with id ${workflowId} not found` }
    })
    expect(await mock.get(`/v2/workflows/${SHIPPED._id}/steps/${stepId}`)).toMatchObject({
      status: 404,
      json: { message: `Step with id ${stepId} not found` }
    })
  })
})

describe('an unknown step', () => {
  test.each(['document', 'live'] as const)(
    'a misspelled name finds no step, but a similar name is suggested (profile %s)',
    async (profile) => {
      const mock = await useMock({ seed: SEED, profile })
      const reasonOf = async (path: string) => (await mock.get(path)).headers.get('x-mock-reason')
      expect(await reasonOf('/v2/workflows/order-shiped/steps/email-step')).toBe(
        'environment Shop has no workflow with the _id, identifier or slug order-shiped; ' +
          'did you mean order-shipped?'
      )
      expect(await reasonOf('/v2/workflows/order-shipped/steps/emial-step')).toBe(
        'workflow order-shipped has no step with the _id, stepId or slug emial-step; ' +
          'did you mean email-step?'
      )
      // Names are case-sensitive.
      expect(await reasonOf('/v2/workflows/Order-Shipped/steps/email-step')).toContain(
        'did you mean order-shipped?'
      )
      // If both the workflow and the step are unknown, only the workflow is reported.
      expect(await reasonOf('/v2/workflows/gone/steps/gone-too')).toBe(
        'environment Shop has no workflow with the _id, identifier or slug gone'
      )
    }
  )

  test.each([EARLY._id, 'sorry', `sorry_st_${EARLY.base62}`])(
    '%s finds no step, because the step belongs to another workflow',
    async (stepId) => {
      const mock = await useMock({ seed: SEED })
      const response = await mock.get(`/v2/workflows/order-shipped/steps/${stepId}`)
      expect(response).toMatchObject({
        status: 404,
        json: { message: `Step with id ${stepId} not found`, ctx: {} }
      })
      expect(response.headers.get('x-mock-reason')).toBe(
        `workflow order-shipped has no step with the _id, stepId or slug ${stepId}`
      )
    }
  )
})

describe('the response for a step', () => {
  const REQUIRED = WorkflowStep.required ?? []

  test('has all required fields, and optional fields only if they have a value', async () => {
    const issues = {
      controls: { body: [{ issueType: 'MISSING_VALUE', message: 'Body is required' }] }
    }
    const steps = [
      { stepId: 'bare', type: 'custom' },
      { stepId: 'full', type: 'sms', controlValues: { body: '' }, issues }
    ]
    const workflows = [{ identifier: 'w', steps }]
    const mock = await useMock({ seed: shop(workflows) })
    const fields = async (stepId: string) =>
      Object.keys((await mock.get(`/v2/workflows/w/steps/${stepId}`)).json)
    expect((await fields('bare')).sort()).toEqual([...REQUIRED].sort())
    expect((await fields('full')).sort()).toEqual([...REQUIRED, 'controlValues', 'issues'].sort())
  })

  test('the server derives the slug, controls and variables that the seed lacks', async () => {
    const steps = [
      { stepId: 'wait', type: 'digest' },
      {
        _id: EMAIL._id,
        name: 'sendEMailNow',
        type: 'email',
        controlValues: { subject: 'Order {{payload.orderId}}' }
      },
      { stepId: 'after', type: 'push' }
    ]
    const workflows = [{ identifier: 'w', steps }]
    const mock = await useMock({ seed: shop(workflows) })
    const { json } = await mock.get(`/v2/workflows/w/steps/${EMAIL._id}`)
    expect(json.slug).toMatch(new RegExp(`^[a-z-]+_st_${EMAIL.base62}$`))
    expect((await mock.get(`/v2/workflows/w/steps/${json.slug}`)).text).toBe(
      (await mock.get(`/v2/workflows/w/steps/${json.stepId}`)).text
    )
    expect(json.controls).toMatchObject({
      uiSchema: { group: 'EMAIL' },
      dataSchema: { required: ['subject'] }
    })
    expect(Object.keys(json.variables.properties.steps.properties)).toEqual(['wait'])
    expect(json.variables.properties.payload.properties).toEqual({
      orderId: { type: 'string', default: '{{payload.orderId}}' }
    })
  })

  test('a step of any type has variables for all earlier steps', async () => {
    const steps = STEP_TYPES.map((type) => ({ stepId: type, type }))
    const mock = await useMock({ seed: shop([{ identifier: 'w', steps }]) })
    for (const [index, type] of STEP_TYPES.entries()) {
      const { json } = await mock.get(`/v2/workflows/w/steps/${type}`)
      expect(json).toMatchObject({ type, stepId: type, origin: 'external', workflowId: 'w' })
      expect(Object.keys(json.variables.properties.steps.properties)).toEqual(
        STEP_TYPES.slice(0, index)
      )
    }
  })

  test('the slug, controls, variables and issues in a seed are returned unchanged', async () => {
    const fields = {
      slug: 'kept_st_0000000000000000',
      controls: {
        dataSchema: { type: 'object', properties: { when: { type: 'string' } } },
        uiSchema: {
          group: 'SKIP',
          properties: {
            when: { component: 'DATA', placeholder: ['soon', 1, true, { in: 'days' }] }
          }
        }
      },
      variables: { type: 'object', properties: { anything: {} } },
      controlValues: { when: 'soon', deep: { origin: 'service-cloud', list: [null, 0, ''] } },
      issues: {
        controls: {
          body: [{ issueType: 'MISSING_VALUE', variableName: 'payload.x', message: '' }]
        },
        integration: { email: [{ issueType: 'MISSING_INTEGRATION', message: 'none' }] }
      }
    }
    const workflows = [{ identifier: 'w', steps: [{ stepId: 's', type: 'custom', ...fields }] }]
    const mock = await useMock({ seed: shop(workflows) })
    expect((await mock.get('/v2/workflows/w/steps/s')).json).toMatchObject(fields)
  })
})

function shop(workflows: object[]): object {
  return { environments: [{ name: 'Shop', workflows }] }
}

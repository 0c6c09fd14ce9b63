import { STATUS_CODES } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../core/assumptions.js'
import type { ErrorBody } from '../http/errors.js'
import type { OpenApiDocument } from './document.js'

/** Gives parameters, answers and refusals their examples: what a server with the default seed takes and answers. */
export function withExamples(document: OpenApiDocument, assumptions: Assumptions): void {
  for (const [template, methods] of Object.entries(document.paths)) {
    const path = template.replace(/\{(\w+)\}/g, (_, name) => String(IN_PATH[name]))
    for (const { operationId, parameters, responses } of Object.values(methods)) {
      for (const parameter of parameters) {
        if (parameter.name in IN_PATH) parameter.example = IN_PATH[parameter.name]
        // In the schema, as the page would fill in an example of the parameter itself, and so filter unasked.
        if (parameter.name in ELSEWHERE) parameter.schema.examples = [ELSEWHERE[parameter.name]]
      }
      const refusals = { ...commonRefusals(path), ...OWN_REFUSALS[operationId]?.(path, assumptions) }
      for (const [status, { content }] of Object.entries(responses)) {
        const answer = content['application/json']
        answer.example = status === '200' ? answerExample(answer.schema, document) : refusal(status, refusals[status])
      }
    }
  }
}

const IN_PATH: Record<string, string> = {
  integrationId: '66f1c2a47c9b1a0012ad0001',
  workflowId: 'order-shipped',
  stepId: 'email-step'
}

const ELSEWHERE: Record<string, unknown> = {
  channel: 'email',
  subscriberId: 'user-ada',
  transactionId: ['order-4711'],
  contextKeys: ['tenant:acme'],
  'idempotency-key': 'set-primary-0001'
}

/** The example of the schema that is answered with, which may stand in an envelope. */
function answerExample(schema: TSchema, document: OpenApiDocument): unknown {
  if (schema.$ref === undefined) return { data: answerExample(schema.properties.data, document) }
  return document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]?.examples[0]
}

/** What is particular about a refusal. */
type Refused = Pick<ErrorBody, 'path' | 'message'> & Partial<ErrorBody>

function refusal(status: string, refused: Refused | undefined): ErrorBody | undefined {
  if (!refused) return undefined
  const { path, message, ctx = {}, ...rest } = refused
  const error = STATUS_CODES[status] ?? ''
  return { statusCode: Number(status), timestamp: '2026-02-18T10:00:00.000Z', path, message, error, ctx, ...rest }
}

function commonRefusals(path: string): Record<string, Refused> {
  return {
    400: { path: `${path}?x=%`, message: 'Malformed query string' },
    401: { path, message: 'API Key not found' },
    500: {
      path,
      message: 'Internal server error, look for the errorId in the log',
      errorId: '3b0c9a52-6c0e-4d0b-9a3e-5f1d2c7b8e64'
    }
  }
}

const OWN_REFUSALS: Record<string, (path: string, assumptions: Assumptions) => Record<string, Refused>> = {
  setIntegrationAsPrimary: (path) => ({
    403: {
      path: path.replace(/[0-9a-f]{24}/, '6703aa1c5d2e8b0013b70001'),
      message:
        "API key authentication is scoped to a single environment and cannot set as primary an integration that belongs to a different environment. Use an API key from the integration's environment, or authenticate with a session token."
    },
    404: {
      path: path.replace(/[0-9a-f]{24}/, '66f1c2a47c9b1a0012adffff'),
      message: 'Integration with id 66f1c2a47c9b1a0012adffff not found'
    },
    409: {
      path,
      message: 'Request with key "set-primary-0001" is currently being processed. Please retry after 1 second'
    },
    413: { path, message: 'Request body is too large' },
    422: { path, message: 'Request with key "set-primary-0001" is being reused for a different body', errors: {} }
  }),
  listMessages: (path) => ({
    404: { path: `${path}?subscriberId=user-none`, message: 'Subscriber not found for id user-none' },
    422: {
      path: `${path}?page=-1`,
      message: 'Validation Error',
      errors: { page: { messages: ['page must be a whole number from 0'], value: '-1' } }
    }
  }),
  retrieveWorkflowStep: (_path, assumptions) => ({
    ...(assumptions['unknown-step'] === 'bad-request' && {
      400: withFacts('/v2/workflows/order-shipped/steps/none', 'No step found', {
        stepId: 'none',
        workflowId: 'order-shipped'
      })
    }),
    404:
      assumptions['unknown-workflow'] === 'with-facts'
        ? withFacts('/v2/workflows/none/steps/email-step', 'Workflow cannot be found', { workflowId: 'none' })
        : { path: '/v2/workflows/none/steps/email-step', message: 'Workflow with id none not found' }
  })
}

function withFacts(path: string, message: string, facts: Record<string, string>): Refused {
  return { path, message, ctx: facts, ...facts }
}

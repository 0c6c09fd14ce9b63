import { STATUS_CODES } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../core/assumptions.js'
import type { ErrorBody } from '../http/errors.js'
import type { ErrorExample, ErrorStatus, Operation } from '../http/operation.js'
import type { OpenApiDocument } from './assumptions.js'

/** Adds the examples of the operations: what a server with the default seed accepts and returns. */
export function addExamples(
  document: OpenApiDocument,
  operations: ReadonlyMap<string, Operation>,
  assumptions: Assumptions
): void {
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const { operationId, parameters, responses } of Object.values(methods)) {
      const { params = {}, query = {}, errors } = operations.get(operationId)?.examples ?? {}
      const path = template.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
      for (const parameter of parameters) {
        const { name, schema } = parameter
        if (name in params) parameter.example = params[name]
        // In the schema: the page would fill in an example of the parameter itself, and so filter unasked.
        else if (name in query) schema.examples = [query[name]]
        else if (name === 'idempotency-key') schema.examples = ['set-primary-0001']
      }
      const examples = { ...commonErrors(path), ...errors?.(path, assumptions) }
      for (const [status, { content }] of Object.entries(responses)) {
        const json = content['application/json']
        json.example = status === '200' ? responseExample(json.schema, document) : errorExample(status, examples)
      }
    }
  }
}

/** Returns the example of the response's schema, which may be in an envelope. */
function responseExample(schema: TSchema, document: OpenApiDocument): unknown {
  if (schema.$ref === undefined) return { data: responseExample(schema.properties.data, document) }
  return document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]?.examples[0]
}

type ErrorExamples = Partial<Record<ErrorStatus, ErrorExample>>

function errorExample(status: string, examples: ErrorExamples): ErrorBody | undefined {
  const example = examples[Number(status) as ErrorStatus]
  if (!example) return undefined
  const { path, message, ctx = {}, ...rest } = example
  const error = STATUS_CODES[status] ?? ''
  return { statusCode: Number(status), timestamp: '2026-02-18T10:00:00.000Z', path, message, error, ctx, ...rest }
}

function commonErrors(path: string): ErrorExamples {
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

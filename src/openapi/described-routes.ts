import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Assumptions } from '../domain/assumptions.js'
import type { ControlOperation } from '../http/control-route.js'
import { ErrorBody } from '../http/errors.js'
import {
  type ErrorStatus,
  errorsUnder,
  type Operation,
  type OperationSummary
} from '../schema/operation.js'
import { ref, strictObject } from '../schema/typebox.js'

/** Returns the route schema from which @fastify/swagger documents an operation, as it is under these assumptions. */
export function describeOperation(operation: Operation, assumptions: Assumptions) {
  const { idempotent, examples } = operation
  const statuses = new Set(errorsUnder(operation, assumptions).map(({ status }) => status))
  const respond = (status: 200 | ErrorStatus, description: string, schema: TSchema) => {
    return [
      status,
      { ...content(schema, description), headers: headersOf(status, operation, assumptions) }
    ]
  }
  return {
    ...describe(operation),
    security: [{ ApiKey: [] }],
    headers: idempotent ? WITH_EFFECT : WITHOUT_EFFECT,
    'x-examples': examples,
    response: Object.fromEntries([
      respond(200, 'OK', ref(operation.response)),
      ...[...statuses, 500 as const].map((status) =>
        respond(status, status === 422 && idempotent ? KEY_REUSED : ERRORS[status], ref(ErrorBody))
      )
    ])
  }
}

export function describeControl(operation: ControlOperation) {
  const {
    access = 'environment',
    body,
    response,
    responseType,
    errors = [],
    status = response ? 200 : 204
  } = operation
  const security = { environment: [{ ApiKey: [] }], server: [{}, { AdminToken: [] }], open: [] }[
    access
  ]
  const byAccess = { environment: [401], server: [403], open: [] }[access]
  const rejections = [...new Set([400, 422, ...byAccess, ...errors])].sort()
  return {
    ...describe(operation),
    security,
    ...(body && { body }),
    response: {
      [status]: response
        ? content(response, 'OK', responseType)
        : { description: 'OK', type: 'null' },
      ...Object.fromEntries(
        rejections.map((code) => [code, content(ref(ErrorBody), 'The request is rejected')])
      )
    }
  }
}

function content(schema: TSchema, description: string, type = 'application/json') {
  return { description, content: { [type]: { schema } } }
}

function describe({ id, summary, description, tag, params, querystring }: OperationSummary) {
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(params && { params }),
    ...(querystring && { querystring: queryOf(querystring) })
  }
}

/** Returns what a query string may hold: a parameter with a default may be left out, and one of text may be empty. */
function queryOf(querystring: TObject): TObject {
  const partial: TObject = Type.Partial(querystring)
  const parameters = Object.entries(partial.properties).map(([name, schema]) => [
    name,
    orEmpty(schema)
  ])
  return { ...partial, properties: Object.fromEntries(parameters) }
}

/** An empty text counts as absent, whatever form the schema asks for (`http/validation.ts`); of words it goes without saying. */
function orEmpty(schema: TSchema): TSchema {
  if (schema.items) return { ...schema, items: orEmpty(schema.items) }
  return schema.pattern ? { ...schema, pattern: `^$|${schema.pattern}` } : schema
}

const idempotencyHeader = (description: string) =>
  strictObject({ 'idempotency-key': Type.Optional(Type.String({ description })) })
const WITH_EFFECT = idempotencyHeader(
  'Up to 255 characters, bare or in double quotes (assumption `idempotency-quotes`). A request that repeats the key within 24 hours gets the stored response.'
)
const WITHOUT_EFFECT = idempotencyHeader('Accepted, and without effect: only a POST is stored')

const ERRORS: Record<ErrorStatus, string> = {
  400: 'The request cannot be read or cannot be done',
  401: 'The API key is missing or unknown',
  403: 'The record belongs to another environment than the API key',
  404: 'The environment has no such record',
  409: 'The first request with this idempotency key is still being processed',
  413: 'The body is larger than 1 MiB',
  422: 'A field is invalid',
  500: 'The server failed'
}
const KEY_REUSED = 'The idempotency key was used for another request, or a field is invalid'

/** The answers that an idempotency key replays, though not all of them under every assumption. */
const STORED: number[] = [200, 400, 403, 404, 422]

const UNREAD = 'On any answer: which parameters of the query are not read'

function headersOf(
  status: 200 | ErrorStatus,
  operation: Operation,
  assumptions: Assumptions
): Record<string, object> {
  const { idempotent, querystring } = operation
  const header = (description: string) => ({ type: 'string', description })
  const isReplayed = idempotent && STORED.includes(status)
  const isLinked =
    idempotent && /409|422/.test(`${status}`) && assumptions['idempotency-refusals'] === 'linked'
  let reason: string
  if (status !== 200)
    reason = 'Which check rejected the request and how to pass it, for people to read'
  else if (querystring) reason = `On an empty page: which filter left no messages. ${UNREAD}`
  else reason = `${idempotent ? 'On a replay: when the response was first sent. ' : ''}${UNREAD}`
  return {
    'x-request-id': header('Identifies the request in the log'),
    'x-mock-reason': header(reason),
    ...(idempotent &&
      status !== 401 && { 'idempotency-key': header('The idempotency key of the request') }),
    ...(isReplayed && {
      'idempotency-replay': { ...header('Set on a stored response'), enum: ['true'] }
    }),
    ...(isLinked && { link: header('If it is about the idempotency key: its documentation') }),
    ...(status === 401 && { 'www-authenticate': header('The scheme to use: `ApiKey`') }),
    ...(status === 409 && { 'retry-after': { type: 'integer', description: 'Seconds to wait' } })
  }
}

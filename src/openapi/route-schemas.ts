import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Assumptions } from '../domain/assumptions.js'
import type { ControlOperation } from '../http/control-route.js'
import { ErrorBody, ValidationErrorBody } from '../http/errors.js'
import {
  type ErrorStatus,
  errorsFor,
  type Operation,
  type OperationSummary
} from '../schema/operation.js'
import { ref, strictObject } from '../schema/typebox.js'

/** Returns the route schema that @fastify/swagger uses to document an operation. */
export function describeOperation(operation: Operation, assumptions: Assumptions) {
  const response: Record<number, object> = {
    200: {
      ...content(ref(operation.response), 'OK'),
      headers: headersOf(200, operation, assumptions)
    }
  }
  for (const [status, body] of errorBodies(operation, assumptions)) {
    response[status] = {
      ...content(ref(body), describeError(status, operation)),
      headers: headersOf(status, operation, assumptions)
    }
  }
  return {
    ...describeRequest(operation),
    security: [{ ApiKey: [] }],
    headers: operation.idempotent ? IDEMPOTENCY_KEY : UNUSED_IDEMPOTENCY_KEY,
    'x-examples': operation.examples,
    response
  }
}

/** For each error status, returns the schema of the operation's error body. */
export function errorBodies(
  operation: Operation,
  assumptions: Assumptions
): Map<ErrorStatus, TSchema> {
  const bodies = new Map<ErrorStatus, TSchema>()
  for (const { status, extendedBody } of errorsFor(operation, assumptions)) {
    const isExtended = extendedBody && assumptions[extendedBody.under[0]] === extendedBody.under[1]
    bodies.set(status, isExtended ? extendedBody.schema : bodyOfStatus(status))
  }
  return bodies.set(500, ErrorBody)
}

const bodyOfStatus = (status: number) => (status === 422 ? ValidationErrorBody : ErrorBody)

/** Returns the route schema that @fastify/swagger uses to document a control route. */
export function describeControl(operation: ControlOperation) {
  const { access = 'environment', body, response, responseType, errors = [] } = operation
  const success = operation.status ?? (response ? 200 : 204)
  const rejections = new Set([400, 422, ...ACCESS[access].errors, ...errors])
  const responses: Record<number, object> = {
    [success]: response
      ? content(response, 'OK', responseType)
      : { description: 'OK', type: 'null' }
  }
  for (const status of [...rejections].sort()) {
    responses[status] = content(ref(bodyOfStatus(status)), 'The request is rejected')
  }
  return {
    ...describeRequest(operation),
    security: ACCESS[access].security,
    ...(body && { body }),
    response: responses
  }
}

/**
 * Maps each access level of a control route to the required credentials, and to the error statuses
 * of rejected requests.
 */
const ACCESS = {
  environment: { security: [{ ApiKey: [] }], errors: [401] },
  server: { security: [{}, { AdminToken: [] }], errors: [403] },
  open: { security: [], errors: [] }
}

function content(schema: TSchema, description: string, mediaType = 'application/json') {
  return { description, content: { [mediaType]: { schema } } }
}

function describeRequest(operation: OperationSummary) {
  const { id, summary, description, tag, params, querystring } = operation
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [tag],
    ...(params && { params }),
    ...(querystring && { querystring: acceptedQuery(querystring) })
  }
}

/**
 * Returns the schema of the queries that the server accepts. Every parameter is optional and may be
 * empty.
 */
function acceptedQuery(querystring: TObject): TObject {
  const optional: TObject = Type.Partial(querystring)
  const parameters = Object.entries(optional.properties).map(([name, schema]) => [
    name,
    allowEmpty(schema)
  ])
  return { ...optional, properties: Object.fromEntries(parameters) }
}

/** Makes patterns accept the empty string, because an empty parameter is treated as absent. */
function allowEmpty(schema: TSchema): TSchema {
  if (schema.items) return { ...schema, items: allowEmpty(schema.items) }
  return schema.pattern ? { ...schema, pattern: `^$|${schema.pattern}` } : schema
}

const idempotencyHeader = (description: string) =>
  strictObject({ 'idempotency-key': Type.Optional(Type.String({ description })) })
const IDEMPOTENCY_KEY = idempotencyHeader(
  'A key of up to 255 characters, with or without double quotes (assumption ' +
    '`idempotency-quotes`). A request that repeats the key within 24 hours gets the stored response'
)
const UNUSED_IDEMPOTENCY_KEY = idempotencyHeader(
  'Accepted but ignored, because only responses to POST requests are stored'
)

const ERROR_DESCRIPTIONS: Record<ErrorStatus, string> = {
  400: "The request is malformed or can't be fulfilled",
  401: 'The API key is missing or unknown',
  403: "The record doesn't belong to the API key's environment",
  404: "The record doesn't exist in the environment",
  409: 'The first request with this idempotency key is still being processed',
  413: 'The body is larger than 1 MiB',
  422: 'A field is invalid',
  500: 'The server failed'
}

/** Describes when an operation responds with this error status. */
export function describeError(
  status: ErrorStatus,
  { idempotent }: Pick<Operation, 'idempotent'>
): string {
  return status === 422 && idempotent
    ? 'The idempotency key was already used for a different request, or a field is invalid'
    : ERROR_DESCRIPTIONS[status]
}

/**
 * The statuses of responses that can be replayed. Some are replayed only under a certain
 * assumption.
 */
const REPLAYED: number[] = [200, 400, 403, 404, 422]

function headersOf(
  status: 200 | ErrorStatus,
  operation: Operation,
  assumptions: Assumptions
): Record<string, object> {
  return {
    'x-request-id': header('Id of the request; the log contains the same id'),
    'x-mock-reason': header(describeReason(status, operation)),
    ...(operation.idempotent && idempotencyHeaders(status, assumptions)),
    ...(status === 401 && { 'www-authenticate': header('The scheme to use: `ApiKey`') }),
    ...(status === 409 && { 'retry-after': { type: 'integer', description: 'Seconds to wait' } })
  }
}

const header = (description: string) => ({ type: 'string', description })

function describeReason(status: number, { querystring, idempotent }: Operation): string {
  if (status !== 200)
    return 'Which check rejected the request, and how to fix the request. The wording may change'
  const unknown = 'Lists unknown query parameters, each with the closest known name'
  if (querystring) return `For an empty page, names the filter that no message matches. ${unknown}`
  return idempotent ? `For a replay, says when the response was first sent. ${unknown}` : unknown
}

function idempotencyHeaders(status: number, assumptions: Assumptions): Record<string, object> {
  const isLinked = assumptions['idempotency-rejections'] === 'linked' && [409, 422].includes(status)
  return {
    ...(status !== 401 && { 'idempotency-key': header('The idempotency key of the request') }),
    ...(REPLAYED.includes(status) && {
      'idempotency-replay': { ...header('Present if the response is a replay'), enum: ['true'] }
    }),
    ...(isLinked && { link: header("Novu's page on idempotency, if the error is about the key") })
  }
}

import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { ref, strictObject } from '../core/typebox.js'
import type { ControlOperation } from '../http/control-route.js'
import { ErrorBody } from '../http/errors.js'
import type { ErrorStatus, Operation } from '../http/operation.js'

/** Returns what @fastify/swagger makes an operation's part of the document of. */
export function describeOperation(operation: Operation) {
  const { id, summary, description, tag, params, querystring, errors, idempotent } = operation
  return {
    operationId: id,
    summary,
    description,
    tags: [tag],
    security: [{ ApiKey: [] }],
    headers: IdempotencyHeader,
    ...(params && { params }),
    ...(querystring && { querystring: withDefaults(querystring) }),
    response: {
      200: response('OK', ref(operation.response), {
        ...ALWAYS,
        ...(querystring && EMPTY_PAGE),
        ...(idempotent && { ...KEY, ...REPLAY, ...REPLAY_REASON })
      }),
      ...Object.fromEntries([...errors, 500 as const].map((status) => [status, errorResponse(status, idempotent)]))
    }
  }
}

/** The same for a control operation. */
export function describeControl(operation: ControlOperation) {
  const { id, summary, description, tag, access = 'environment', params, querystring, body, response } = operation
  const { responseType = 'application/json', status = response ? 200 : 204, otherResponses = {} } = operation
  const security = { environment: [{ ApiKey: [] }], server: [{}, { AdminToken: [] }], open: [] }[access]
  const byAccess = { environment: [401], server: [403], open: [] }[access]
  const errors = [...new Set([400, 422, ...byAccess, ...(operation.errors ?? [])])].sort()
  const json = (schema: TSchema, description: string) => ({ description, content: { 'application/json': { schema } } })
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [tag],
    security,
    ...(params && { params }),
    ...(querystring && { querystring: withDefaults(querystring) }),
    ...(body && { body }),
    response: {
      [status]: response
        ? { description: 'OK', content: { [responseType]: { schema: response } } }
        : { description: 'OK', type: 'null' },
      ...Object.fromEntries(errors.map((code) => [code, json(ref(ErrorBody), 'The request is rejected')])),
      ...Object.fromEntries(
        Object.entries(otherResponses).map(([code, other]) => [code, json(other.schema, other.description)])
      )
    }
  }
}

/** A parameter with a default may be left out. */
const withDefaults = (querystring: TObject): TObject => Type.Partial(querystring)

function errorResponse(status: ErrorStatus, idempotent = false) {
  return response(status === 422 && idempotent ? KEY_REUSED : ERRORS[status], ref(ErrorBody), {
    ...ALWAYS,
    ...REASON,
    ...(idempotent && status !== 401 && KEY),
    ...(idempotent && STORED.has(status) && REPLAY),
    ...EXTRA_HEADERS[status]
  })
}

function response(description: string, schema: TSchema, headers: object) {
  return { description, headers, content: { 'application/json': { schema } } }
}

const IdempotencyHeader = strictObject({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Up to 255 characters, bare or in double quotes. A POST that repeats the key within 24 hours gets the stored response; on a GET it has no effect.'
    })
  )
})

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

/** The errors that an idempotency key replays, though not under every assumption. */
const STORED = new Set<ErrorStatus>([400, 403, 404, 422])

const header = (description: string) => ({ type: 'string', description })

const ALWAYS = { 'x-request-id': header('Identifies the request in the log') }
const REASON = { 'x-mock-reason': header('Which check rejected the request and how to pass it, for people to read') }
const EMPTY_PAGE = { 'x-mock-reason': header('On an empty page: which filter left no messages') }
const REPLAY_REASON = { 'x-mock-reason': header('On a replay: when the response was first sent') }
const KEY = { 'idempotency-key': header('The idempotency key of the request') }
const REPLAY = { 'idempotency-replay': { type: 'string', enum: ['true'], description: 'Set on a stored response' } }
const EXTRA_HEADERS: Partial<Record<ErrorStatus, object>> = {
  401: { 'www-authenticate': header('The scheme to use: `ApiKey`') },
  409: { 'retry-after': { type: 'integer', description: 'Seconds to wait' } }
}

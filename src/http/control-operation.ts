import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, type FieldErrors, invalidFields } from '../core/errors.js'
import { ref, strictObject } from '../core/typebox.js'
import { findIssues, type Path, pathText } from '../core/validation.js'
import { ErrorBody } from './errors.js'
import { type Query, readQuery } from './query-string.js'

interface ControlOperation {
  operationId: string
  summary: string
  description?: string
  tag: 'Environments' | 'State' | 'Requests' | 'Faults' | 'Clock and chance' | 'Server'
  /** `server`: touches all environments; `open`: asks for nothing. */
  access?: 'environment' | 'server' | 'open'
  params?: TObject
  querystring?: TObject
  body?: TSchema
  /** Schema of the answer's body; left out for 204. */
  answer?: TSchema
  /** JSON, if left out. */
  answerType?: string
  status?: 200 | 201 | 204
  refusals?: number[]
}

/** The route schema of a control operation: what `/_mock/openapi.json` is made of. */
export function controlSchema(operation: ControlOperation) {
  const {
    operationId,
    summary,
    description,
    tag,
    access = 'environment',
    params,
    querystring,
    body,
    answer,
    answerType = 'application/json'
  } = operation
  const { status = answer ? 200 : 204, refusals = [] } = operation
  const byAccess = access === 'environment' ? [401] : access === 'server' ? [403] : []
  const refused = [...new Set([400, ...byAccess, 422, ...refusals])]
  return {
    operationId,
    summary,
    ...(description && { description }),
    tags: [tag],
    security: access === 'environment' ? [{ ApiKey: [] }] : access === 'server' ? [{}, { AdminToken: [] }] : [],
    ...(params && { params }),
    ...(querystring && { querystring: Type.Partial(querystring) }),
    ...(body && { body }),
    response: {
      [status]: answer
        ? { description: 'Done', content: { [answerType]: { schema: answer } } }
        : { description: 'Done', type: 'null' },
      ...Object.fromEntries(
        refused
          .sort()
          .map((code) => [
            code,
            { description: 'Refused', content: { 'application/json': { schema: ref(ErrorBody) } } }
          ])
      )
    }
  }
}

/**
 * The body of a control request, JSON, by its schema; an empty one is an empty object. Unknown fields are refused.
 * Refuses with `bad-request` what isn't JSON, and with `invalid` every breach of the schema.
 */
export function readBody<Schema extends TSchema>(
  request: FastifyRequest,
  schema: Schema,
  named: readonly TSchema[] = []
): Static<Schema> {
  const text = bodyText(request)
  const value = text.trim() === '' ? {} : parsed(text)
  const mistakes = findIssues(schema, value, named)
  if (mistakes.length === 0) return value as Static<Schema>
  const errors: FieldErrors = {}
  for (const { path, message, hint } of mistakes) {
    const field = pathText(path) || 'body'
    errors[field] ??= { messages: [], ...sentAt(path, value) }
    errors[field].messages.push(`${field} ${message}${hint}`)
  }
  throw invalidFields(errors)
}

/** What stands there, but for what holds more: that may be long, and is told of field by field. */
function sentAt(path: Path, value: unknown): { value?: unknown } {
  let sent = value
  for (const part of path) sent = (sent as Record<string | number, unknown>)[part]
  return typeof sent === 'object' && sent !== null ? {} : { value: sent }
}

/** The query parameters of a control request, by their schema. */
export function readParameters<Schema extends TObject>(request: FastifyRequest, schema: Schema): Static<Schema> {
  return readQuery(request.query as Query, schema) as Static<Schema>
}

/**
 * Refuses with `invalid` query parameters that a control route does not have, and a body where it takes none: a filter
 * that is misspelt must not come to nothing.
 */
export const rejectUnknownFields = fp(
  async (app) => {
    app.addHook('preHandler', (request, _reply, done) => {
      const { querystring, body } = (request.routeOptions.schema ?? {}) as { querystring?: TObject; body?: TSchema }
      refuseUnknownParameters(request.query as Query, Object.keys(querystring?.properties ?? {}))
      if (!body) readBody(request, NO_FIELDS)
      done()
    })
  },
  { name: 'known-fields' }
)

const NO_FIELDS = strictObject({})

function refuseUnknownParameters(query: Query, known: string[]): void {
  const errors: FieldErrors = {}
  for (const [name, value] of Object.entries(query)) {
    if (known.includes(name)) continue
    const there = known.length > 0 ? `there are ${known.join(', ')}` : 'there are none'
    errors[name] = { messages: [`${name} is not a query parameter here; ${there}`], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

export function bodyText(request: FastifyRequest): string {
  return Buffer.isBuffer(request.body) ? request.body.toString() : ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', { reason: (error as Error).message })
  }
}

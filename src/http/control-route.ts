import { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, invalidFields, noFieldErrors } from '../core/errors.js'
import { findExcess } from '../core/excess.js'
import { MAX_CHUNK, toChunks } from '../core/slices.js'
import { strictObject } from '../core/typebox.js'
import { type OperationSummary, requestSchemas } from './operation.js'
import { type Query, rejectMalformedQuery } from './query-string.js'
import { validate } from './validation.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The control operation that the route serves. Absent from every other route. */
    control?: ControlOperation
  }
}

/** An operation of the control API, described once for its route and for `/_mock/openapi.json`. */
export interface ControlOperation extends OperationSummary {
  /** Who may call: holders of an environment's key, of the admin token (`server`), or everyone (`open`). */
  access?: 'environment' | 'server' | 'open'
  body?: TSchema
  /** Whether the handler gets the body as text, whatever it is. Otherwise it is parsed as JSON. */
  textBody?: boolean
  /** Schema of the response's body; left out for 204. */
  response?: TSchema
  /** Media type of the response, if it isn't JSON. */
  responseType?: string
  status?: 201
  /** Whether nothing is another than before it, though its method is not GET. */
  changesNothing?: true
  /** The statuses it rejects with, besides those that `access` implies, 400 and 422. */
  errors?: number[]
}

type Group = Pick<ControlOperation, 'tag' | 'access'>

type RouteOptions<Params extends TSchema, Querystring extends TSchema, Body extends TSchema> = {
  params?: Params
  querystring?: Querystring
  body?: Body
  bodyLimit?: number
  exposeHeadRoute?: boolean
  handler: (
    request: FastifyRequest<{ Params: Static<Params>; Querystring: Static<Querystring>; Body: Static<Body> }>,
    reply: FastifyReply
  ) => unknown
} & Omit<ControlOperation, keyof Group | 'params' | 'querystring' | 'body'>

/** Returns a function that adds a route of the group to the app. */
export function controlRoutes(app: FastifyInstance, group: Group) {
  return <Params extends TObject, Querystring extends TObject, Body extends TSchema>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    { handler, bodyLimit, exposeHeadRoute = true, ...operation }: RouteOptions<Params, Querystring, Body>
  ): void => {
    app.route({
      // One route for both: that which Fastify would add for each GET costs a start some tenths of a millisecond.
      method: method === 'GET' && exposeHeadRoute ? ['GET', 'HEAD'] : method,
      exposeHeadRoute: false,
      url,
      schema: requestSchemas(operation),
      config: { control: { ...group, ...operation } },
      handler: handler as RouteHandlerMethod,
      ...(bodyLimit && { bodyLimit })
    })
  }
}

/**
 * Reads requests of control routes: bodies are JSON whatever their content type says, and an empty one is an empty
 * object. Sets the status of the response. Rejects malformed JSON with `bad-request`, and with `invalid` what is nested
 * too deeply, unknown query parameters, and fields where no body is taken, so that a misspelt filter is never ignored.
 */
export const controlRequests = fp(
  async (app) => {
    app.register(rejectMalformedQuery)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    app.addHook('preValidation', (request, reply, done) => {
      const { querystring, body, textBody, response, status } = request.routeOptions.config.control ?? {}
      reply.code(status ?? (response ? 200 : 204))
      rejectUnknownParameters(request.query as Query, Object.keys(querystring?.properties ?? {}))
      const text = (request.body as string | undefined) ?? ''
      request.body = textBody ? text : parseJson(text)
      done(body ? undefined : validate(NO_FIELDS, request.body).error)
    })
  },
  { name: 'control-requests' }
)

/** Sends pieces of text, in chunks if they are large: so others are answered meanwhile. What is small has a length. */
export async function sendInChunks({ method }: FastifyRequest, reply: FastifyReply, pieces: Iterable<string>) {
  const chunks = toChunks(pieces)
  const { value: first = '' } = await chunks.next()
  const isWhole = first.length < MAX_CHUNK
  if (isWhole || method === 'HEAD') await chunks.return()
  if (isWhole) return reply.send(first)
  if (method === 'HEAD') return reply.send(Readable.from([]))
  const stream = Readable.from(chunks, { objectMode: false })
  stream.unshift(first)
  return reply.send(stream)
}

const NO_FIELDS = strictObject({})

function rejectUnknownParameters(query: Query, known: string[]): void {
  const errors = noFieldErrors()
  const there = known.length > 0 ? `there are ${known.join(', ')}` : 'there are none'
  for (const [name, value] of Object.entries(query)) {
    if (known.includes(name)) continue
    errors[name] = { messages: [`${name} is not a query parameter here; ${there}`], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/** How many values a body may have: a seed in it too. */
const MAX_VALUES = 1_000_000

function parseJson(text: string): unknown {
  if (text.trim() === '') return {}
  const excess = findExcess(text, MAX_VALUES)
  if (excess) {
    const message = `body ${excess.message} (character ${excess.offset + 1})`
    throw invalidFields({ body: { messages: [message] } })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', { reason: (error as Error).message })
  }
}

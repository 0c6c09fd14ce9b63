import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteGenericInterface,
  RouteHandlerMethod
} from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, invalidFields } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import type { OperationSummary } from '../schema/operation.js'
import { strictObject } from '../schema/typebox.js'
import { isTooDeep, TOO_DEEP } from '../schema/validation.js'
import { requestSchemas } from './operation.js'
import { rejectMalformedQuery } from './query-string.js'
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
  access: 'environment' | 'server' | 'open'
  body?: TSchema
  /** Whether the handler gets the body as text, whatever it is. Otherwise it is parsed as JSON. */
  textBody?: boolean
  /** Schema of the response's body; left out for 204. */
  response?: TSchema
  /** Media type of the response, if it isn't JSON. */
  responseType?: string
  status?: 201
  /** Whether it only reads, though its method is not GET. */
  changesNothing?: true
  /** The statuses it rejects with, besides those that `access` implies, 400 and 422. */
  errors?: number[]
}

type Access = ControlOperation['access']

/** A request to a control route. Behind `authentication` it has an environment. */
type ControlRequest<
  Allowed extends Access,
  Route extends RouteGenericInterface
> = FastifyRequest<Route> &
  (Allowed extends 'environment'
    ? { environment: NonNullable<FastifyRequest['environment']> }
    : unknown)

interface RouteOptions<
  Allowed extends Access,
  Params extends TSchema,
  Querystring extends TSchema,
  Body extends TSchema
> extends Omit<
    ControlOperation,
    'tag' | 'access' | 'id' | 'summary' | 'params' | 'querystring' | 'body'
  > {
  params?: Params
  querystring?: Querystring
  body?: Body
  bodyLimit?: number
  handler: (
    request: ControlRequest<
      Allowed,
      { Params: Static<Params>; Querystring: Static<Querystring>; Body: Static<Body> }
    >,
    reply: FastifyReply
  ) => unknown
}

export type AddRoute<Allowed extends Access = 'environment'> = ReturnType<
  typeof controlRoutes<Allowed>
>

/** Returns a function that adds a route of the group to the app. */
export function controlRoutes<Allowed extends Access>(
  app: FastifyInstance,
  group: { tag: string; access: Allowed }
) {
  return <Params extends TObject, Querystring extends TObject, Body extends TSchema>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    id: string,
    summary: string,
    { handler, bodyLimit, errors = [], ...own }: RouteOptions<Allowed, Params, Querystring, Body>
  ): void => {
    // A PUT creates what its path names.
    const implied = [...(own.params && method !== 'PUT' ? [404] : []), ...(bodyLimit ? [413] : [])]
    const control = { ...group, id, summary, ...own, errors: [...errors, ...implied] }
    app.route({
      // In one route, which a start does faster. Of a stream HEAD would never end.
      method: method === 'GET' && !own.responseType ? ['GET', 'HEAD'] : method,
      exposeHeadRoute: false,
      url,
      schema: requestSchemas(own),
      config: { control },
      handler: handler as RouteHandlerMethod,
      ...(bodyLimit && { bodyLimit })
    })
  }
}

/**
 * Reads bodies of control routes, which are JSON whatever their content type; an empty one is an empty object. Rejects
 * malformed JSON with `bad-request`; with `invalid` what is nested too deeply, and unknown parameters and fields.
 */
export const controlRequests = fp(async (app) => {
  const noFields = strictObject({})
  app.register(rejectMalformedQuery)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addHook('preValidation', (request, reply, done) => {
    const { querystring, body, textBody, response, status } =
      request.routeOptions.config.control ?? {}
    reply.code(status ?? (response ? 200 : 204))
    rejectUnknownParameters(request.query as Query, querystring)
    const text = (request.body as string | undefined) ?? ''
    request.body = textBody ? text : parseJson(text.trim() || '{}')
    if (isTooDeep(request.body)) throw invalidFields({ body: { messages: [`body ${TOO_DEEP}`] } })
    done(body ? undefined : validate(noFields, request.body).error)
  })
})

/** Returns the schema of a response that is a list under a name. */
export const listOf = (name: string, item: TSchema, description: string): TSchema =>
  strictObject({ [name]: Type.Array(item, { description }) })

function rejectUnknownParameters(
  query: Query,
  { properties: known = {} }: Partial<TObject> = {}
): void {
  const remedy = `is not a query parameter here; there are ${Object.keys(known).join(', ') || 'none'}`
  const unknown = Object.entries(query).filter(([name]) => !Object.hasOwn(known, name))
  const errors = unknown.map(([name, value]) => [name, { messages: [`${name} ${remedy}`], value }])
  if (errors.length > 0) throw invalidFields(Object.fromEntries(errors))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', {
      reason: (error as Error).message
    })
  }
}

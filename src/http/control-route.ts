import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteGenericInterface,
  RouteHandlerMethod
} from 'fastify'
import fp from 'fastify-plugin'
import { createFieldErrors, DomainError, invalidFields } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import type { OperationSummary } from '../schema/operation.js'
import { strictObject } from '../schema/typebox.js'
import { isTooDeep, TOO_DEEP } from '../schema/validation.js'
import { decodeBody } from './decode-body.js'
import { requestSchemas } from './operation.js'
import { rejectMalformedQuery } from './query-string.js'
import { validate } from './validation.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The control operation that the route serves. Undefined if the route serves none. */
    control?: ControlOperation
  }
}

/**
 * Describes an operation under `/_mock/`. Its route and `/_mock/openapi.json` use this description.
 */
export interface ControlOperation extends OperationSummary {
  /**
   * The credentials that a request needs: an environment's API key (`environment`), the admin token
   * (`server`) or none (`open`).
   */
  access: 'environment' | 'server' | 'open'
  body?: TSchema
  /** Whether the handler gets the body as text instead of parsed JSON. */
  textBody?: boolean
  /** The schema of the response body. Absent if the response is a 204. */
  response?: TSchema
  /** The media type of the response, if it isn't JSON. */
  responseType?: string
  status?: 201
  /** Set if the operation changes nothing although its method isn't GET. */
  changesNothing?: true
  /** Error statuses in addition to 400, 422 and the statuses that `access` implies. */
  errors?: number[]
}

type Access = ControlOperation['access']

/** A request to a control route. Its environment is set if `access` is `environment`. */
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

/** Returns a function that adds routes with the group's tag and access. */
export function controlRoutes<Allowed extends Access>(
  app: FastifyInstance,
  group: { tag: string; access: Allowed }
) {
  return <Params extends TObject, Querystring extends TObject, Body extends TSchema>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    id: string,
    summary: string,
    {
      handler,
      bodyLimit,
      errors = [],
      ...definition
    }: RouteOptions<Allowed, Params, Querystring, Body>
  ): void => {
    const allErrors = [...errors]
    // A PUT never gets a 404, because it creates a missing record.
    if (definition.params && method !== 'PUT') allErrors.push(404)
    if (bodyLimit) allErrors.push(413)
    const control = { ...group, id, summary, ...definition, errors: allErrors }
    const isStream = definition.responseType !== undefined
    app.route({
      // Use one route for GET and HEAD, because two routes would slow down the server's start. A
      // stream has no route for HEAD, because a HEAD request for it would never end.
      method: method === 'GET' && !isStream ? ['GET', 'HEAD'] : method,
      exposeHeadRoute: false,
      url,
      schema: requestSchemas(definition),
      config: { control },
      handler: handler as RouteHandlerMethod,
      ...(bodyLimit && { bodyLimit })
    })
  }
}

/**
 * Decompresses the request bodies of control routes. Parses them as JSON regardless of their
 * content type, unless the operation has `textBody`. Parses an empty body as `{}`. Rejects
 * malformed JSON with `bad-request`. Rejects deep nesting, unknown parameters and unknown fields
 * with `invalid`.
 */
export const controlRequests = fp(async (app) => {
  const noFields = strictObject({})
  app.register(rejectMalformedQuery)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, decodeBody)
  app.addHook('preValidation', (request, reply, done) => {
    const { querystring, body, textBody, response, status } =
      request.routeOptions.config.control ?? {}
    reply.code(status ?? (response ? 200 : 204))
    rejectUnknownParameters(request.query as Query, querystring)
    const bodyText = (request.body as string | undefined) ?? ''
    request.body = textBody ? bodyText : parseJson(bodyText.trim() || '{}')
    if (isTooDeep(request.body)) throw invalidFields({ body: { messages: [`body ${TOO_DEEP}`] } })
    done(body ? undefined : validate(noFields, request.body).error)
  })
})

/** Returns the schema of a response body whose only field is a list. */
export const listOf = (name: string, item: TSchema, description: string): TSchema =>
  strictObject({ [name]: Type.Array(item, { description }) })

function rejectUnknownParameters(
  query: Query,
  { properties: parameters = {} }: Partial<TObject> = {}
): void {
  const unknown = Object.entries(query).filter(([name]) => !Object.hasOwn(parameters, name))
  if (unknown.length === 0) return
  const names = Object.keys(parameters)
  const hint =
    names.length > 0
      ? `this route accepts only ${names.join(', ')}`
      : 'this route has no parameters'
  const errors = createFieldErrors()
  for (const [name, value] of unknown) {
    errors[name] = { messages: [`${name} is not a known query parameter; ${hint}`], value }
  }
  throw invalidFields(errors)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DomainError('bad-request', 'Malformed JSON in the request body', {
      reason: (error as SyntaxError).message
    })
  }
}

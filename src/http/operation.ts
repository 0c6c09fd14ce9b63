import type { TObject, TSchema } from '@sinclair/typebox'
import type { OperationId } from '../core/enums.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. Absent from every other route. */
    operation?: Operation
  }
}

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500

/**
 * An operation of the service, described once: the route, the published document, the recorder and the fault rules all
 * take it from here.
 */
export interface Operation {
  id: OperationId
  method: 'GET' | 'POST'
  /** Path with parameters as `:name`. */
  url: string
  summary: string
  description: string
  tag: 'Integrations' | 'Messages' | 'Workflows'
  params?: TObject
  querystring?: TObject
  /** Schema of the body of a 200. */
  response: TSchema
  /** Whether the assumption `envelope` wraps the body of a 200. */
  enveloped?: boolean
  /** The statuses it rejects with, besides 500. */
  errors: ErrorStatus[]
  /** Whether an idempotency key has an effect. */
  idempotent?: boolean
  /** Requests that the default seed can answer. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | readonly string[]>
    /** Paths that are rejected, by status. */
    errors?: Record<string, string>
  }
}

/** Returns the operation as it is, typed as precisely as it is written. */
export function defineOperation<const Defined extends Operation>(operation: Defined): Defined {
  return operation
}

type Judged<Defined> = Pick<Defined, Extract<keyof Defined, 'params' | 'querystring' | 'body'>>

/** Returns the options of the route that serves an operation, but for the handler. */
export function operationRoute<Defined extends Operation>(operation: Defined) {
  const { method, url } = operation
  return { method, url, schema: judgedSchemas(operation), config: { operation: operation as Operation } }
}

/** Returns the schemas that a request is judged by: the only ones that a route hands to Fastify. */
export function judgedSchemas<Defined extends { params?: TSchema; querystring?: TSchema; body?: TSchema }>(
  defined: Defined
): Judged<Defined> {
  const { params, querystring, body } = defined
  return { ...(params && { params }), ...(querystring && { querystring }), ...(body && { body }) } as Judged<Defined>
}

import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Assumptions } from '../core/assumptions.js'
import type { OperationId } from '../core/enums.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. Absent from every other route. */
    operation?: Operation
  }
}

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500

export interface OperationSummary {
  id: string
  summary: string
  description?: string
  tag: string
  params?: TObject
  querystring?: TObject
}

/** An operation of the service, described once for its route, the OpenAPI document, the journal and the faults. */
export interface Operation extends OperationSummary {
  id: OperationId
  method: 'GET' | 'POST'
  /** Path with parameters as `:name`. */
  url: string
  /** Schema of the body of a 200. */
  response: TSchema
  /** The statuses it rejects with, besides 500. */
  errors: ErrorStatus[]
  /** Whether an idempotency key has an effect. */
  idempotent?: boolean
  /** Requests that the default seed can answer. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | number | readonly string[]>
    idempotencyKey?: string
    /** Paths that are rejected, by status. */
    errors?: Record<string, string>
  }
}

/** Types the operation as precisely as it is written. */
export function defineOperation<const Defined extends Operation>(operation: Defined): Defined {
  return operation
}

/** Returns the options of the route that serves an operation, but for the handler. */
export function operationRoute<Defined extends Operation>(operation: Defined) {
  const { method, url } = operation
  return { method, url, schema: requestSchemas(operation), config: { operation: operation as Operation } }
}

/** Returns the schemas that Fastify validates requests by; a route hands it no others. */
export function requestSchemas<Defined extends object>(operation: Defined) {
  const judged = Object.entries(operation).filter(([name]) => /^(params|querystring|body)$/.test(name))
  return Object.fromEntries(judged) as Pick<Defined, Extract<keyof Defined, 'params' | 'querystring' | 'body'>>
}

const HEAD = Buffer.from('{"data":')
const TAIL = Buffer.from('}')

/** Returns an object, as JSON, as the environment sends it: bare, or under `data` (assumption `envelope`). */
export function enveloped(document: Buffer, { envelope }: Assumptions): Buffer {
  return envelope === 'data' ? Buffer.concat([HEAD, document, TAIL]) : document
}

/** Returns the `servers` of an OpenAPI document: the address that it was asked for at, or where it is if that is unknown. */
export function serversOf({ protocol, host }: FastifyRequest): object[] {
  return [{ url: host ? `${protocol}://${host}` : '/', description: 'This server' }]
}

import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { AssumptionId, Assumptions } from '../core/assumptions.js'
import type { OperationId } from '../core/enums.js'
import type { ErrorCode } from '../core/errors.js'
import type { ChangedRecord } from '../core/schemas.js'
import { tellUnread } from './query-string.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. Absent from every other route. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** What its operation has changed, for its record. */
    changed: readonly ChangedRecord[] | undefined
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

/** An error that an operation rejects with. */
export interface OperationError {
  status: ErrorStatus
  /** Tells apart the errors that have one status; the one without a code is any other. */
  code?: ErrorCode
  /** The position of an assumption that it needs, if it needs one. */
  under?: readonly [AssumptionId, string]
  /** A path of the default seed that is rejected with it. */
  example?: string
}

/** An operation of the service, described once for its route, the OpenAPI document, the journal, faults and coverage. */
export interface Operation extends OperationSummary {
  id: OperationId
  method: 'GET' | 'POST'
  /** Path with parameters as `:name`. */
  url: string
  /** Schema of the body of a 200. */
  response: TSchema
  /** What it rejects with, besides 500. */
  errors: readonly OperationError[]
  /** Whether an idempotency key has an effect. */
  idempotent?: boolean
  /** Whether it answers with a single object, which assumption `envelope` puts under `data`: see `enveloped`. */
  enveloped?: boolean
  /** Requests that the default seed can answer. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | number | readonly string[]>
    idempotencyKey?: string
  }
}

/** Types the operation as precisely as it is written. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined => operation

/** Returns the errors that an operation rejects with under these assumptions, besides 500. */
export const errorsUnder = ({ errors }: Operation, assumptions: Assumptions): OperationError[] =>
  errors.filter(({ under }) => under === undefined || assumptions[under[0]] === under[1])

/** Returns the options of the route that serves an operation, but for the handler; with hooks of its own, if it needs any. */
export function operationRoute<Defined extends Operation>(operation: Defined, ...hooks: onRequestHookHandler[]) {
  const { method, url } = operation
  const config = { operation: operation as Operation }
  return { method, url, schema: requestSchemas(operation), config, onRequest: [...hooks, tellUnread(operation)] }
}

/** Returns the schemas that Fastify validates requests by; a route hands it no others. */
export function requestSchemas<Defined extends object>(operation: Defined) {
  const judged = Object.entries(operation).filter(([name, schema]) =>
    name === 'params' ? !isAnyText(schema) : /^(querystring|body)$/.test(name)
  )
  return Object.fromEntries(judged) as Pick<Defined, Extract<keyof Defined, 'params' | 'querystring' | 'body'>>
}

/** Whether nothing can be wrong with the parameters of a path, so that each request is spared a look at them. */
const isAnyText = ({ properties }: TObject): boolean =>
  Object.values(properties).every((each) => Object.keys(each).every((key) => /^(type|description)$/.test(key)))

/** Returns an object, as JSON, as the environment sends it: bare, or under `data` (assumption `envelope`). */
export const enveloped = (document: Buffer, { envelope }: Assumptions): Buffer =>
  envelope === 'data' ? Buffer.concat([Buffer.from('{"data":'), document, Buffer.from('}')]) : document

/** Returns the `servers` of an OpenAPI document: the address that it was asked for at, or where it is if that is unknown. */
export const serversOf = ({ protocol, host }: FastifyRequest): object[] => [
  { url: host ? `${protocol}://${host}` : '/', description: 'This server' }
]

import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import { warnUnknownParameters } from './query-string.js'

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

/** Returns the options of the route that serves an operation, but for the handler; with hooks of its own, if it needs any. */
export function operationRoute<Defined extends Operation>(
  operation: Defined,
  ...hooks: onRequestHookHandler[]
) {
  const { method, url } = operation
  const config = { operation: operation as Operation }
  return {
    method,
    url,
    schema: requestSchemas(operation),
    config,
    onRequest: [...hooks, warnUnknownParameters(operation)]
  }
}

/** Returns the schemas that Fastify validates requests by; a route hands it no others. */
export function requestSchemas<Defined extends object>(operation: Defined) {
  const judged = Object.entries(operation).filter(([name, schema]) =>
    name === 'params' ? !isAnyText(schema) : /^(querystring|body)$/.test(name)
  )
  return Object.fromEntries(judged) as Pick<
    Defined,
    Extract<keyof Defined, 'params' | 'querystring' | 'body'>
  >
}

/** Whether nothing can be wrong with the parameters of a path, so that each request is spared a look at them. */
const isAnyText = ({ properties }: TObject): boolean =>
  Object.values(properties).every((each) =>
    Object.keys(each).every((key) => /^(type|description)$/.test(key))
  )

/** Returns an object, as JSON, as the environment sends it: bare, or under `data` (assumption `envelope`). */
export const enveloped = (document: Buffer, { envelope }: Assumptions): Buffer =>
  envelope === 'data'
    ? Buffer.concat([Buffer.from('{"data":'), document, Buffer.from('}')])
    : document

/** Returns the `servers` of an OpenAPI document: the address that it was asked for at, or where it is if that is unknown. */
export const serversOf = ({ protocol, host }: FastifyRequest): object[] => [
  { url: host ? `${protocol}://${host}` : '/', description: 'This server' }
]

import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import { warnUnknownParameters } from './query-string.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. Undefined for routes that serve no operation. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** The changes that the operation made, for the journal. */
    changed: readonly ChangedRecord[] | undefined
  }
}

/** Returns the route options of an operation, except for the handler. */
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

/**
 * Returns the schemas for validating requests. Omits the `params` schema if its parameters accept
 * any string, because validating them would never fail.
 */
export function requestSchemas<Defined extends object>(operation: Defined) {
  const schemas = Object.entries(operation).filter(([name, schema]) =>
    name === 'params' ? !acceptsAnyString(schema) : /^(querystring|body)$/.test(name)
  )
  return Object.fromEntries(schemas) as Pick<
    Defined,
    Extract<keyof Defined, 'params' | 'querystring' | 'body'>
  >
}

const acceptsAnyString = ({ properties }: TObject): boolean =>
  Object.values(properties).every((parameter) =>
    Object.keys(parameter).every((keyword) => /^(type|description)$/.test(keyword))
  )

/**
 * Returns the JSON object unchanged or wrapped in `data`, depending on the assumption `envelope`.
 */
export const enveloped = (document: Buffer, { envelope }: Assumptions): Buffer =>
  envelope === 'data'
    ? Buffer.concat([Buffer.from('{"data":'), document, Buffer.from('}')])
    : document

/**
 * Returns `servers` for an OpenAPI document: the host from the request, or `/` if the request has
 * no host.
 */
export const serversOf = ({ protocol, host }: FastifyRequest): object[] => [
  { url: host ? `${protocol}://${host}` : '/', description: 'This server' }
]

import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import type { Operation } from '../schema/operation.js'
import type { ChangedRecord } from '../schema/shared.js'
import { warnUnknownParameters } from './query-string.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation of the route. Absent from all other routes. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** The changes that the operation made, for the journal. */
    changed: readonly ChangedRecord[] | undefined
  }
}

/** Returns the options of an operation's route, except for the handler. */
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
 * Returns the schemas that Fastify validates requests with. Omits path parameters that can't be
 * invalid, to save validating them on every request.
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

/** Returns a JSON object as the assumption `envelope` wants it: bare, or under `data`. */
export const enveloped = (document: Buffer, { envelope }: Assumptions): Buffer =>
  envelope === 'data'
    ? Buffer.concat([Buffer.from('{"data":'), document, Buffer.from('}')])
    : document

/** Returns the `servers` of an OpenAPI document: the requested host, or `/` if that is unknown. */
export const serversOf = ({ protocol, host }: FastifyRequest): object[] => [
  { url: host ? `${protocol}://${host}` : '/', description: 'This server' }
]

import { type Static, Type } from '@sinclair/typebox'
import { namedObject, recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { OperationName } from '../requests/schemas.js'

const ITEM_KINDS = ['operation', 'status', 'query', 'value', 'list', 'header'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

const count = (description: string) => Type.Integer({ minimum: 0, format: 'int64', description })

const percentage = Type.Number({ minimum: 0, maximum: 100, description: 'Rounded down to one decimal' })
const covered = count('How many of them have been met')
const total = count('How many things the contract documents')

export const CoverageRequest = namedObject('CoverageRequest', 'A request that leads to an item', {
  method: Type.String({ description: 'HTTP method' }),
  path: Type.String({ description: 'Path and query string; the ids are those of the default seed' }),
  headers: Type.Optional(recordOf(Type.String(), 'Headers beside the API key')),
  body: Type.Optional(Type.String({ description: 'Body to send' })),
  bodyLength: Type.Optional(
    Type.Integer({ description: 'Bytes of a body to send, of which the content is no matter' })
  ),
  withoutKey: Type.Optional(Type.Literal(true, { description: 'Without an API key' })),
  atOnce: Type.Optional(Type.Literal(true, { description: 'Send the next request without waiting for its answer' }))
})
export type CoverageRequest = Static<typeof CoverageRequest>

export const CoverageItem = namedObject('CoverageItem', 'One thing that the contract documents', {
  id: Type.String({ description: 'Identifier, the same in every run' }),
  kind: stringEnum(ITEM_KINDS, {
    description:
      'operation: it was called; status: it was answered so; query, value, list, header: a query parameter, one value of it, several values of it, or a header, on a request that was answered with 200'
  }),
  name: Type.String({ description: 'The status, parameter, value or header' }),
  met: count('Number of requests that met it'),
  injected: count('Number of requests that met it by a fault'),
  byFault: Type.Boolean({ description: 'Whether injected ones count, as the server has no real ones' }),
  covered: Type.Boolean({ description: 'Whether it has been met' }),
  how: Type.String({ description: 'How to meet it' }),
  requests: Type.Array(ref(CoverageRequest), { description: 'The same as requests, to be sent in this order' })
})
export type CoverageItem = Static<typeof CoverageItem>

export const OperationCoverage = namedObject('OperationCoverage', 'What was met of one operation', {
  operation: ref(OperationName),
  method: Type.String({ description: 'HTTP method' }),
  path: Type.String({ description: 'Path with parameters in braces' }),
  requests: count('Number of requests'),
  covered,
  total,
  items: Type.Array(ref(CoverageItem), { description: 'What the contract documents' }),
  others: Type.Array(
    strictObject({
      status: Type.Integer({ description: 'HTTP status' }),
      met: count('Number of answers by the server'),
      injected: count('Number of answers by faults')
    }),
    { description: 'Statuses that were met though they are not documented for the operation' }
  ),
  unread: Type.Array(
    strictObject({
      parameter: Type.String({ description: 'Name of the query parameter' }),
      requests: count('Number of requests that had it')
    }),
    { description: 'Query parameters that were sent and that the operation does not read: the first 20 names' }
  )
})
export type OperationCoverage = Static<typeof OperationCoverage>

export const Coverage = namedObject('Coverage', 'How much of the contract requests have met', {
  percentage,
  covered,
  total,
  requests: count('Number of requests, also of those that no operation serves'),
  operations: Type.Array(ref(OperationCoverage), { description: 'Each operation' }),
  unserved: strictObject(
    {
      requests: count('Number of requests'),
      targets: Type.Array(
        strictObject({
          method: Type.String({ description: 'HTTP method' }),
          path: Type.String({ description: 'Without the query string' }),
          requests: count('Number of requests')
        }),
        { description: 'Methods and paths: the first 20' }
      )
    },
    { description: 'Requests that no operation serves' }
  ),
  environment: Type.Optional(Type.String({ description: 'Name of the environment; absent for the whole server' }))
})
export type Coverage = Static<typeof Coverage>

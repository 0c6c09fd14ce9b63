import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { OperationName } from '../journal/schemas.js'
import { namedObject, ref, strictObject, stringEnum } from '../schema/typebox.js'

const ITEM_KINDS = ['operation', 'status', 'query', 'value', 'list', 'header'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

const text = (description: string) => Type.String({ description })
const count = (description: string) => Type.Integer({ minimum: 0, format: 'int64', description })
const listOf = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Array(strictObject(properties), { description })

const TOTALS = {
  covered: count('How many of them have been met'),
  total: count('How many things the contract documents')
}

export const CoverageItem = namedObject('CoverageItem', 'One thing that the contract documents', {
  id: text('Identifier, the same in every run'),
  kind: stringEnum(ITEM_KINDS, {
    description: 'An answer, or what was sent with a request that got a 200'
  }),
  name: text('The status, parameter, value or header'),
  count: count('Number of requests that met it'),
  injected: count('Number of requests that met it by a fault'),
  byFault: Type.Boolean({
    description: 'Whether injected ones count, as the server has no real ones'
  }),
  covered: Type.Boolean({ description: 'Whether it has been met' }),
  how: text('How to meet it')
})
export type CoverageItem = Static<typeof CoverageItem>

export const OperationCoverage = namedObject('OperationCoverage', 'What was met of one operation', {
  operation: ref(OperationName),
  method: text('HTTP method'),
  path: text('Path with parameters in braces'),
  requests: count('Number of requests'),
  ...TOTALS,
  items: Type.Array(ref(CoverageItem), { description: 'What the contract documents' }),
  others: listOf('Statuses that were met though they are not documented for the operation', {
    status: Type.Integer({ description: 'HTTP status' }),
    count: count('Number of answers by the server'),
    injected: count('Number of answers by faults')
  }),
  unknownParameters: listOf(
    'Query parameters that were sent and that the operation does not read: the first 20 names',
    {
      parameter: text('Name of the query parameter'),
      requests: count('Number of requests that had it')
    }
  )
})
export type OperationCoverage = Static<typeof OperationCoverage>

export const Coverage = namedObject('Coverage', 'How much of the contract requests have met', {
  percentage: Type.Number({ minimum: 0, maximum: 100, description: 'Rounded down to one decimal' }),
  ...TOTALS,
  requests: count('Number of requests, also of those that no operation serves'),
  operations: Type.Array(ref(OperationCoverage), { description: 'Each operation' }),
  unmocked: strictObject(
    {
      requests: count('Number of requests'),
      targets: listOf('Methods and paths: the first 20', {
        method: text('HTTP method'),
        path: text('Without the query string'),
        requests: count('Number of requests')
      })
    },
    { description: 'Requests that no operation serves' }
  ),
  environment: Type.Optional(text('Name of the environment; absent for the whole server'))
})
export type Coverage = Static<typeof Coverage>

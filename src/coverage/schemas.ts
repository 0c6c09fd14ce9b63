import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { OperationName } from '../journal/schemas.js'
import { namedObject, ref, strictObject, stringEnum } from '../schema/typebox.js'

const ITEM_KINDS = ['operation', 'status', 'query', 'value', 'list', 'header'] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

const string = (description: string) => Type.String({ description })
const count = (description: string) => Type.Integer({ minimum: 0, format: 'int64', description })
const listOf = <Properties extends TProperties>(description: string, properties: Properties) =>
  Type.Array(strictObject(properties), { description })

const TOTALS = {
  covered: count('The number of covered items'),
  total: count('The number of documented items')
}

export const CoverageItem = namedObject(
  'CoverageItem',
  'A detail of an operation in the API reference, such as a parameter or a response status',
  {
    id: string('Id of the item, the same in every run'),
    kind: stringEnum(ITEM_KINDS, {
      description:
        'What the item is. Only requests with a 200 response cover a `query`, `value`, `list` or ' +
        '`header`'
    }),
    name: string('The name of the status, parameter, value or header'),
    count: count('The number of requests that covered the item'),
    injected: count('The number of requests that covered the item through an injected fault'),
    byFault: Type.Boolean({
      description:
        'Whether an injected fault can cover the item. True only for status 500, because the ' +
        'server itself returns a 500 only if it has a bug'
    }),
    covered: Type.Boolean({ description: 'Whether the item is covered' }),
    how: string('How to cover the item')
  }
)
export type CoverageItem = Static<typeof CoverageItem>

export const OperationCoverage = namedObject('OperationCoverage', 'The coverage of one operation', {
  operation: ref(OperationName),
  method: string('HTTP method'),
  path: string('The path, with parameters in braces'),
  requests: count('The number of requests'),
  ...TOTALS,
  items: Type.Array(ref(CoverageItem), { description: 'The documented items' }),
  others: listOf('Response statuses that are not documented for the operation', {
    status: Type.Integer({ description: 'HTTP status' }),
    count: count('The number of responses from the server itself'),
    injected: count('The number of responses from injected faults')
  }),
  unknownParameters: listOf('The first 20 unknown query parameters', {
    parameter: string('The name of the query parameter'),
    requests: count('The number of requests that contain the parameter')
  })
})
export type OperationCoverage = Static<typeof OperationCoverage>

export const Coverage = namedObject(
  'Coverage',
  'How much of the API reference the requests cover',
  {
    percentage: Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'The percentage of covered items, rounded down to one decimal'
    }),
    ...TOTALS,
    requests: count('The number of requests, including requests that match no operation'),
    operations: Type.Array(ref(OperationCoverage), {
      description: 'The coverage of each operation'
    }),
    unmocked: strictObject(
      {
        requests: count('The number of requests'),
        targets: listOf('The first 20 combinations of method and path', {
          method: string('HTTP method'),
          path: string('The path without the query string'),
          requests: count('The number of requests')
        })
      },
      { description: 'Requests that match no operation' }
    ),
    environment: Type.Optional(
      string('The name of the environment; absent if the coverage is for the whole server')
    )
  }
)
export type Coverage = Static<typeof Coverage>

import {
  type NumberOptions,
  type Static,
  type TOptional,
  type TSchema,
  Type
} from '@sinclair/typebox'
import { CHANNELS } from '../domain/enums.js'
import { CONTEXT_KEY_PATTERN } from '../domain/ids.js'
import { strictObject, stringEnum } from '../schema/typebox.js'
import { canonicalContext } from './row.js'

interface Filter {
  /** The schema of the query parameter. */
  parameter: TSchema
  /** A value that matches a message in the default seed. */
  example: string | readonly string[]
  column: string
  /** The database index on the dataset, `column` and the columns that the list is sorted by. */
  index: string
  /** The columns of other filters that the index also contains. */
  coveredColumns: readonly string[]
  /**
   * Converts all values of the parameter to one column value. Without this function, a message
   * matches if its column equals any value of the parameter.
   */
  toColumnValue?(values: readonly string[]): string
}

/** The filters of the message list, in the order of the API reference. */
const FILTERS = {
  channel: {
    parameter: stringEnum(CHANNELS, { description: 'Only messages on this channel' }),
    example: 'email',
    column: 'channel',
    index: 'messages_channel',
    coveredColumns: []
  },
  subscriberId: {
    parameter: Type.String({
      description: 'Only messages to the subscriber with this `subscriberId`'
    }),
    example: 'user-ada',
    column: 'subscriber_id',
    index: 'messages_subscriber',
    coveredColumns: ['context', 'channel']
  },
  transactionId: {
    parameter: Type.Array(Type.String(), {
      description: 'Only messages of these transactions; repeat the parameter for each id'
    }),
    example: ['order-4711'],
    column: 'transaction_id',
    index: 'messages_transaction',
    coveredColumns: ['subscriber_id', 'context', 'channel']
  },
  contextKeys: {
    parameter: Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), {
      description:
        'Only messages with exactly these contexts, in any order; repeat the parameter for each ' +
        'context (`type:id`). An empty value matches messages without a context'
    }),
    example: ['tenant:acme'],
    column: 'context',
    index: 'messages_context',
    coveredColumns: ['subscriber_id', 'channel'],
    toColumnValue: canonicalContext
  }
} as const satisfies Record<string, Filter>

type FilterName = keyof typeof FILTERS

export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[]

const filterParameters = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, Type.Optional(FILTERS[name].parameter)])
) as { [Name in FilterName]: TOptional<(typeof FILTERS)[Name]['parameter']> }

export const MAX_LIMIT = 1000

/** Returns the schema of a whole number. Its type is `number`, as in the API reference. */
const wholeNumber = (description: string, bounds: NumberOptions) =>
  Type.Number({ ...bounds, multipleOf: 1, description: `${description}; fractions are rejected` })

export const MessageQuery = strictObject(
  {
    ...filterParameters,
    page: wholeNumber('Page number, starting at 0', {
      default: 0,
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER
    }),
    limit: wholeNumber('Number of messages per page', {
      default: 10,
      minimum: 1,
      maximum: MAX_LIMIT
    })
  },
  // A list is sent as a repeated parameter. Commas don't separate values.
  { style: 'form', explode: true }
)

/**
 * A query that matches a message in the default seed. The schema doesn't contain these examples,
 * because Swagger UI would then send them as filters by default.
 */
export const EXAMPLE_QUERY = {
  ...Object.fromEntries(FILTER_NAMES.map((name) => [name, FILTERS[name].example])),
  page: 0,
  limit: 10
}

/**
 * A validated query. `channel` may be any string, because some assumptions accept unknown channels.
 */
export type ListMessagesQuery = Omit<Static<typeof MessageQuery>, 'channel'> & { channel?: string }

/**
 * A filter and its values in a query. A message matches if its column equals one of `columnValues`.
 */
export interface Condition extends Filter {
  name: FilterName
  parameterValues: readonly string[]
  columnValues: readonly string[]
}

/**
 * Returns the conditions of a query, in the order of the API reference. Ignores absent filters and
 * empty arrays. However, an empty `contextKeys` array matches messages without a context.
 */
export function conditionsOf(query: Partial<ListMessagesQuery>): Condition[] {
  const conditions: Condition[] = []
  for (const name of FILTER_NAMES) {
    const filter: Filter = FILTERS[name]
    const parameter = query[name]
    if (parameter === undefined) continue
    const parameterValues = [parameter].flat()
    const columnValues = filter.toColumnValue
      ? [filter.toColumnValue(parameterValues)]
      : padToPowerOfTwo([...new Set(parameterValues)])
    if (columnValues.length > 0) conditions.push({ ...filter, name, parameterValues, columnValues })
  }
  return conditions
}

/**
 * Repeats the first value until the number of values is a power of two, so that fewer different SQL
 * statements need to be compiled.
 */
function padToPowerOfTwo(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return values.concat(Array(length - values.length).fill(values[0]))
}

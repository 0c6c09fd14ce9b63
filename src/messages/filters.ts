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
  /** The query parameter. */
  parameter: TSchema
  /** What finds a message of the default seed. */
  example: string | readonly string[]
  column: string
  /** The index that begins with the column, and goes on in the order of the list. */
  index: string
  /** The other filters' columns in the index. */
  has: readonly string[]
  /** Returns what the column holds of the values that are asked for; by default it holds each of them. */
  stored?(values: readonly string[]): string[]
}

/** The filters of the list, in the contract's order. All that is known of one is said here. */
const FILTERS = {
  channel: {
    parameter: stringEnum(CHANNELS, { description: 'Only messages of this channel' }),
    example: 'email',
    column: 'channel',
    index: 'messages_channel',
    has: []
  },
  subscriberId: {
    parameter: Type.String({ description: 'Only messages to this subscriber, by its external id' }),
    example: 'user-ada',
    column: 'subscriber_id',
    index: 'messages_subscriber',
    has: ['context', 'channel']
  },
  transactionId: {
    parameter: Type.Array(Type.String(), {
      description: 'Only messages of any of these transactions, repeated once per id'
    }),
    example: ['order-4711'],
    column: 'transaction_id',
    index: 'messages_transaction',
    has: ['subscriber_id', 'context', 'channel']
  },
  contextKeys: {
    parameter: Type.Array(Type.String({ pattern: CONTEXT_KEY_PATTERN }), {
      description:
        'Only messages in exactly this set of contexts, in any order: each `type:id`, repeated once per key. Empty: messages in no context'
    }),
    example: ['tenant:acme'],
    column: 'context',
    index: 'messages_context',
    has: ['subscriber_id', 'channel'],
    stored: (keys: readonly string[]) => [canonicalContext(keys)]
  }
} as const satisfies Record<string, Filter>

type FilterName = keyof typeof FILTERS

export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[]

const parameters = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, Type.Optional(FILTERS[name].parameter)])
)

export const MAX_LIMIT = 1000

/** The contract has it as a number. */
const wholeNumber = (description: string, bounds: NumberOptions) =>
  Type.Number({ ...bounds, multipleOf: 1, description: `${description}; fractions are refused` })

export const MessageQuery = strictObject(
  {
    ...(parameters as { [Name in FilterName]: TOptional<(typeof FILTERS)[Name]['parameter']> }),
    page: wholeNumber('Page number, from 0', {
      default: 0,
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER
    }),
    limit: wholeNumber('Messages per page', { default: 10, minimum: 1, maximum: MAX_LIMIT })
  },
  // A list is repeated, not split at commas.
  { style: 'form', explode: true }
)

/** A query that finds a message of the default seed. Not in the schema: the docs page would filter by it unasked. */
export const EXAMPLE_QUERY = {
  ...Object.fromEntries(FILTER_NAMES.map((name) => [name, FILTERS[name].example])),
  page: 0,
  limit: 10
}

/** A validated query. `channel` may be any text: some environments accept unknown channels, and find nothing. */
export type ListMessagesQuery = Omit<Static<typeof MessageQuery>, 'channel'> & { channel?: string }

/** A filter with what is asked for by it. */
export interface Condition extends Filter {
  name: FilterName
  sent: string | readonly string[]
  /** As the column has them: it must have one of them. */
  values: readonly string[]
}

/** Returns the filters of a query, in the contract's order. A list without values is no filter, but for contexts. */
export function conditionsOf(query: Partial<ListMessagesQuery>): Condition[] {
  return FILTER_NAMES.flatMap((name) => {
    const filter: Filter = FILTERS[name]
    const sent = query[name]
    if (sent === undefined) return []
    const values = filter.stored?.([sent].flat()) ?? padded([...new Set([sent].flat())])
    return values.length === 0 ? [] : [{ ...filter, name, sent, values }]
  })
}

/** Filled up to a power of two by repeating a value, so that lists of any length share a few statements. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return values.concat(Array(length - values.length).fill(values[0]))
}

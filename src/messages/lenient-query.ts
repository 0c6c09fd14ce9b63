import type { Assumptions } from '../domain/assumptions.js'
import { DomainError, invalidFields } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import { type ListMessagesQuery, MAX_LIMIT } from './filters.js'

/** Filters that the schema doesn't check, because the assumptions accept any value for them. */
export type LenientFilters = Pick<ListMessagesQuery, 'channel' | 'contextKeys'>

/** The assumption values that accept queries that the schema would reject. */
const LENIENT_VALUES = [
  ['paging-bounds', 'lenient'],
  ['unknown-channel-filter', 'empty-page'],
  ['malformed-context-key', 'empty-page']
] as const

export const acceptsLenientQueries = (assumptions: Assumptions): boolean =>
  LENIENT_VALUES.some(([id, value]) => assumptions[id] === value)

/**
 * Splits a query into the part that the schema checks and the filters that it doesn't check. If the
 * assumption `paging-bounds` is `lenient`, throws `bad-request` for a limit that is too large, and
 * `invalid` for a page or limit that isn't a number.
 */
export function splitLenientQuery(
  query: Query,
  assumptions: Assumptions
): { checked: Query; lenient: LenientFilters } {
  const checked =
    assumptions['paging-bounds'] === 'lenient' ? withLenientLimit(query) : { ...query }
  const lenient: LenientFilters = {}
  const { channel, contextKeys } = query
  const acceptsChannel = assumptions['unknown-channel-filter'] === 'empty-page'
  if (acceptsChannel && typeof channel === 'string' && channel !== '') {
    lenient.channel = channel
    delete checked.channel
  }
  const keys = [contextKeys].flat()
  const acceptsKeys = assumptions['malformed-context-key'] === 'empty-page'
  if (acceptsKeys && keys.every((key) => typeof key === 'string')) {
    lenient.contextKeys = keys.filter((key) => key !== '')
    delete checked.contextKeys
  }
  return { checked, lenient }
}

/**
 * Removes the limit if it is empty or 0, so that the default applies. Throws an error with Novu's
 * message if the page or limit isn't a number, or if the limit is too large.
 */
function withLenientLimit(query: Query): Query {
  const nonNumbers = ['page', 'limit'].filter((name) => Number.isNaN(Number(query[name] ?? 0)))
  if (nonNumbers.length > 0) {
    const messages = nonNumbers.map(
      (name) => `${name} must be a number conforming to the specified constraints`
    )
    throw invalidFields({ general: { messages, value: 'No Value Recorded' } })
  }
  const { limit, ...others } = query
  if (typeof limit !== 'string') return { ...query }
  if (/^(0+(\.0+)?)?$/.test(limit)) return others
  if (/^\d+(\.0+)?$/.test(limit) && Number(limit) > MAX_LIMIT) {
    const rule = `at most ${MAX_LIMIT} is allowed (assumption paging-bounds)`
    const reason = `limit is ${limit}, but ${rule}`
    throw new DomainError('bad-request', `Limit can not be larger then ${MAX_LIMIT}`, { reason })
  }
  return { ...query }
}

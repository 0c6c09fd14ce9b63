import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../domain/enums.js'
import { parseTimeField } from '../http/validation.js'
import { strictObject, stringEnum } from '../schema/typebox.js'
import type { JournalEntry } from './entry.js'
import type { Journal } from './journal.js'
import { matches } from './patterns.js'
import type { RecordedRequest } from './schemas.js'

export function sequenceSchema(description: string, options: { default?: number } = {}) {
  return Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    format: 'int64',
    description,
    ...options
  })
}

const optionalString = (description: string) => Type.Optional(Type.String({ description }))

const STATUS =
  'Only requests with this status, such as 404, or with a status of this class, such as 4xx. ' +
  '`none` selects requests that ended without a response'
const TEXT =
  'Only requests that contain all these words. The search ignores case. It covers the method, ' +
  'path, operation, parameters, idempotency key, request id, body, reason and status'
const AFTER =
  'Only requests with a sequence greater than this. Selects all requests if no request has this ' +
  'sequence yet, which can happen after a restart of the server'

export const JournalQuery = strictObject({
  operation: Type.Optional(
    stringEnum(OPERATION_IDS, { description: 'Only requests to this operation' })
  ),
  method: optionalString('Only requests with this method'),
  status: Type.Optional(Type.String({ pattern: '^([1-5](\\d\\d|xx)|none)$', description: STATUS })),
  path: optionalString('Only requests with exactly this path'),
  pathPrefix: optionalString('Only requests whose path starts with this text'),
  text: optionalString(TEXT),
  since: optionalString(
    'Only requests that arrived at or after this time. The format is ISO 8601 with a time zone'
  ),
  after: sequenceSchema(AFTER, { default: 0 }),
  before: Type.Optional(sequenceSchema('Only requests with a sequence less than this')),
  order: stringEnum(['oldest', 'newest'], {
    default: 'oldest',
    description: 'Which requests come first'
  }),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The maximum number of requests. No limit by default' })
  )
})
export type JournalQuery = Static<typeof JournalQuery>

/**
 * Returns the requests in the journal that match a query. Throws `invalid` if `since` isn't a time.
 */
export function filterRequests(journal: Journal, query: JournalQuery): RecordedRequest[] {
  const { order, limit, after, since, pathPrefix = '', text = '' } = query
  const isSelected = entryFilter(query, since === undefined ? 0 : parseTimeField('since', since))
  const words = text.toLowerCase().split(/\s+/)
  const entries = journal.requests(after)
  if (order === 'newest') entries.reverse()

  const requests: RecordedRequest[] = []
  for (const entry of entries) {
    if (requests.length === limit) break
    if (!isSelected(entry)) continue
    const request = journal.describer.request(entry)
    if (request.path.startsWith(pathPrefix) && hasWords(request, words)) requests.push(request)
  }
  return requests
}

/**
 * Returns a function that tests whether an entry matches these parameters. The function checks the
 * entry's raw fields first, because describing every entry would be slow.
 */
function entryFilter(
  { status, operation, method, path, before = Number.POSITIVE_INFINITY }: JournalQuery,
  since: number
): (entry: JournalEntry) => boolean {
  const hasStatus = statusFilter(status)
  const pattern = {
    ...(operation !== undefined && { operation }),
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path })
  }
  return (entry) =>
    entry.sequence < before && entry.time >= since && hasStatus(entry) && matches(entry, pattern)
}

type StatusFilter =
  | { kind: 'any' }
  | { kind: 'exact'; status: number }
  | { kind: 'class'; hundreds: number }
  | { kind: 'none' }

/** Parses the parameter `status`, such as `422`, `4xx` or `none`. */
function parseStatusFilter(status: string | undefined): StatusFilter {
  if (status === undefined) return { kind: 'any' }
  if (status === 'none') return { kind: 'none' }
  if (status.endsWith('xx')) return { kind: 'class', hundreds: Number(status[0]) }
  return { kind: 'exact', status: Number(status) }
}

function statusFilter(status: string | undefined): (entry: JournalEntry) => boolean {
  const filter = parseStatusFilter(status)
  switch (filter.kind) {
    case 'any':
      return () => true
    case 'exact':
      return (entry) => entry.status === filter.status
    case 'class':
      return (entry) => Math.floor(entry.status / 100) === filter.hundreds
    case 'none':
      return ({ status, endSequence }) => status === 0 && endSequence > 0
  }
}

/** Returns whether a request contains all these words, which must be in lower case. */
function hasWords(request: RecordedRequest, words: readonly string[]): boolean {
  const { method, path, operation, query, headers, body, reason, status } = request
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${value}`)
  )
  const ids = [headers['idempotency-key'], headers['x-request-id']]
  const searchable = [method, path, operation, ...parameters, ...ids, body, reason, status]
    .join('\n')
    .toLowerCase()
  return words.every((word) => searchable.includes(word))
}

import { milliseconds } from '../../../client/connection.js'
import type { Duration, RequestFilter } from '../../../client/index.js'
import { OPERATION_IDS } from '../../../domain/enums.js'
import { hrefTo, type Route } from '../../shell/router.js'

/** The part of the URL that determines what the requests view shows. */
export interface RequestsLocation {
  /** The sequence number of the open request. */
  open: number | undefined
  /** The text in the search field. */
  search: string
  /** Returns the URL of this location with the given parts changed. */
  href(change: { open?: number | undefined; search?: string }): string
}

/** Returns the location for a route such as `#/requests/17?q=status:4xx`. */
export function locationOf({ rest: [sequence], params }: Route): RequestsLocation {
  const current = { open: Number(sequence) || undefined, search: params.get('q') ?? '' }
  return {
    ...current,
    href(change) {
      const { open, search } = { ...current, ...change }
      const path = open === undefined ? ['requests'] : ['requests', `${open}`]
      return hrefTo(path, { ...Object.fromEntries(params), q: search })
    }
  }
}

/** The search term that lists requests without a valid key. */
export const UNAUTHENTICATED_SEARCH = 'key:none'

/** Returns whether a search contains the term for requests without a valid key. */
export const isUnauthenticatedSearch = (search: string) =>
  search.split(/\s+/).includes(UNAUTHENTICATED_SEARCH)

/** Matches a filter whose value hasn't been typed yet. Such filters are ignored. */
const INCOMPLETE_FILTER = /^(status|path|operation|since|key):$/

/**
 * Parses a search such as `status:4xx since:10m`. Durations such as `10m` count back from `now`,
 * which is in milliseconds since the epoch. An invalid filter is treated as a word to search for.
 */
export function parseRequestSearch(search: string, now: number): RequestFilter {
  const filter: RequestFilter = {}
  const words: string[] = []
  for (const word of search.split(/\s+/)) {
    if (word === UNAUTHENTICATED_SEARCH || INCOMPLETE_FILTER.test(word)) continue
    const part = parseFilter(word, now)
    if (part) Object.assign(filter, part)
    else words.push(word)
  }
  return { ...filter, text: words.join(' ') || undefined }
}

/** Returns the filter for a word such as `status:4xx`; undefined if the word isn't a filter. */
function parseFilter(word: string, now: number): RequestFilter | undefined {
  const [name = '', value = ''] = word.split(/:(.*)/s)
  if (name === 'path') return { pathPrefix: value }
  if (name === 'status' && /^([1-5](\d\d|xx)|none)$/.test(value)) return { status: value as '4xx' }
  if (name === 'operation') {
    const matches = (id: string) => id.toLowerCase().includes(value.toLowerCase())
    const operation = OPERATION_IDS.find(matches)
    return operation && { operation }
  }
  if (name === 'since') {
    const since = parseSince(value, now)
    return Number.isNaN(since) ? undefined : { since: new Date(since) }
  }
  return undefined
}

/**
 * Returns a time in milliseconds since the epoch; NaN if the value is neither a duration nor a
 * date.
 */
function parseSince(value: string, now: number): number {
  return /^\d+[smhd]$/.test(value) ? now - milliseconds(value as Duration) : Date.parse(value)
}

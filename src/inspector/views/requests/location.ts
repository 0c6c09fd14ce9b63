import { milliseconds } from '../../../client/connection.js'
import type { Duration, RequestFilter } from '../../../client/index.js'
import { OPERATION_IDS } from '../../../domain/enums.js'
import { hrefTo, type Route } from '../../shell/router.js'

/** What the view of the requests shows according to the URL. */
export interface RequestsLocation {
  /** The sequence of the open request. */
  open: number | undefined
  /** The text in the search field. */
  search: string
  /** Returns the URL with a part of the location changed. */
  href(change: { open?: number | undefined; search?: string }): string
}

/** Returns the location that a route such as `#/requests/17?q=status:4xx` describes. */
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

/** The search for requests without a valid key. */
export const UNAUTHENTICATED_SEARCH = 'key:none'

/** Returns whether a search is for requests without a valid key. */
export const isUnauthenticatedSearch = (search: string) =>
  search.split(/\s+/).includes(UNAUTHENTICATED_SEARCH)

/** A filter without its value, while the user is still typing. */
const INCOMPLETE_FILTER = /^(status|path|operation|since|key):$/

/**
 * Parses a search such as `status:4xx since:10m`. Durations count back from `now`, in milliseconds
 * since the epoch. A filter that isn't valid is searched as a word.
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

/** Returns the filter that a word such as `status:4xx` stands for; undefined for other words. */
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

/** Returns a time in milliseconds since the epoch; NaN if it is neither a duration nor a date. */
function parseSince(value: string, now: number): number {
  return /^\d+[smhd]$/.test(value) ? now - milliseconds(value as Duration) : Date.parse(value)
}

import type { Operation } from '../../../client/index.js'
import type { RequestQuery } from '../../source.js'

const OPERATIONS: readonly Operation[] = ['listMessages', 'setIntegrationAsPrimary', 'retrieveWorkflowStep']
const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What a line of search asks for, or what is wrong with it. */
export interface Search {
  query: RequestQuery
  problem?: string
}

/**
 * Reads a line of search: words, and `status:4xx`, `path:/v1`, `operation:list`, `since:10m` or `since:2026-02-18T10:00:00Z`.
 * A length of time counts back from `now`, in milliseconds since 1970.
 */
export function readSearch(line: string, now: number): Search {
  const query: RequestQuery = {}
  const words: string[] = []
  for (const word of line.split(/\s+/).filter(Boolean)) {
    const [, name, value = ''] = /^(status|path|operation|since):(.*)$/.exec(word) ?? []
    if (name === undefined) words.push(word)
    // One that is still being typed.
    else if (value === '') continue
    else if (name === 'path') query.path = value
    else if (name === 'status') {
      if (!/^([1-5](\d\d|xx)|none)$/i.test(value)) return { query, problem: 'status: takes 404, 4xx or none' }
      query.status = value.toLowerCase() as NonNullable<RequestQuery['status']>
    } else if (name === 'operation') {
      query.operation = OPERATIONS.find((each) => each.toLowerCase().includes(value.toLowerCase()))
      if (!query.operation) return { query, problem: `operation: takes ${OPERATIONS.join(', ')}` }
    } else {
      const [, count, unit] = /^(\d+)([smhd])$/.exec(value) ?? []
      const since = unit ? now - Number(count) * UNITS[unit as keyof typeof UNITS] : Date.parse(value)
      if (Number.isNaN(since))
        return { query, problem: 'since: takes 30s, 10m, 2h, 1d or a time such as 2026-02-18T10:00Z' }
      query.since = new Date(since).toISOString()
    }
  }
  if (words.length > 0) query.text = words.join(' ')
  return { query }
}

/** Whether a search leaves anything out. */
export function isSearch({ query }: Search): boolean {
  return Object.keys(query).length > 0
}

import type { TObject } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import qs from 'qs'
import { type FieldErrors, invalidFields, Refusal } from '../errors.js'
import { type Mistake, mistakesIn } from '../validation.js'

/** A query string that can't be read. Refused where it is looked at, after authentication. */
export class MalformedQuery {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

const MOST_PARAMETERS = 10_000

/**
 * Parses a query string: repeated keys, `key[]=` and `key[0]=` make a list, and commas have no meaning.
 * Never throws: Fastify calls it before any hook and any error handler.
 */
export function parseQuery(text: string): Record<string, unknown> | MalformedQuery {
  if (text === '') return {}
  try {
    return qs.parse(text, {
      depth: 1,
      parameterLimit: MOST_PARAMETERS,
      arrayLimit: MOST_PARAMETERS,
      throwOnLimitExceeded: true,
      plainObjects: true,
      decoder: decode
    })
  } catch (error) {
    if (error instanceof URIError) {
      return new MalformedQuery('the query has a percent sign that is not followed by two hex digits of UTF-8')
    }
    return new MalformedQuery(`the query has more than ${MOST_PARAMETERS} parameters`)
  }
}

// qs hands on what it can't decode as it is, which would filter by something that nobody asked for.
function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/** Refuses with `bad-request` a query string that can't be read. */
export const readableQuery = fp(
  async (app) => {
    app.addHook('onRequest', async ({ query }) => {
      if (query instanceof MalformedQuery) {
        throw new Refusal('bad-request', 'Malformed query string', { reason: query.reason })
      }
    })
  },
  { name: 'readable-query' }
)

/**
 * The query as the schema has it: lists where it says array, numbers where it says integer, defaults filled in,
 * unknown parameters left out. Refuses with `invalid`, all bad fields at once.
 */
export function readQuery(query: unknown, schema: TObject): Record<string, unknown> {
  const sent = query as Record<string, unknown>
  const read: Record<string, unknown> = {}
  const severalTimes: Mistake[] = []
  for (const [name, { type, default: fallback }] of Object.entries(schema.properties)) {
    const value = sent[name]
    if (value === undefined) {
      if (fallback !== undefined) read[name] = fallback
    } else if (type === 'array') {
      read[name] = asList(value)
    } else if (typeof value !== 'string') {
      severalTimes.push({ path: [name], message: 'must be given once, without brackets' })
      if (fallback !== undefined) read[name] = fallback
    } else {
      read[name] = type === 'integer' ? asWholeNumber(value) : value
    }
  }
  const mistakes = [...severalTimes, ...mistakesIn(schema, read)]
  if (mistakes.length > 0) throw invalidFields(byField(mistakes, sent))
  return read
}

function asList(value: unknown): unknown {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return [value]
  // Indexes beyond the list's length come as an object: a[7]=x.
  const entries = Object.entries(value as object)
  return entries.every(([index]) => /^\d+$/.test(index)) ? entries.map(([, item]) => item) : value
}

/** `10` and `10.0` (some generated clients send doubles); any other text stays text, and fails as such. */
function asWholeNumber(value: string): string | number {
  return /^\d+(\.0+)?$/.test(value) ? Number(value) : value
}

function byField(mistakes: readonly Mistake[], sent: Record<string, unknown>): FieldErrors {
  const errors: FieldErrors = {}
  for (const { path, message } of mistakes) {
    const field = String(path[0])
    errors[field] ??= { messages: [], value: sent[field] }
    const text = `${field} ${message}`
    if (!errors[field].messages.includes(text)) errors[field].messages.push(text)
  }
  return errors
}

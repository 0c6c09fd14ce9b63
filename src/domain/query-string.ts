/** A query string that can't be read. Refused where it is looked at, after authentication. */
export class MalformedQuery extends Error {}

/** What was sent, by name. An object stands for a value that was sent with brackets which mean no list. */
export type Query = Record<string, string | (string | object)[]>

const MAX_PARAMETERS = 10_000

/**
 * Parses a query string: repeated keys, `key[]=` and `key[0]=` make a list, and commas have no meaning. Other brackets
 * make a list too, of what is no text, so that no parameter takes them.
 *
 * Never throws: Fastify calls it before any hook and any error handler.
 */
export function parseQuery(text: string): Query | MalformedQuery {
  const query = new Parameters()
  if (text === '') return query
  const parts = text.split('&')
  if (parts.length > MAX_PARAMETERS)
    return new MalformedQuery(`the query has more than ${MAX_PARAMETERS} parameters`)
  try {
    for (const part of parts) if (part !== '') addParameter(query, part)
    return query
  } catch {
    return new MalformedQuery(
      'the query has a percent sign that is not followed by two hex digits of UTF-8'
    )
  }
}

/** Its instances inherit nothing, as those of `Object.create(null)`, which take ten times as long to fill. */
const Parameters = function Parameters() {} as unknown as new () => Query
Parameters.prototype = Object.create(null)

function addParameter(query: Query, part: string): void {
  const equals = part.indexOf('=')
  const name = decode(equals < 0 ? part : part.slice(0, equals))
  const value = equals < 0 ? '' : decode(part.slice(equals + 1))
  const bracket = name.indexOf('[', 1)
  const key = bracket < 0 ? name : name.slice(0, bracket)
  const before = query[key]
  const brackets = name.slice(key.length)
  const item = /^(\[\d*\])?$/.test(brackets) ? value : { [brackets]: value }
  if (bracket < 0 && before === undefined) query[key] = value
  else if (Array.isArray(before)) before.push(item)
  else query[key] = before === undefined ? [item] : [before, item]
}

const decode = (text: string): string =>
  /[%+]/.test(text) ? decodeURIComponent(text.replaceAll('+', ' ')) : text

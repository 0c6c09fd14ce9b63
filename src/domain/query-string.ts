/**
 * Returned instead of the parameters if a query string can't be parsed. `rejectMalformedQuery`
 * rejects the request later, after authentication.
 */
export class MalformedQuery extends Error {}

/**
 * Maps parameter names to values. A parameter with text in its brackets, such as `limit[gt]`, adds
 * an object to the list of values. Validation rejects the object, because no parameter accepts
 * objects.
 */
export type Query = Record<string, string | (string | object)[]>

const MAX_PARAMETERS = 10_000

/**
 * Parses a query string. Repeating a name, or writing it as `name[]` or `name[0]`, produces a list.
 * Commas don't separate values.
 *
 * Never throws, because Fastify calls it before any hook or error handler.
 */
export function parseQuery(queryString: string): Query | MalformedQuery {
  const query = new Parameters()
  if (queryString === '') return query
  const pairs = queryString.split('&')
  if (pairs.length > MAX_PARAMETERS) {
    return new MalformedQuery(`the query has more than ${MAX_PARAMETERS} parameters`)
  }
  try {
    for (const pair of pairs) if (pair !== '') addParameter(query, pair)
    return query
  } catch {
    // Only `decodeURIComponent` can throw here.
    return new MalformedQuery(
      'the query has a percent sign that does not start a UTF-8 character: encode it as %25'
    )
  }
}

/**
 * Creates objects without inherited properties. Adding a property to such an object is ten times as
 * fast as adding it to an object from `Object.create(null)`.
 */
const Parameters = function Parameters() {} as unknown as new () => Query
Parameters.prototype = Object.create(null)

function addParameter(query: Query, pair: string): void {
  const equals = pair.indexOf('=')
  const name = decode(equals < 0 ? pair : pair.slice(0, equals))
  const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
  const bracket = name.indexOf('[', 1)
  const key = bracket < 0 ? name : name.slice(0, bracket)
  const brackets = name.slice(key.length)
  const item = /^(\[\d*\])?$/.test(brackets) ? value : { [brackets]: value }
  const previous = query[key]
  if (Array.isArray(previous)) previous.push(item)
  else if (previous !== undefined) query[key] = [previous, item]
  else query[key] = bracket < 0 ? value : [item]
}

function decode(text: string): string {
  return /[%+]/.test(text) ? decodeURIComponent(text.replaceAll('+', ' ')) : text
}

/** Appends encoded query parameters to a path, as in `/v1/messages?limit=10`. */
export function targetOf(path: string, query: Record<string, string | string[]>): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value])
  )
  return pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path
}

import type { TObject } from '@sinclair/typebox'
import type { onRequestHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../core/errors.js'
import { didYouMean } from '../core/suggest.js'
import { giveReason } from './errors.js'

/** A query string that can't be read. Refused where it is looked at, after authentication. */
export class MalformedQuery extends Error {}

/** What was sent, by name. An object stands for a value that was sent with brackets which mean no list. */
export type Query = Record<string, string | (string | object)[]>

const MAX_PARAMETERS = 10_000
/** Of how many parameters the names are told. */
const MAX_NAMES = 3

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
  if (parts.length > MAX_PARAMETERS) return new MalformedQuery(`the query has more than ${MAX_PARAMETERS} parameters`)
  try {
    for (const part of parts) if (part !== '') addParameter(query, part)
    return query
  } catch {
    return new MalformedQuery('the query has a percent sign that is not followed by two hex digits of UTF-8')
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

const decode = (text: string): string => (/[%+]/.test(text) ? decodeURIComponent(text.replaceAll('+', ' ')) : text)

/** Refuses with `bad-request` a query string that can't be read. */
export const rejectMalformedQuery = fp(async (app) => {
  app.addHook('onRequest', ({ query }, _reply, done) => {
    if (!(query instanceof MalformedQuery)) return done()
    done(new DomainError('bad-request', 'Malformed query string', { reason: query.message }))
  })
})

type Described = { querystring?: TObject }

/** Returns the names of parameters that an operation does not read; all of them where no operation serves the request. */
export const unreadParameters = (names: readonly string[], operation: Described | undefined): string[] =>
  names.filter((name) => !Object.hasOwn(operation?.querystring?.properties ?? {}, name))

/**
 * Returns the hook of an operation that says in `x-mock-reason` which parameters of a query it does not read, and what was
 * probably meant: else a filter with a slip in its name would filter nothing, unnoticed.
 */
export function tellUnread(operation: Described): onRequestHookHandler {
  const read = Object.keys(operation.querystring?.properties ?? {})
  const there = read.length > 0 ? `there are ${read.join(', ')}` : 'this operation takes no query'
  return ({ query }, reply, done) => {
    const unread = unreadParameters(Object.keys(query as object), operation).slice(0, MAX_NAMES)
    if (unread.length === 0) return done()
    const slips = unread.map((name) => `${name} is not read${didYouMean(name, read)}`)
    const isGuessed = slips.every((slip) => slip.endsWith('?'))
    giveReason(reply, [...slips, ...(isGuessed ? [] : [there])].join('; '))
    done()
  }
}

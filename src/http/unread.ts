import type { TObject } from '@sinclair/typebox'
import type { onRequestHookHandler } from 'fastify'
import { suggest } from '../core/suggest.js'
import { giveReason } from './errors.js'

/** Of how many parameters the names are told, and how many characters of each. */
const MAX_NAMES = 3
const MAX_LENGTH = 50

interface Described {
  querystring?: TObject
}

/** Returns the names of parameters that an operation does not read; all of them where no operation serves the request. */
export function unreadParameters(names: readonly string[], operation: Described | undefined): string[] {
  const read = operation?.querystring?.properties ?? {}
  return names.filter((name) => !Object.hasOwn(read, name))
}

/**
 * Returns the hook of an operation that says in `x-mock-reason` which parameters of a query it does not read, and what was
 * probably meant: else a filter with a slip in its name would filter nothing, unnoticed.
 */
export function tellUnread(operation: Described): onRequestHookHandler {
  const read = operation.querystring?.properties ?? {}
  return ({ query }, reply, done) => {
    for (const name in query as object) {
      if (Object.hasOwn(read, name)) continue
      giveReason(reply, unreadReason(unreadParameters(Object.keys(query as object), operation), operation))
      break
    }
    done()
  }
}

function unreadReason(unread: readonly string[], operation: Described): string {
  const read = Object.keys(operation.querystring?.properties ?? {})
  const told = unread.slice(0, MAX_NAMES).map((name) => {
    const meant = suggest(name, read)
    const shown = name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}...` : name
    return `${shown} is not read${meant ? `; did you mean ${meant}?` : ''}`
  })
  const more = unread.length > MAX_NAMES ? [`nor are ${unread.length - MAX_NAMES} more parameters`] : []
  const there = read.length > 0 ? `there are ${read.join(', ')}` : 'this operation takes no query'
  const isGuessed = told.every((each) => each.endsWith('?'))
  return [...told, ...more, ...(isGuessed ? [] : [there])].join('; ')
}

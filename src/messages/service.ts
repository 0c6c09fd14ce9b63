import { DomainError } from '../core/errors.js'
import { mayNeedVendorNames, withVendorNames } from '../core/vendor-names.js'
import type { Db } from '../db/open.js'
import type { Environment } from '../environments/service.js'
import type { ListMessagesQuery } from './query.js'
import { type MessageFilters, messageRepository } from './repository.js'

export interface MessageList {
  /** A MessagesPage as JSON in UTF-8. */
  body: Buffer
  /** Why the page is empty; absent when it isn't. */
  reason?: string
}

export type MessageService = ReturnType<typeof messageService>

export function messageService({ db }: { db: Db }) {
  const repository = messageRepository(db)

  return {
    /**
     * One page of the environment's messages, newest first, and how many there are in all, where the environment
     * counts. Refuses with `not-found` a subscriber that nobody has, where the environment assumes so.
     */
    list(environment: Environment, query: ListMessagesQuery): MessageList {
      const { page, limit } = query
      const filters = filtersOf(query)
      refuseUnknownSubscriber(environment, filters)

      // The product of a page number and a limit may be too large to be a whole number, to us and to SQLite.
      const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER)
      const counted = environment.assumptions['total-count'] === 'present'
      const total = counted ? repository.countMessages(environment.datasets.messages, filters) : undefined
      const head = (full: boolean) => {
        return headOf({ total, hasMore: total === undefined ? full : offset + limit < total, limit, page })
      }
      const found = repository.findPage(environment.datasets.messages, filters, {
        limit,
        offset,
        total,
        head,
        tail: ']}'
      })
      const body = spelled(found.body, environment)
      return found.count > 0 ? { body } : { body, reason: whyEmpty(environment, filters, query) }
    }
  }

  function refuseUnknownSubscriber(
    { datasets, name, assumptions }: Environment,
    { subscriberId }: MessageFilters
  ): void {
    if (subscriberId === undefined || assumptions['unknown-subscriber-filter'] !== 'not-found') return
    if (repository.hasSubscriber(datasets.subscribers, subscriberId)) return
    throw new DomainError('not-found', `Subscriber not found for id ${subscriberId}`, {
      reason: `environment ${name} has no subscriber ${subscriberId} (assumption unknown-subscriber-filter)`
    })
  }

  /** Adds the filters one after the other, and names the one that took the last message. */
  function whyEmpty(environment: Environment, filters: MessageFilters, { page, limit }: ListMessagesQuery): string {
    let taken: MessageFilters = {}
    let before = repository.countMessages(environment.datasets.messages, taken)
    if (before === 0) return `environment ${environment.name} has no messages`
    for (const [name, filter] of steps(filters)) {
      taken = { ...taken, ...filter }
      const left = repository.countMessages(environment.datasets.messages, taken)
      if (left === 0) return `${name} left 0 of ${before}`
      before = left
    }
    return `page ${page} is past the end: at ${limit} a page the last is page ${Math.ceil(before / limit) - 1}, the first page 0`
  }
}

/** Field by field in the contract's order, with the names of the query parameters. */
function steps(filters: MessageFilters): [string, MessageFilters][] {
  const { channel, subscriberId, transactionIds, context } = filters
  const all: [string, MessageFilters][] = []
  if (channel !== undefined) all.push(['channel', { channel }])
  if (subscriberId !== undefined) all.push(['subscriberId', { subscriberId }])
  if (transactionIds !== undefined) all.push(['transactionId', { transactionIds }])
  if (context !== undefined) all.push(['contextKeys', { context }])
  return all
}

function filtersOf({ channel, subscriberId, transactionId, contextKeys }: ListMessagesQuery): MessageFilters {
  const context = contextKeys && canonicalContext(contextKeys)
  return { channel, subscriberId, transactionIds: transactionId, context }
}

/** One text for a set of context keys, whatever their order and however often each is given. */
export function canonicalContext(contextKeys: readonly string[]): string {
  return JSON.stringify([...new Set(contextKeys)].sort())
}

interface Figures {
  total: number | undefined
  hasMore: boolean
  limit: number
  page: number
}

function headOf({ total, hasMore, limit, page }: Figures): string {
  const totalCount = total === undefined ? '' : `"totalCount":${total},`
  return `{${totalCount}"hasMore":${hasMore},"pageSize":${limit},"page":${page},"data":[`
}

function spelled(body: Buffer, { assumptions }: Environment): Buffer {
  if (!mayNeedVendorNames(body, assumptions)) return body
  const page = JSON.parse(body.toString())
  return Buffer.from(JSON.stringify({ ...page, data: withVendorNames(page.data) }))
}

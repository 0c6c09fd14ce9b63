import type { Db } from '../db/open.js'
import type { Environment } from '../environments/service.js'
import { Refusal } from '../errors.js'
import { mayNeedVendorNames, withVendorNames } from '../vendor-names.js'
import { type MessageFilters, messageRepository } from './repository.js'
import type { ListMessagesQuery } from './schemas.js'

export interface MessageList {
  /** A MessagesPage as JSON in UTF-8. */
  body: Buffer
  /** Why the page is empty; absent when it isn't. */
  reason?: string
}

export type MessageService = ReturnType<typeof messageService>

export function messageService({ db }: { db: Db }) {
  const repository = messageRepository(db)
  const totals = totalsMemo()

  return {
    /**
     * One page of the environment's messages, newest first, and how many there are in all, where the environment
     * counts. Refuses with `not-found` a subscriber that nobody has, where the environment assumes so.
     */
    list(environment: Environment, query: ListMessagesQuery): MessageList {
      const { page, limit } = query
      const filters = filtersOf(query)
      refuseUnknownSubscriber(environment, filters)

      const counted = environment.assumptions['total-count'] === 'present'
      const found = repository.findPage(environment.parts.messages, filters, limit, page * limit)
      const total = counted ? countAll(environment, filters) : undefined
      const hasMore = total === undefined ? found.count === limit : page * limit + found.count < total
      const documents = spelled(found.documents, environment)
      const body = Buffer.concat([head({ total, hasMore, limit, page }), documents, TAIL])
      return found.count > 0 ? { body } : { body, reason: whyEmpty(environment, filters, query) }
    },

    /** Forgets what it remembers: call it whenever messages have changed. */
    refresh(): void {
      totals.clear()
    }
  }

  function countAll(environment: Environment, filters: MessageFilters): number {
    return totals.get(environment.parts.messages, filters, () =>
      repository.countMessages(environment.parts.messages, filters)
    )
  }

  function refuseUnknownSubscriber({ parts, name, assumptions }: Environment, { subscriberId }: MessageFilters): void {
    if (subscriberId === undefined || assumptions['unknown-subscriber-filter'] !== 'not-found') return
    if (repository.hasSubscriber(parts.subscribers, subscriberId)) return
    throw new Refusal('not-found', `Subscriber not found for id ${subscriberId}`, {
      reason: `environment ${name} has no subscriber ${subscriberId} (assumption unknown-subscriber-filter)`
    })
  }

  /** Adds the filters one after the other, and names the one that took the last message. */
  function whyEmpty(environment: Environment, filters: MessageFilters, { page, limit }: ListMessagesQuery): string {
    let taken: MessageFilters = {}
    let before = countAll(environment, taken)
    if (before === 0) return `environment ${environment.name} has no messages`
    for (const [name, filter] of steps(filters)) {
      taken = { ...taken, ...filter }
      const left = countAll(environment, taken)
      if (left === 0) return `${name} left 0 of ${before}`
      before = left
    }
    return `page ${page} is past the end: ${before} messages at ${limit} a page, the first page is 0`
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
  return {
    ...(channel !== undefined && { channel }),
    ...(subscriberId !== undefined && { subscriberId }),
    ...(transactionId !== undefined && { transactionIds: transactionId }),
    ...(contextKeys !== undefined && { context: canonicalContext(contextKeys) })
  }
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

function head({ total, hasMore, limit, page }: Figures): Buffer {
  const totalCount = total === undefined ? '' : `"totalCount":${total},`
  return Buffer.from(`{${totalCount}"hasMore":${hasMore},"pageSize":${limit},"page":${page},"data":[`)
}

const TAIL = Buffer.from(']}')

function spelled(documents: Buffer, { assumptions }: Environment): Buffer {
  if (!mayNeedVendorNames(documents, assumptions)) return documents
  const json = JSON.stringify(withVendorNames(JSON.parse(`[${documents.toString()}]`)))
  return Buffer.from(json.slice(1, -1))
}

/** Remembers exact counts until told to forget: counting a large environment costs more than a page of it. */
function totalsMemo() {
  const CAPACITY = 10_000
  const counts = new Map<string, number>()
  return {
    get(collection: number, filters: MessageFilters, count: () => number): number {
      const key = `${collection} ${JSON.stringify(filters)}`
      const remembered = counts.get(key)
      if (remembered !== undefined) return remembered
      if (counts.size >= CAPACITY) counts.clear()
      const fresh = count()
      counts.set(key, fresh)
      return fresh
    },
    clear(): void {
      counts.clear()
    }
  }
}

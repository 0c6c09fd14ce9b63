import { DomainError } from '../core/errors.js'
import { idIn } from '../core/ids.js'
import { didYouMean } from '../core/suggest.js'
import { mayNeedVendorNames, withVendorNames } from '../core/vendor-names.js'
import type { Db } from '../db/open.js'
import type { Environment, EnvironmentService } from '../environments/service.js'
import type { ListMessagesQuery } from './query.js'
import { type MessageFilters, messageRepository } from './repository.js'
import { canonicalContext } from './row.js'
import type { MessageResponse } from './schemas.js'

export type MessageService = ReturnType<typeof messageService>

export function messageService({ db, environments }: { db: Db; environments: EnvironmentService }) {
  const repository = messageRepository(db)
  environments.subscribe({ onWrite: repository.forgetTotals })

  return {
    /**
     * Returns a page of the environment's messages, newest first, as JSON in UTF-8, and why it is empty if it is. Throws
     * `not-found` when no subscriber has the id that is filtered by, where the environment assumes so.
     */
    list(environment: Environment, query: ListMessagesQuery): { body: Buffer; reason?: string } {
      const { page, limit } = query
      const { messages } = environment.datasets
      const filters = filtersOf(query)
      rejectUnknownSubscriber(environment, filters)

      // The product of a page number and a limit may be too large to be a whole number, to us and to SQLite.
      const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER)
      const hasTotal = environment.assumptions['total-count'] === 'present'
      const total = hasTotal ? repository.countMessages(messages, filters) : undefined
      const head = (full: boolean) => {
        const hasMore = total === undefined ? full : offset + limit < total
        const totalCount = total === undefined ? '' : `"totalCount":${total},`
        return `{${totalCount}"hasMore":${hasMore},"pageSize":${limit},"page":${page},"data":[`
      }
      const found = repository.findPage(messages, filters, { limit, offset, total, head, tail: ']}' })
      const body = toResponse(found.body, environment)
      return found.count > 0 ? { body } : { body, reason: whyEmpty(environment, filters, query) }
    }
  }

  function rejectUnknownSubscriber(environment: Environment, { subscriberId }: MessageFilters): void {
    const { datasets, name, assumptions } = environment
    if (subscriberId === undefined || assumptions['unknown-subscriber-filter'] !== 'not-found') return
    if (repository.hasSubscriber(datasets.subscribers, subscriberId)) return
    const hint = subscriberHint(environment, subscriberId)
    throw new DomainError('not-found', `Subscriber not found for id ${subscriberId}`, {
      reason: `environment ${name} has no subscriber ${subscriberId} (assumption unknown-subscriber-filter)${hint}`
    })
  }

  /** Names the slip of who filters by the `_id` of a subscriber, or by a name with a typo; empty if it is none. */
  function subscriberHint({ datasets: { subscribers } }: Environment, subscriberId: string): string {
    const id = idIn(subscriberId)
    const owner = id && repository.findSubscriberId(subscribers, id)
    if (owner !== undefined) return `: that is the internal id of ${owner}; subscriberId is the external one`
    if (repository.hasSubscriber(subscribers, subscriberId)) return ''
    return didYouMean(subscriberId, repository.listSubscriberIds(subscribers))
  }

  /** Adds the filters one after the other, and names the one that excluded the last message. */
  function whyEmpty(environment: Environment, filters: MessageFilters, query: ListMessagesQuery): string {
    const { name, datasets } = environment
    const { page, limit } = query
    let applied: MessageFilters = {}
    let before = repository.countMessages(datasets.messages, applied)
    if (before === 0) return `environment ${name} has no messages`
    for (const [field, parameter] of FILTERS) {
      applied = { ...applied, [field]: filters[field] }
      const left = repository.countMessages(datasets.messages, applied)
      if (left === 0) {
        const hint =
          field === 'subscriberId'
            ? subscriberHint(environment, String(filters.subscriberId))
            : commaHint(parameter, query[parameter])
        return `${parameter} left 0 of ${before}${hint}`
      }
      before = left
    }
    return `page ${page} is past the end: at ${limit} a page the last is page ${Math.ceil(before / limit) - 1}, the first page 0`
  }
}

/** In the contract's order, with the names of the query parameters. */
const FILTERS = [
  ['channel', 'channel'],
  ['subscriberId', 'subscriberId'],
  ['transactionIds', 'transactionId'],
  ['context', 'contextKeys']
] as const

/** Names the slip of who gives a list as one value. */
function commaHint(parameter: string, value: unknown): string {
  const isList = Array.isArray(value) && value.some((each) => String(each).includes(','))
  return isList ? `: values are not split at commas; give ${parameter} once for each` : ''
}

function filtersOf({ channel, subscriberId, transactionId, contextKeys }: ListMessagesQuery): MessageFilters {
  const context = contextKeys && canonicalContext(contextKeys)
  return { channel, subscriberId, transactionIds: transactionId, context }
}

function toResponse(body: Buffer, { assumptions }: Environment): Buffer {
  if (!mayNeedVendorNames(body, assumptions)) return body
  const page = JSON.parse(body.toString())
  return Buffer.from(JSON.stringify({ ...page, data: page.data.map(withVendorNames) }))
}

/** Returns a message as the list of the environment shows it. */
export function toMessageResponse(message: MessageResponse, { assumptions }: Environment): MessageResponse {
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(structuredClone(message)) : message
}

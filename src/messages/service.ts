import type { Db } from '../db/open.js'
import { type Assumptions, mayNeedVendorNames, withVendorNames } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { parseId } from '../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../domain/suggestions.js'
import {
  type Environment,
  type EnvironmentService,
  withEnvironmentIds
} from '../environments/service.js'
import { type Condition, conditionsOf, type ListMessagesQuery } from './filters.js'
import { messageRepository } from './repository.js'
import { EMBEDDED_FIELDS, type MessageResponse } from './schemas.js'

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
      rejectUnknownSubscriber(environment, query)
      const conditions = conditionsOf(query)

      // The product of a page number and a limit may be too large to be a whole number, to us and to SQLite.
      const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER)
      const hasTotal = environment.assumptions['total-count'] === 'present'
      const total = hasTotal ? repository.countMessages(messages, conditions) : undefined
      const head = (full: boolean) => {
        const hasMore = total === undefined ? full : offset + limit < total
        const totalCount = total === undefined ? '' : `"totalCount":${total},`
        return `{${totalCount}"hasMore":${hasMore},"pageSize":${limit},"page":${page},"data":[`
      }
      const found = repository.findPage(messages, conditions, { limit, offset, head })
      const body = toResponse(withEnvironmentIds(environment, 'messages', found.body), environment)
      return found.count > 0 ? { body } : { body, reason: whyEmpty(environment, conditions, query) }
    }
  }

  function rejectUnknownSubscriber(
    environment: Environment,
    { subscriberId }: ListMessagesQuery
  ): void {
    const { datasets, name, assumptions } = environment
    if (subscriberId === undefined || assumptions['unknown-subscriber-filter'] !== 'not-found')
      return
    if (repository.hasSubscriber(datasets.subscribers, subscriberId)) return
    const hint = subscriberHint(environment, subscriberId)
    const reason = `environment ${name} has no subscriber ${subscriberId} (assumption unknown-subscriber-filter)${hint}`
    throw new DomainError('not-found', `Subscriber not found for id ${subscriberId}`, { reason })
  }

  /** Names the slip of who filters by the `_id` of a subscriber, or by an id that none has; empty if it is none. */
  function subscriberHint(
    { datasets: { subscribers } }: Environment,
    subscriberId: string,
    unknown = ''
  ): string {
    const id = parseId(subscriberId)
    const owner = id && repository.findSubscriberId(subscribers, id)
    if (owner !== undefined)
      return `: that is the internal id of ${owner}; subscriberId is the external one`
    if (repository.hasSubscriber(subscribers, subscriberId)) return ''
    return unknown + didYouMean(subscriberId, repository.listSubscriberIds(subscribers))
  }

  /** Adds the filters one after the other, and names the one that excluded the last message. */
  function whyEmpty(
    environment: Environment,
    conditions: readonly Condition[],
    query: ListMessagesQuery
  ): string {
    const { name, datasets } = environment
    const { page, limit } = query
    let before = repository.countMessages(datasets.messages, [])
    if (before === 0) return `environment ${name} has no messages`
    for (const [index, condition] of conditions.entries()) {
      const left = repository.countMessages(datasets.messages, conditions.slice(0, index + 1))
      if (left === 0)
        return `${condition.name} left 0 of ${before}${hintFor(environment, condition)}`
      before = left
    }
    return `page ${page} is past the end: at ${limit} a page the last is page ${Math.ceil(before / limit) - 1}, the first page 0`
  }

  /** Names the slip of who gives a list as one value, or what nothing has; empty if it is none. */
  function hintFor(environment: Environment, condition: Condition): string {
    const { datasets, organizationId } = environment
    const { name, sent } = condition
    const words = name === 'channel' ? [] : [sent].flat()
    // Only the filters before it left none.
    if (repository.countMessages(datasets.messages, [condition]) > 0) return ''
    if (name === 'subscriberId')
      return subscriberHint(environment, String(sent), ': no subscriber has this id')
    if (words.some((each) => each.includes(',')))
      return `: values are not split at commas; give ${name} once for each`
    if (name === 'transactionId') {
      const owner = repository.findTransaction(datasets.messages, organizationId, words)
      return owner === undefined ? '' : `: environment ${owner} of the same organization has it`
    }
    if (name !== 'contextKeys') return ''
    const sets = repository.listContexts(datasets.messages)
    const known = [...new Set(sets.flatMap((set): string[] => JSON.parse(set)))]
    const unknown = words.find((key) => !known.includes(key))
    // There may be more sets than those that were looked at.
    if (unknown === undefined || sets.length === MAX_CANDIDATES)
      return ': no message has exactly this set'
    return `: no message has ${unknown}${didYouMean(unknown, known)}`
  }
}

function toResponse(body: Buffer, { assumptions }: Environment): Buffer {
  const isWhole = assumptions['embedded-subscriber'] === 'whole'
  if (isWhole && !mayNeedVendorNames(body, assumptions)) return body
  const page: { data: MessageResponse[] } = JSON.parse(body.toString())
  return Buffer.from(
    JSON.stringify({ ...page, data: page.data.map((message) => shown(message, assumptions)) })
  )
}

/** Returns a message as the list of the environment shows it. */
export const toMessageResponse = (
  message: MessageResponse,
  { assumptions }: Environment
): MessageResponse => shown(structuredClone(message), assumptions)

/** Changes a message to what the assumptions say, and returns it. */
function shown(message: MessageResponse, assumptions: Assumptions): MessageResponse {
  const { subscriber } = message
  if (subscriber && assumptions['embedded-subscriber'] === 'ten-fields') {
    const fields = Object.entries(subscriber).filter(([name]) => EMBEDDED_FIELDS.includes(name))
    message.subscriber = Object.fromEntries(fields) as typeof subscriber
  }
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(message) : message
}

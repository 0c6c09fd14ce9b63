import type { Db } from '../db/open.js'
import { type Assumptions, mayNeedVendorNames, withVendorNames } from '../domain/assumptions.js'
import { DomainError } from '../domain/errors.js'
import { parseId } from '../domain/ids.js'
import {
  type Environment,
  type EnvironmentService,
  withEnvironmentIds
} from '../environments/service.js'
import { EmptyListExplainer } from './empty-list.js'
import { conditionsOf, type ListMessagesQuery } from './filters.js'
import { MessageRepository } from './repository.js'
import { EMBEDDED_FIELDS, type MessageResponse } from './schemas.js'
import type { FoundMessages } from './search.js'

export interface MessageList {
  /** The page as JSON in UTF-8. */
  body: Buffer
  /** Why the page is empty. Undefined if it contains messages. */
  reason?: string
}

export class MessageService {
  readonly #repository: MessageRepository
  readonly #explainer: EmptyListExplainer

  constructor({ db, environments }: { db: Db; environments: EnvironmentService }) {
    this.#repository = new MessageRepository(db)
    this.#explainer = new EmptyListExplainer(this.#repository)
    environments.subscribe({ onWrite: (dataset) => this.#repository.forgetTotals(dataset) })
  }

  /**
   * Returns a page of the environment's messages, newest first. If the assumption
   * `unknown-subscriber-filter` is `not-found`, throws `not-found` for a `subscriberId` that no
   * subscriber has.
   */
  list(environment: Environment, query: ListMessagesQuery): MessageList {
    this.#rejectUnknownSubscriber(environment, query)
    const { page, limit } = query
    const dataset = environment.datasets.messages
    const conditions = conditionsOf(query)
    // Limit the offset, because the product may be larger than any integer that SQLite accepts.
    const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER)
    const total =
      environment.assumptions['total-count'] === 'present'
        ? this.#repository.countMessages(dataset, conditions)
        : undefined
    const head = (isFull: boolean) => {
      const hasMore = total === undefined ? isFull : offset + limit < total
      const totalCount = total === undefined ? '' : `"totalCount":${total},`
      return `{${totalCount}"hasMore":${hasMore},"pageSize":${limit},"page":${page},"data":[`
    }
    const stored = this.#repository.findPage(dataset, conditions, { limit, offset, head })
    const document = withEnvironmentIds(environment, 'messages', stored.body)
    const body = toResponse(document, environment)
    if (stored.count > 0) return { body }
    return { body, reason: this.#explainer.explain(environment, conditions, query) }
  }

  /** Returns a page of the messages that match the filters and contain every word of `text`. */
  search(
    environment: Environment,
    { text = '', ...query }: ListMessagesQuery & { text?: string }
  ): FoundMessages {
    const { page, limit } = query
    const dataset = environment.datasets.messages
    const conditions = conditionsOf(query)
    const words = text.split(/\s+/).filter(Boolean)
    const offset = Math.min(page * limit, Number.MAX_SAFE_INTEGER)
    const documents = this.#repository.findDocuments(dataset, conditions, words, {
      // Read one message more than the page can hold, to find out whether there is a next page.
      limit: limit + 1,
      offset
    })
    const messages = documents.slice(0, limit).map((document) => toMessage(document, environment))
    const total = this.#repository.countMessages(dataset, conditions)
    const result: FoundMessages = { messages, hasMore: documents.length > limit }
    if (words.length === 0) result.totalCount = total
    if (messages.length > 0) return result
    const isWithoutWords = words.length === 0 || total === 0
    result.reason = isWithoutWords
      ? this.#explainer.explain(environment, conditions, query)
      : `none of ${total} messages contains ${words.map((word) => `"${word}"`).join(' and ')}`
    return result
  }

  /** Returns a message in the same form as `search`. Throws `not-found` if it doesn't exist. */
  get(environment: Environment, id: string): MessageResponse {
    const document = this.#repository.findDocument(environment.datasets.messages, parseId(id) ?? id)
    if (document !== undefined) return toMessage(document, environment)
    const reason =
      'this environment has no message with this _id; GET /_mock/messages lists its messages'
    throw new DomainError('not-found', `Message with id ${id} not found`, { reason })
  }

  #rejectUnknownSubscriber(environment: Environment, { subscriberId }: ListMessagesQuery): void {
    const { datasets, name, assumptions } = environment
    if (subscriberId === undefined) return
    if (assumptions['unknown-subscriber-filter'] !== 'not-found') return
    if (this.#repository.hasSubscriber(datasets.subscribers, subscriberId)) return
    const hint = this.#explainer.subscriberHint(environment, subscriberId)
    const reason =
      `environment ${name} has no subscriber ${subscriberId} ` +
      `(assumption unknown-subscriber-filter)${hint}`
    throw new DomainError('not-found', `Subscriber not found for id ${subscriberId}`, { reason })
  }
}

/** Applies the environment's assumptions to a page. Parses the page only if they may change it. */
function toResponse(body: Buffer, { assumptions }: Environment): Buffer {
  const hasExtras = assumptions['message-extras'] === 'present'
  const hasWholeSubscribers = assumptions['embedded-subscriber'] === 'whole'
  if (!hasExtras && hasWholeSubscribers && !mayNeedVendorNames(body, assumptions)) return body
  const page: { data: MessageResponse[] } = JSON.parse(body.toString())
  const data = page.data.map((message) => {
    const presented = present(message, assumptions)
    return hasExtras ? withExtras(presented) : presented
  })
  return Buffer.from(JSON.stringify({ ...page, data }))
}

/**
 * Parses a stored document, and converts it to the form that the environment's assumptions require.
 */
function toMessage(document: string, environment: Environment): MessageResponse {
  const json = withEnvironmentIds(environment, 'messages', document)
  return present(JSON.parse(json), environment.assumptions)
}

/** Returns the message with the additional fields that Novu sends but doesn't document. */
function withExtras(message: MessageResponse): object {
  const { _id, createdAt, deliveredAt = [], lastSeenDate = '', lastReadDate = '' } = message
  // All timestamps are in UTC and have the same format, so the latest one sorts last.
  const updatedAt = [createdAt, ...deliveredAt, lastSeenDate, lastReadDate].sort().at(-1)
  return { ...message, id: _id, updatedAt, __v: 0 }
}

/**
 * Returns a copy of a message as it appears in the environment's message list, but without the
 * fields that the assumption `message-extras` adds.
 */
export const toMessageResponse = (
  message: MessageResponse,
  { assumptions }: Environment
): MessageResponse => present(structuredClone(message), assumptions)

/** Applies the assumptions to the message in place, and returns it. */
function present(message: MessageResponse, assumptions: Assumptions): MessageResponse {
  const { subscriber } = message
  if (subscriber && assumptions['embedded-subscriber'] === 'ten-fields') {
    const fields = Object.entries(subscriber).filter(([name]) => EMBEDDED_FIELDS.includes(name))
    message.subscriber = Object.fromEntries(fields) as typeof subscriber
  }
  return assumptions['vendor-names'] === 'vendor' ? withVendorNames(message) : message
}

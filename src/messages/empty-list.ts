import { parseId } from '../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../domain/suggestions.js'
import type { Environment } from '../environments/service.js'
import type { Condition, ListMessagesQuery } from './filters.js'
import type { MessageRepository } from './repository.js'

/**
 * Explains why a page of the message list is empty. The message list sends the explanation in the
 * header `x-mock-reason`. An explanation may end with a hint, which starts with `; `. Methods that
 * create hints return an empty string if they have none.
 */
export class EmptyListExplainer {
  readonly #repository: MessageRepository

  constructor(repository: MessageRepository) {
    this.#repository = repository
  }

  /**
   * Applies the filters one by one, and names the first filter that leaves no messages. If messages
   * match all filters, the page is past the end, and the explanation names the last page.
   */
  explain(
    environment: Environment,
    conditions: readonly Condition[],
    { page, limit }: ListMessagesQuery
  ): string {
    const { name, datasets } = environment
    let matches = this.#repository.countMessages(datasets.messages, [])
    if (matches === 0) return `environment ${name} has no messages`
    for (const [index, condition] of conditions.entries()) {
      const applied = conditions.slice(0, index + 1)
      const remaining = this.#repository.countMessages(datasets.messages, applied)
      if (remaining === 0) {
        const before = index === 0 ? 'are in the environment' : 'matched the filters before it'
        const hint = this.#filterHint(environment, condition)
        return `no message matches ${condition.name} (${matches} ${before})${hint}`
      }
      matches = remaining
    }
    const lastPage = Math.ceil(matches / limit) - 1
    return `page ${page} is past the end; the last page with limit ${limit} is page ${lastPage}`
  }

  /**
   * Returns a hint if the unknown `subscriberId` is the `_id` of a subscriber, or if it is similar
   * to a known `subscriberId`.
   */
  subscriberHint({ datasets }: Environment, subscriberId: string): string {
    const dataset = datasets.subscribers
    const id = parseId(subscriberId)
    const owner = id && this.#repository.findSubscriberId(dataset, id)
    if (owner) return `; this is a subscriber's _id; use the subscriberId ${owner} instead`
    return didYouMean(subscriberId, this.#repository.listSubscriberIds(dataset))
  }

  /**
   * Returns a hint about what is probably wrong with the filter. Returns an empty string if the
   * filter alone would match messages.
   */
  #filterHint(environment: Environment, condition: Condition): string {
    const { datasets } = environment
    const { name, parameterValues } = condition
    if (this.#repository.countMessages(datasets.messages, [condition]) > 0) return ''
    if (name === 'channel') return ''
    if (name === 'subscriberId') {
      const [subscriberId = ''] = parameterValues
      if (this.#repository.hasSubscriber(datasets.subscribers, subscriberId)) return ''
      const hint = this.subscriberHint(environment, subscriberId)
      return `; no subscriber has this subscriberId${hint}`
    }
    if (parameterValues.some((value) => value.includes(','))) {
      return `; values aren't split at commas, so repeat ${name} for each value`
    }
    return name === 'transactionId'
      ? this.#transactionHint(environment, parameterValues)
      : this.#contextHint(environment, parameterValues)
  }

  #transactionHint({ datasets, organizationId }: Environment, ids: readonly string[]): string {
    const owner = this.#repository.findTransactionOwner(datasets.messages, organizationId, ids)
    if (owner === undefined) return ''
    return `; environment ${owner} of the same organization has messages that match transactionId`
  }

  #contextHint({ datasets }: Environment, contextKeys: readonly string[]): string {
    const contexts = this.#repository.listContexts(datasets.messages)
    const keys = [...new Set(contexts.flatMap((context): string[] => JSON.parse(context)))]
    const unknownKey = contextKeys.find((key) => !keys.includes(key))
    // If the list of contexts was truncated, a context that isn't listed may contain the key.
    if (unknownKey === undefined || contexts.length === MAX_CANDIDATES) {
      return '; no message has exactly this set of contexts'
    }
    return `; no message has ${unknownKey}${didYouMean(unknownKey, keys)}`
  }
}

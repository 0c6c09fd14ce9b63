import { parseId } from '../domain/ids.js'
import { didYouMean, MAX_CANDIDATES } from '../domain/suggestions.js'
import type { Environment } from '../environments/service.js'
import type { Condition, ListMessagesQuery } from './filters.js'
import type { MessageRepository } from './repository.js'

/**
 * Explains for the header `x-mock-reason` why a page of the list is empty. Hints start with `; ` or
 * are empty.
 */
export class EmptyListExplainer {
  readonly #repository: MessageRepository

  constructor(repository: MessageRepository) {
    this.#repository = repository
  }

  /** Applies one filter after another, and names the one after which no message was left. */
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
   * Returns a hint for a `subscriberId` that no subscriber has: it is an `_id`, or similar to a
   * known one.
   */
  subscriberHint({ datasets }: Environment, subscriberId: string): string {
    const dataset = datasets.subscribers
    const id = parseId(subscriberId)
    const owner = id && this.#repository.findSubscriberId(dataset, id)
    if (owner) return `; it is the _id of subscriber ${owner}, filter by the subscriberId instead`
    return didYouMean(subscriberId, this.#repository.listSubscriberIds(dataset))
  }

  /**
   * Returns what is probably wrong with a filter. It is empty if the filter matches messages on its
   * own.
   */
  #filterHint(environment: Environment, condition: Condition): string {
    const { datasets } = environment
    const { name, parameterValues } = condition
    if (this.#repository.countMessages(datasets.messages, [condition]) > 0) return ''
    if (name === 'channel') return ''
    if (name === 'subscriberId') {
      const [subscriberId = ''] = parameterValues
      if (this.#repository.hasSubscriber(datasets.subscribers, subscriberId)) return ''
      return `; no subscriber has this id${this.subscriberHint(environment, subscriberId)}`
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
    return owner === undefined ? '' : `; environment ${owner} of the same organization has it`
  }

  #contextHint({ datasets }: Environment, contextKeys: readonly string[]): string {
    const contexts = this.#repository.listContexts(datasets.messages)
    const keys = [...new Set(contexts.flatMap((context): string[] => JSON.parse(context)))]
    const unknownKey = contextKeys.find((key) => !keys.includes(key))
    // If the list of contexts was cut off, a message may still have the key.
    if (unknownKey === undefined || contexts.length === MAX_CANDIDATES) {
      return '; no message has exactly this set of contexts'
    }
    return `; no message has ${unknownKey}${didYouMean(unknownKey, keys)}`
  }
}

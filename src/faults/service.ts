import { DomainError } from '../domain/errors.js'
import type { Random } from '../domain/random.js'
import type { Environment } from '../environments/service.js'
import type { JournalEntry } from '../journal/entry.js'
import { matches } from '../journal/patterns.js'
import type { FaultRule, NewFaultRule } from './schemas.js'

interface EnvironmentRules {
  rules: FaultRule[]
  /**
   * How many rules have been added, including removed ones. The id of a new rule contains this
   * number.
   */
  addedCount: number
}

/** Keeps the fault rules of each environment, in memory only. */
export class FaultService {
  /** Whether requests may choose a fault with `x-mock-fault`. */
  readonly acceptsHeader: boolean
  readonly #environments = new WeakMap<Environment, EnvironmentRules>()

  constructor({ acceptsHeader }: { acceptsHeader: boolean }) {
    this.acceptsHeader = acceptsHeader
  }

  list(environment: Environment): readonly FaultRule[] {
    return this.#environments.get(environment)?.rules ?? []
  }

  /** Appends a rule, which must have passed `checkRules`. */
  add(environment: Environment, newRule: NewFaultRule): FaultRule {
    const stored = this.#environments.get(environment) ?? { rules: [], addedCount: 0 }
    this.#environments.set(environment, stored)
    stored.addedCount += 1
    const rule: FaultRule = {
      id: `fault-${stored.addedCount}`,
      after: 0,
      times: 1,
      every: 1,
      probability: 1,
      ...newRule,
      seen: 0,
      hits: 0
    }
    stored.rules.push(rule)
    return rule
  }

  /** Throws `not-found` if the environment doesn't have the rule. */
  remove(environment: Environment, id: string): void {
    const { rules = [] } = this.#environments.get(environment) ?? {}
    const index = rules.findIndex((rule) => rule.id === id)
    if (index < 0) {
      const reason = `this environment has no rule ${id}; GET /_mock/faults lists its rules`
      throw new DomainError('not-found', `Fault with id ${id} not found`, { reason })
    }
    rules.splice(index, 1)
  }

  /** Removes all rules and restarts their numbering. */
  reset(environment: Environment): void {
    this.#environments.delete(environment)
  }

  /** Returns the first rule that applies to the request, and updates the counters of the rules. */
  apply(environment: Environment, request: JournalEntry): FaultRule | undefined {
    return this.list(environment).find((rule) => {
      const { operation, match } = rule
      if (!matches(request, { ...(operation && { operation }), ...match })) return false
      rule.seen += 1
      if (!applies(rule, environment.random)) return false
      rule.hits += 1
      return true
    })
  }
}

/** Returns whether a rule applies to a matching request. `seen` must already count the request. */
function applies(rule: FaultRule, random: Random): boolean {
  const { seen, hits, after, times, every, probability } = rule
  if (times !== 'always' && hits >= times) return false
  const index = seen - after
  if (index <= 0 || index % every !== 0) return false
  // Draw a number only if needed, so that rules with probability 1 don't change the random
  // sequence.
  return probability === 1 || random.next() < probability
}

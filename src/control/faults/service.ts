import { validateHeaderName, validateHeaderValue } from 'node:http'
import { DomainError, type FieldErrors, invalidFields, noFieldErrors } from '../../core/errors.js'
import type { Random } from '../../core/random.js'
import type { JournalEntry } from '../requests/entry.js'
import { preparePatterns } from '../requests/patterns.js'
import { matches } from '../requests/verification.js'
import { type FaultEffect, type FaultRule, MAX_RULES, type NewFaultRule } from './schemas.js'

export type FaultService = ReturnType<typeof faultService>

/**
 * The fault rules of each environment, in the order in which they were added. In memory only. `acceptsHeader` says
 * whether a request can ask for a fault by its header `x-mock-fault`.
 */
export function faultService(acceptsHeader: boolean) {
  const environments = new Map<number, { rules: FaultRule[]; count: number }>()
  const rulesOf = (key: number) => environments.get(key)?.rules ?? []

  return {
    acceptsHeader,

    list(environmentKey: number): FaultRule[] {
      return structuredClone(rulesOf(environmentKey))
    },

    /**
     * Prepares rules to be added. Rejects with `invalid` for effects that can not be combined, headers that can not be sent
     * and patterns that can not be matched. `field` is where the list of rules stands in the body; of one rule, left out.
     */
    async check(rules: readonly NewFaultRule[], field?: string): Promise<void> {
      const located = rules.map((rule, index) => [field === undefined ? '' : `${field}[${index}].`, rule] as const)
      await preparePatterns(located.map(([at, { match = {} }]) => [`${at}match.`, match]))
      const errors = noFieldErrors()
      for (const [at, { effect }] of located) addEffectErrors(errors, `${at}effect`, effect)
      if (Object.keys(errors).length > 0) throw invalidFields(errors)
    },

    /** Adds a last rule, which has been checked. Throws `bad-request` when there are as many as there may be. */
    add(environmentKey: number, newRule: NewFaultRule): FaultRule {
      const environment = environments.get(environmentKey) ?? { rules: [], count: 0 }
      if (environment.rules.length >= MAX_RULES) {
        throw new DomainError('bad-request', `There are ${MAX_RULES} fault rules already`, {
          reason: `an environment has at most ${MAX_RULES} rules: remove some by DELETE /_mock/faults`
        })
      }
      const id = `fault-${environment.count + 1}`
      const rule = { id, after: 0, times: 1, every: 1, probability: 1, ...newRule, seen: 0, hits: 0 }
      // Copied before it is stored: a rule that could not be copied could not be listed either.
      const added = structuredClone(rule)
      environment.count += 1
      environment.rules.push(rule)
      environments.set(environmentKey, environment)
      return added
    },

    /** Throws `not-found` for a rule that the environment does not have. */
    remove(environmentKey: number, id: string): void {
      const rules = rulesOf(environmentKey)
      const index = rules.findIndex((rule) => rule.id === id)
      if (index < 0) {
        throw new DomainError('not-found', `Fault with id ${id} not found`, {
          reason: `this environment has no rule ${id}: GET /_mock/faults lists those it has`
        })
      }
      rules.splice(index, 1)
    },

    /** Removes all rules; numbering starts again. */
    clear(environmentKey: number): void {
      environments.delete(environmentKey)
    },

    /** Whether the environment has a rule: most have none, so that most requests need not be described for `apply`. */
    hasRules: ({ key }: { key: number }): boolean => (environments.get(key)?.rules.length ?? 0) > 0,

    /** Returns the first rule that applies to the request, and updates the counters of the rules. */
    apply({ key, random }: { key: number; random: Random }, request: JournalEntry): FaultRule | undefined {
      return rulesOf(key).find((rule) => {
        const { operation, match } = rule
        if (!matches(request, { ...(operation && { operation }), ...match })) return false
        rule.seen += 1
        if (!applies(rule, random)) return false
        rule.hits += 1
        return true
      })
    }
  }
}

function applies({ seen, hits, after, times, every, probability }: FaultRule, random: Random): boolean {
  const index = seen - after
  if ((times !== 'always' && hits >= times) || index <= 0 || index % every !== 0) return false
  return probability === 1 || random.next() < probability
}

/** Returns a message for each contradiction within an effect. */
export function findEffectErrors({ status, headers, body, abort, lostAnswer }: FaultEffect): string[] {
  const outcomes = Object.entries({ status, abort, lostAnswer }).filter(([, value]) => value)
  const needsStatus = status === undefined && (headers !== undefined || body !== undefined)
  return [
    ...(outcomes.length > 1 ? [`effect can have only one of ${outcomes.map(([name]) => name).join(', ')}`] : []),
    ...(needsStatus ? ['effect must have status, as it has headers or body'] : [])
  ]
}

function addEffectErrors(errors: FieldErrors, at: string, effect: FaultEffect): void {
  for (const [name, value] of Object.entries(effect.headers ?? {})) {
    const field = `${at}.headers.${name}`
    const problem = findHeaderProblem(name, value)
    if (problem) errors[field] = { messages: [`${field} ${problem}`], value }
  }
  const messages = findEffectErrors(effect)
  if (messages.length > 0) errors[at] = { messages: messages.map((message) => message.replace('effect', at)) }
}

/** Headers that frame the response: with another value the client would wait for ever or misread the next response. */
const FRAMING_HEADERS = ['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']

function findHeaderProblem(name: string, value: string): string | undefined {
  if (FRAMING_HEADERS.includes(name.toLowerCase())) return 'can not be set: it belongs to the connection'
  // Fastify keeps headers in an object that has a prototype.
  if (name.toLowerCase() === '__proto__') return 'can not be sent as a header'
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return undefined
  } catch {
    return 'can not be sent as a header'
  }
}

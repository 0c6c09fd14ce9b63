import { validateHeaderName, validateHeaderValue } from 'node:http'
import { DomainError, type FieldErrors, invalidFields } from '../../core/errors.js'
import type { Random } from '../../core/random.js'
import type { RecordedRequest } from '../requests/schemas.js'
import { mismatches, patternComplaints } from '../requests/verification.js'
import type { Fault, FaultEffect, NewFault } from './schemas.js'

/** A fault that hits a request: the rule's id, or `header`, and what it does. */
export interface Hit {
  id: string
  effect: FaultEffect
}

/** The environment that rules are of. */
export interface FaultyEnvironment {
  key: number
  random: Random
}

export type FaultService = ReturnType<typeof faultService>

/** The rules of each environment, in the order they were made. Kept in memory only. */
export function faultService() {
  const environments = new Map<number, { rules: Fault[]; made: number }>()

  return {
    list({ key }: Pick<FaultyEnvironment, 'key'>): Fault[] {
      return structuredClone(environments.get(key)?.rules ?? [])
    },

    /**
     * Adds a rule behind those there are. Refuses with `invalid` effects that can't go together, a regular expression
     * that is none, and headers that can't be sent.
     */
    add({ key }: Pick<FaultyEnvironment, 'key'>, fault: NewFault): Fault {
      refuseImpossible(fault)
      const of = environments.get(key) ?? { rules: [], made: 0 }
      environments.set(key, of)
      const rule: Fault = {
        id: `fault-${++of.made}`,
        after: 0,
        times: 1,
        every: 1,
        probability: 1,
        ...fault,
        seen: 0,
        hits: 0
      }
      of.rules.push(rule)
      return structuredClone(rule)
    },

    /** Refuses with `not-found` a rule that the environment does not have. */
    remove({ key }: Pick<FaultyEnvironment, 'key'>, id: string): void {
      const { rules = [] } = environments.get(key) ?? {}
      const place = rules.findIndex((rule) => rule.id === id)
      if (place < 0) {
        throw new DomainError('not-found', `Fault with id ${id} not found`, {
          reason: 'GET /_mock/faults lists the rules of this environment'
        })
      }
      rules.splice(place, 1)
    },

    /** Drops all rules; the next is the first again. */
    clear(environment: number): void {
      environments.delete(environment)
    },

    /** Whether the environment has any, so that a request need not be looked at for none. */
    any({ key }: Pick<FaultyEnvironment, 'key'>): boolean {
      return (environments.get(key)?.rules.length ?? 0) > 0
    },

    /** The first rule that hits this request, counting it for each rule that it matches up to there. */
    take(environment: FaultyEnvironment, request: RecordedRequest): Hit | undefined {
      for (const rule of environments.get(environment.key)?.rules ?? []) {
        const { operation, match } = rule
        if (mismatches(request, { ...(operation && { operation }), ...match }).length > 0) continue
        rule.seen += 1
        if (hits(rule, environment)) {
          rule.hits += 1
          return { id: rule.id, effect: rule.effect }
        }
      }
      return undefined
    }
  }
}

function hits({ seen, hits, after, times, every, probability }: Fault, { random }: FaultyEnvironment): boolean {
  if (times !== 'always' && hits >= times) return false
  const past = seen - after
  if (past <= 0 || past % every !== 0) return false
  return probability === 1 || random.next() < probability
}

/** Why the parts of an effect can't go together. */
export function effectComplaints({ status, headers, body, abort, lostAnswer }: FaultEffect): string[] {
  const ends = [
    ...(status === undefined ? [] : ['status']),
    ...(abort ? ['abort'] : []),
    ...(lostAnswer ? ['lostAnswer'] : [])
  ]
  return [
    ...(ends.length > 1 ? [`effect can have only one of ${ends.join(', ')}`] : []),
    ...(status === undefined && (headers || body !== undefined)
      ? ['effect must have status, as it has headers or body']
      : [])
  ]
}

function refuseImpossible({ effect, match }: NewFault): void {
  const errors: FieldErrors = {
    ...(match && patternComplaints(match, 'match.')),
    ...headerComplaints(effect.headers ?? {})
  }
  const messages = effectComplaints(effect)
  if (messages.length > 0) errors.effect = { messages }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/** Headers that say how the answer is sent: another value would leave the client waiting, or misread the next one. */
const FRAMING = ['connection', 'content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']

function headerComplaints(headers: Record<string, string>): FieldErrors {
  const errors: FieldErrors = {}
  for (const [name, value] of Object.entries(headers)) {
    const field = `effect.headers.${name}`
    if (FRAMING.includes(name.toLowerCase())) {
      errors[field] = { messages: [`${field} can not be set: it belongs to the connection`], value }
      continue
    }
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      errors[field] = { messages: [`${field} can not be sent as a header`], value }
    }
  }
  return errors
}

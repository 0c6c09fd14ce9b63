import { clearTimeout, setTimeout } from 'node:timers'
import { DomainError } from '../domain/errors.js'
import {
  drawLatency,
  type Latency,
  type LatencyPreset,
  type LatencySetting,
  resolveLatency
} from '../domain/latency.js'
import type { Random } from '../domain/random.js'
import type { Environment } from '../environments/service.js'
import type { JournalEntry } from '../journal/entry.js'
import { matches } from '../journal/verification.js'
import type { FaultRule, NewFaultRule } from './schemas.js'

export type FaultService = ReturnType<typeof faultService>
export type LatencyService = ReturnType<typeof latencyService>

/** The fault rules of each environment, in memory only; and whether a request can ask for a fault by `x-mock-fault`. */
export function faultService(acceptsHeader: boolean) {
  const environments = new WeakMap<Environment, { rules: FaultRule[]; count: number }>()
  const list = (environment: Environment): readonly FaultRule[] =>
    environments.get(environment)?.rules ?? []

  return {
    acceptsHeader,
    list,

    /** Adds a last rule, which `checkRules` has found nothing wrong with. */
    add(environment: Environment, newRule: NewFaultRule): FaultRule {
      const own = environments.get(environment) ?? { rules: [], count: 0 }
      environments.set(environment, own)
      const id = `fault-${++own.count}`
      const rule = {
        id,
        after: 0,
        times: 1,
        every: 1,
        probability: 1,
        ...newRule,
        seen: 0,
        hits: 0
      }
      own.rules.push(rule)
      return rule
    },

    /** Throws `not-found` for a rule that the environment does not have. */
    remove(environment: Environment, id: string): void {
      const { rules = [] } = environments.get(environment) ?? {}
      const index = rules.findIndex((rule) => rule.id === id)
      const reason = `this environment has no rule ${id}: GET /_mock/faults lists those it has`
      if (index < 0) throw new DomainError('not-found', `Fault with id ${id} not found`, { reason })
      rules.splice(index, 1)
    },

    /** Removes all rules; numbering starts again. */
    reset: (environment: Environment): void => void environments.delete(environment),

    /** Returns the first rule that applies to the request, and updates the counters of the rules. */
    apply: (environment: Environment, request: JournalEntry): FaultRule | undefined =>
      list(environment).find((rule) => {
        const { operation, match } = rule
        if (!matches(request, { ...(operation && { operation }), ...match })) return false
        rule.seen += 1
        if (!applies(rule, environment.random)) return false
        rule.hits += 1
        return true
      })
  }
}

function applies(
  { seen, hits, after, times, every, probability }: FaultRule,
  random: Random
): boolean {
  const index = seen - after
  if ((times !== 'always' && hits >= times) || index <= 0 || index % every !== 0) return false
  return probability === 1 || random.next() < probability
}

/** The latency of each environment, in memory only, and the server's for all that have none of their own. */
export function latencyService(wanted: LatencyPreset | LatencySetting) {
  const serversOwn = resolveLatency(wanted)
  /** That which a reset goes back to. */
  const initial = new WeakMap<Environment, Latency>()
  const present = new WeakMap<Environment, Latency>()
  /** What ends each wait. No signal, as test environments replace that global. */
  const waits = new Set<() => void>()
  let isClosed = false
  const get = (environment: Environment) =>
    present.get(environment) ?? initial.get(environment) ?? serversOwn

  return {
    get,
    set: (environment: Environment, latency: LatencySetting): void =>
      void present.set(environment, resolveLatency(latency)),

    /** Sets that which a reset goes back to. */
    setInitial: (environment: Environment, latency: LatencyPreset | LatencySetting): void =>
      void initial.set(environment, resolveLatency(latency)),

    reset: (environment: Environment): void => void present.delete(environment),

    /** Returns how long to delay a request, in milliseconds: once for each, and 0 from then on or without a valid key. */
    draw(request: {
      environment?: Environment | undefined
      journalEntry: JournalEntry | null
    }): number {
      const { environment, journalEntry } = request
      if (!environment || !journalEntry || journalEntry.delayed !== undefined) return 0
      const latency = get(environment)
      if (latency.delay === 0 && latency.spread === 0) return 0
      journalEntry.delayed = drawLatency(latency, environment.random)
      return journalEntry.delayed
    },

    /** Resolves after so many milliseconds, or as soon as the server closes: it waits for its requests. */
    wait: (milliseconds: number): Promise<void> =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          waits.delete(end)
          resolve()
        }
        const timer = setTimeout(end, isClosed ? 0 : milliseconds)
        waits.add(end)
      }),

    /** Ends all waits, and any that start later. */
    close(): void {
      isClosed = true
      for (const end of waits) end()
    }
  }
}

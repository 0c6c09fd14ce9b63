import type { FaultRule, Latency, LatencySetting, NewFaultRule } from '../../../client/index.js'
import { useSession } from '../../shell/session.js'
import { useAction } from '../actions.js'

/** The operations that a rule can apply to, by button name. */
export const OPERATIONS: Record<string, NewFaultRule['operation']> = {
  'Any request': undefined,
  'List messages': 'listMessages',
  'Set primary': 'setIntegrationAsPrimary',
  'Get step': 'retrieveWorkflowStep'
}

/** The effects of a rule, by button name. */
export const EFFECTS: Record<string, NewFaultRule['effect']> = {
  '500': { status: 500 },
  '503': { status: 503, headers: { 'retry-after': '1' } },
  '429': { status: 429 },
  Timeout: { delay: 60_000 },
  Reset: { abort: 'reset' },
  'Cut off': { abort: 'truncate' },
  'Lost response': { lostResponse: true }
}

/** How often a rule applies, by button name. */
export const TIMES: Record<string, FaultRule['times']> = { once: 1, twice: 2, always: 'always' }

/** The latency settings, by button name. */
export const LATENCIES: Record<string, LatencySetting> = {
  None: { preset: 'none' },
  Office: { preset: 'office' },
  Mobile: { preset: 'mobile' },
  Bad: { preset: 'bad' },
  '500 ms': { delay: 500, spread: 0 },
  '2 s': { delay: 2000, spread: 0 }
}

/** Returns the name of the button for a value, or the value as JSON if no button has it. */
export function nameOf(choices: Record<string, unknown>, value: unknown): string {
  const json = JSON.stringify(value)
  return Object.keys(choices).find((name) => JSON.stringify(choices[name]) === json) ?? json
}

/** Returns whether a rule has already applied as often as `times` allows. */
export const isUsedUp = ({ times, hits }: FaultRule) => times !== 'always' && hits >= times

/**
 * Describes a rule: the operation, the effect, any other conditions as JSON, and how often the rule
 * has applied so far.
 */
export function describeRule(rule: FaultRule): string {
  const { operation, effect, match, times, hits } = rule
  const conditions = JSON.stringify({
    match,
    after: rule.after || undefined,
    every: rule.every > 1 ? rule.every : undefined,
    probability: rule.probability < 1 ? rule.probability : undefined
  }).replace(/^{}$/, '')
  const noun = hits === 1 ? 'request' : 'requests'
  const count = `hit ${hits.toLocaleString()} ${noun}${isUsedUp(rule) ? ', used up' : ''}`
  const requests = nameOf(OPERATIONS, operation)
  const result = `${nameOf(EFFECTS, effect)}, ${nameOf(TIMES, times)}`
  return `${requests}: ${result} ${conditions} · ${count}`
}

/**
 * Returns a function that adds a rule for the given requests. `effect` and `times` are names of
 * buttons. `description` describes the requests in the toast.
 */
export function useAddFault() {
  const { env } = useSession()
  const runAction = useAction()
  return (
    requests: { operation: NewFaultRule['operation'] | undefined; match?: { path: string } },
    effect: string,
    times: string,
    description: string
  ) => {
    const rule = { ...requests, times: TIMES[times], effect: EFFECTS[effect] } as NewFaultRule
    return runAction(
      () => env.faults.add(rule),
      `${description}: ${effect}, ${times}`,
      ({ id }) => env.faults.remove(id)
    )
  }
}

/** Returns the setting that restores this latency. */
export const settingOf = ({ preset, delay, spread }: Latency): LatencySetting =>
  preset ? { preset } : { delay, spread }

/** Returns a function that sets the latency. `name` is a key of `LATENCIES`. */
export function useSetLatency() {
  const { env } = useSession()
  const runAction = useAction()
  return (name: string) => {
    const setLatency = async () => {
      const before = await env.latency.get()
      await env.latency.set(LATENCIES[name] ?? {})
      return before
    }
    return runAction(setLatency, `Latency: ${name}`, (before) => env.latency.set(settingOf(before)))
  }
}

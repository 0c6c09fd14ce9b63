import type { FaultEffect, FaultRule, LatencyPreset, NewFaultRule, Operation } from '../../../client/index.js'

export const OPERATIONS: readonly Operation[] = ['listMessages', 'setIntegrationAsPrimary', 'retrieveWorkflowStep']

/** A fault that one has with a click. */
export interface OneClick {
  name: string
  /** What the product meets. */
  hint: string
  effect: FaultEffect
}

export const ONE_CLICKS: readonly OneClick[] = [
  {
    name: '503 with Retry-After',
    hint: 'Out of service, to be tried again in a second',
    effect: { status: 503, headers: { 'retry-after': '1' } }
  },
  { name: '429', hint: 'Too many requests, with the headers of the rate limit', effect: { status: 429 } },
  { name: '3 s of delay', hint: 'Done as ever, but late', effect: { delay: 3000 } },
  { name: 'Connection reset', hint: 'Nothing is done, nothing is answered', effect: { abort: 'reset' } },
  { name: 'Cut-off answer', hint: 'Done, but half of the answer comes', effect: { abort: 'truncate' } },
  { name: 'Lost answer', hint: 'Done, but no answer comes: is it safe to try again?', effect: { lostAnswer: true } }
]

/** Which requests the next click is for, as the address says it. */
export interface Target {
  /** Any operation if undefined. */
  operation: Operation | undefined
  /** Until switched off, rather than once. */
  isAlways: boolean
}

export function targetOf(params: URLSearchParams): Target {
  const operation = OPERATIONS.find((name) => name === params.get('operation'))
  return { operation, isAlways: params.get('times') === 'always' }
}

export function ruleOf({ effect }: OneClick, { operation, isAlways }: Target): NewFaultRule {
  return { ...(operation && { operation }), ...(isAlways && { times: 'always' as const }), effect }
}

/** Returns the rule by which a fault is switched on already. */
export function switchedOn(rules: readonly FaultRule[], { effect }: OneClick, target: Target): FaultRule | undefined {
  if (!target.isAlways) return undefined
  return rules.find(
    ({ operation, match, times, after, every, probability, effect: other }) =>
      operation === target.operation &&
      times === 'always' &&
      !match &&
      after === 0 &&
      every === 1 &&
      probability === 1 &&
      JSON.stringify(other) === JSON.stringify(effect)
  )
}

interface Preset {
  name: LatencyPreset
  title: string
  hint: string
}

/** The figures are those of the server, which tells only those that it uses. */
export const PRESETS: readonly Preset[] = [
  { name: 'none', title: 'None', hint: 'As fast as the server is' },
  { name: 'office', title: 'Office', hint: 'A line to a region nearby: from 20 ms, on average 30 ms' },
  { name: 'mobile', title: 'Mobile', hint: 'A phone on 4G: from 80 ms, on average 150 ms' },
  { name: 'bad', title: 'Bad', hint: 'A phone on a train: from 400 ms, on average 1 s' }
]

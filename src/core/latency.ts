import type { Random } from './random.js'

export const LATENCY_PRESETS = ['none', 'office', 'mobile', 'bad'] as const
export type LatencyPreset = (typeof LATENCY_PRESETS)[number]

/** How much later answers come, in milliseconds: `delay` at least, and on average `spread` more. */
export interface Latency {
  /** Absent for figures of one's own. */
  preset?: LatencyPreset
  delay: number
  spread: number
}

/** A preset, or figures; without `spread`, each answer takes the same. */
export interface LatencySetting {
  preset?: LatencyPreset
  delay?: number
  spread?: number
}

/** Round trips over an office's line to a region nearby, a phone on 4G, and a phone on a train. */
const FIGURES: Record<LatencyPreset, { delay: number; spread: number }> = {
  none: { delay: 0, spread: 0 },
  office: { delay: 20, spread: 10 },
  mobile: { delay: 80, spread: 70 },
  bad: { delay: 400, spread: 600 }
}

/** How many times the spread comes on top of the delay at most. */
const MAX_TAIL = 10

export const MAX_LATENCY = 60_000

/** Returns the figures of a preset or a setting that `latencyIssue` finds nothing wrong with. */
export function latencyOf(wanted: LatencyPreset | LatencySetting): Latency {
  const { preset, delay = 0, spread = 0 } = typeof wanted === 'string' ? { preset: wanted } : wanted
  return preset === undefined ? { delay, spread } : { preset, ...FIGURES[preset] }
}

/** Returns what is wrong with a setting, whose fields may also be of wrong types; undefined if nothing is. */
export function latencyIssue(wanted: LatencyPreset | LatencySetting): string | undefined {
  if (typeof wanted !== 'string' && (typeof wanted !== 'object' || wanted === null)) {
    return `latency must be a preset (${LATENCY_PRESETS.join(', ')}), or an object with delay and spread`
  }
  const { preset, delay, spread, ...others } = typeof wanted === 'string' ? { preset: wanted } : wanted
  const [other] = Object.keys(others)
  if (other !== undefined) return `latency takes preset, or delay and spread, not ${other}`
  if (preset !== undefined) {
    if (!LATENCY_PRESETS.includes(preset))
      return `the preset must be one of ${LATENCY_PRESETS.join(', ')}, not ${preset}`
    const { delay: own, spread: ownSpread } = FIGURES[preset]
    // Equal ones do not contradict it: so what was answered can be sent back.
    const isSame = (delay ?? own) === own && (spread ?? ownSpread) === ownSpread
    return isSame ? undefined : 'latency can have only one of preset and figures of its own: leave out one of them'
  }
  if (delay === undefined) return 'latency needs a preset, or a delay in milliseconds'
  const isPossible = (value: number) => Number.isInteger(value) && value >= 0 && value <= MAX_LATENCY
  const wrong = [delay, spread ?? 0].find((value) => !isPossible(value))
  return wrong === undefined ? undefined : `latency must be whole milliseconds from 0 to ${MAX_LATENCY}, not ${wrong}`
}

/**
 * Returns the milliseconds of one answer: mostly little above the delay, and now and then several times the spread above
 * it, as of a network (exponential). Without a spread nothing is drawn.
 */
export function drawLatency({ delay, spread }: Latency, random: Random): number {
  if (spread === 0) return delay
  return delay + Math.round(spread * Math.min(MAX_TAIL, -Math.log(1 - random.next())))
}

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
export type LatencySetting = Partial<Latency>

/** Round trips over an office's line to a region nearby, a phone on 4G, and a phone on a train. */
const FIGURES: Record<LatencyPreset, Omit<Latency, 'preset'>> = {
  none: { delay: 0, spread: 0 },
  office: { delay: 20, spread: 10 },
  mobile: { delay: 80, spread: 70 },
  bad: { delay: 400, spread: 600 }
}

export const MAX_LATENCY = 60_000

/** Returns the figures of a preset or a setting that `findLatencyProblem` finds nothing wrong with. */
export function resolveLatency(wanted: LatencyPreset | LatencySetting): Latency {
  const { preset, delay = 0, spread = 0 } = typeof wanted === 'string' ? { preset: wanted } : wanted
  return preset === undefined ? { delay, spread } : { preset, ...FIGURES[preset] }
}

/** Returns what is wrong with a setting, whose fields may also be of wrong types; undefined if nothing is. */
export function findLatencyProblem(wanted: LatencyPreset | LatencySetting): string | undefined {
  const presets = LATENCY_PRESETS.join(', ')
  const setting = typeof wanted === 'string' ? { preset: wanted } : wanted
  if (typeof (setting ?? 0) !== 'object')
    return `latency must be a preset (${presets}), or an object with delay and spread`
  const { preset, delay, spread, ...others } = setting
  const [other] = Object.keys(others)
  if (other !== undefined) return `latency takes preset, or delay and spread, not ${other}`
  if (preset !== undefined) {
    if (!LATENCY_PRESETS.includes(preset))
      return `the preset must be one of ${presets}, not ${preset}`
    const own = FIGURES[preset]
    // Equal ones do not contradict it: so what was answered can be sent back.
    const isSame = (delay ?? own.delay) === own.delay && (spread ?? own.spread) === own.spread
    return isSame
      ? undefined
      : 'latency can have only one of preset and figures of its own: leave out one of them'
  }
  if (delay === undefined) return 'latency needs a preset, or a delay in milliseconds'
  const wrong = [delay, spread ?? 0].find(
    (each) => !Number.isInteger(each) || each < 0 || each > MAX_LATENCY
  )
  return wrong === undefined
    ? undefined
    : `latency must be whole milliseconds from 0 to ${MAX_LATENCY}, not ${wrong}`
}

/** Returns the milliseconds of one answer, with an exponential tail as of a network. Without a spread nothing is drawn. */
export function drawLatency({ delay, spread }: Latency, random: Random): number {
  return spread === 0
    ? delay
    : delay + Math.round(spread * Math.min(10, -Math.log(1 - random.next())))
}

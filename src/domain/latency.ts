import type { Random } from './random.js'

export const LATENCY_PRESETS = ['none', 'office', 'mobile', 'bad'] as const
export type LatencyPreset = (typeof LATENCY_PRESETS)[number]

/**
 * How long a response is delayed, in milliseconds: at least `delay`, and on average `delay` plus
 * `spread`.
 */
export interface Latency {
  /** The preset that contains `delay` and `spread`. Absent if they were set directly. */
  preset?: LatencyPreset
  delay: number
  spread: number
}

/**
 * Either only `preset`, or `delay` with an optional `spread`. Without `spread`, all delays are
 * equal.
 */
export type LatencySetting = Partial<Latency>

/**
 * Typical round trips: `office` to a nearby region, `mobile` from a phone on 4G, `bad` from a phone
 * on a train.
 */
const PRESET_VALUES: Record<LatencyPreset, { delay: number; spread: number }> = {
  none: { delay: 0, spread: 0 },
  office: { delay: 20, spread: 10 },
  mobile: { delay: 80, spread: 70 },
  bad: { delay: 400, spread: 600 }
}

export const MAX_LATENCY = 60_000

/** The longest possible delay is `delay` plus this many times `spread`. */
const MAX_SPREADS = 10

/** Returns the latency for a setting that `findLatencyProblem` accepts. */
export function resolveLatency(setting: LatencyPreset | LatencySetting): Latency {
  const { preset, delay = 0, spread = 0 } = toObject(setting)
  return preset === undefined ? { delay, spread } : { preset, ...PRESET_VALUES[preset] }
}

/**
 * Returns what is wrong with a setting, or undefined if it is valid. Accepts values of any type.
 */
export function findLatencyProblem(setting: LatencyPreset | LatencySetting): string | undefined {
  const presets = LATENCY_PRESETS.join(', ')
  const values = toObject(setting)
  if (typeof (values ?? 0) !== 'object') {
    return `latency must be a preset (${presets}), or an object with delay and spread`
  }
  const { preset, delay, spread, ...others } = values
  const [other] = Object.keys(others)
  if (other !== undefined) return `latency can have preset, or delay and spread, but not ${other}`
  if (preset !== undefined) return findPresetProblem(preset, values)
  if (delay === undefined) return 'latency needs a preset, or a delay in milliseconds'
  const invalid = [delay, spread ?? 0].find((milliseconds) => !isValidDelay(milliseconds))
  if (invalid === undefined) return undefined
  return `latency must be a whole number of milliseconds from 0 to ${MAX_LATENCY}, not ${invalid}`
}

function findPresetProblem(preset: LatencyPreset, setting: LatencySetting): string | undefined {
  if (!LATENCY_PRESETS.includes(preset)) {
    return `the preset must be one of ${LATENCY_PRESETS.join(', ')}, not ${preset}`
  }
  // Responses contain a preset's delay and spread, so accept them when a client sends them back.
  const values = PRESET_VALUES[preset]
  const isSameDelay = (setting.delay ?? values.delay) === values.delay
  const isSameSpread = (setting.spread ?? values.spread) === values.spread
  if (isSameDelay && isSameSpread) return undefined
  return 'latency can have either a preset or its own delay and spread, but not both'
}

function toObject(setting: LatencyPreset | LatencySetting): LatencySetting {
  return typeof setting === 'string' ? { preset: setting } : setting
}

function isValidDelay(milliseconds: number): boolean {
  return Number.isInteger(milliseconds) && milliseconds >= 0 && milliseconds <= MAX_LATENCY
}

/**
 * Returns a random delay in milliseconds: `delay` plus an exponentially distributed value, which is
 * typical of networks. Draws no random number if `spread` is 0.
 */
export function drawLatency({ delay, spread }: Latency, random: Random): number {
  if (spread === 0) return delay
  const spreads = Math.min(MAX_SPREADS, -Math.log(1 - random.next()))
  return delay + Math.round(spread * spreads)
}

import { type Static, Type } from '@sinclair/typebox'
import { LATENCY_PRESETS, MAX_LATENCY } from '../../core/latency.js'
import { namedEnum, namedObject, ref } from '../../core/typebox.js'

export const LatencyPreset = namedEnum('LatencyPreset', 'The figures of a network', LATENCY_PRESETS)
export type LatencyPreset = Static<typeof LatencyPreset>

const milliseconds = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_LATENCY, description })
const DELAY = 'Milliseconds that each answer takes at least'
const SPREAD = 'Milliseconds that it takes longer on average: mostly less, now and then several times as much'

export const LatencySetting = namedObject('LatencySetting', 'A preset, or figures of its own', {
  preset: Type.Optional(ref(LatencyPreset)),
  delay: Type.Optional(milliseconds(DELAY)),
  spread: Type.Optional(milliseconds(`${SPREAD}; default 0`))
})
export type LatencySetting = Static<typeof LatencySetting>

export const Latency = namedObject('Latency', 'How much later the answers to one environment come', {
  preset: Type.Optional(ref(LatencyPreset, 'Absent for figures of its own')),
  delay: milliseconds(DELAY),
  spread: milliseconds(SPREAD)
})
export type Latency = Static<typeof Latency>

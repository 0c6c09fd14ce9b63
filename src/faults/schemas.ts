import { type Static, Type } from '@sinclair/typebox'
import { LATENCY_PRESETS, MAX_LATENCY } from '../domain/latency.js'
import { OperationName, RequestPattern } from '../journal/schemas.js'
import {
  namedEnum,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../schema/typebox.js'

const { query, path, headers } = RequestPattern.properties

const ABORT =
  '`reset` closes the connection before the operation; `truncate` after half of its answer'

export const FaultEffect = strictObject(
  {
    status: Type.Optional(
      Type.Integer({ minimum: 400, maximum: 599, description: 'Answer with this status' })
    ),
    headers: Type.Optional(
      recordOf(Type.String(), 'With `status`: headers to add or to replace', 100)
    ),
    body: Type.Optional(
      Type.Unknown({ description: 'With `status`: sent as JSON in place of the usual error body' })
    ),
    delay: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds to wait first' })
    ),
    abort: Type.Optional(stringEnum(['reset', 'truncate'], { description: ABORT })),
    lostResponse: Type.Optional(
      Type.Literal(true, { description: 'Run the operation, then close the connection' })
    )
  },
  {
    $id: 'FaultEffect',
    minProperties: 1,
    description: '`delay` may be combined with any one of the others'
  }
)
export type FaultEffect = Static<typeof FaultEffect>

const TIMES = 'Apply at most this number of times; default 1'
const PROBABILITY = "By the environment's random generator; default 1"
/** Which of the requests that match a rule is applied to. */
const selection = {
  after: Type.Integer({ minimum: 0, description: 'Skip the first matching requests; default 0' }),
  times: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')], { description: TIMES }),
  every: Type.Integer({ minimum: 1, description: 'Apply to every nth of the others; default 1' }),
  probability: Type.Number({ exclusiveMinimum: 0, maximum: 1, description: PROBABILITY })
}

const RULE = 'When to inject a fault, and which; applied once unless `times` is given'
export const NewFaultRule = namedObject('NewFaultRule', RULE, {
  operation: Type.Optional(ref(OperationName, 'Any operation if left out')),
  match: Type.Optional(
    strictObject({ query, path, headers }, { description: 'Apply only to matching requests' })
  ),
  ...Type.Partial(Type.Object(selection)).properties,
  effect: ref(FaultEffect)
})
export type NewFaultRule = Static<typeof NewFaultRule>

/** How many rules an environment may have: each request is compared with all of them. */
export const MAX_RULES = 1000

export const FaultRule = namedObject('FaultRule', 'A fault rule and its counters', {
  id: Type.String({ description: 'Identifier of the rule' }),
  ...NewFaultRule.properties,
  ...selection,
  seen: Type.Integer({ description: 'Number of requests that matched' }),
  hits: Type.Integer({ description: 'Number of requests that the fault was injected into' })
})
export type FaultRule = Static<typeof FaultRule>

export const LatencyPreset = namedEnum('LatencyPreset', 'The figures of a network', LATENCY_PRESETS)
export type LatencyPreset = Static<typeof LatencyPreset>

const milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MAX_LATENCY, description })
const SPREAD =
  'Milliseconds more on average: mostly less, now and then several times as much; default 0'

export const Latency = namedObject(
  'Latency',
  'How much later the answers to one environment come',
  {
    preset: Type.Optional(ref(LatencyPreset, 'Absent for figures of its own')),
    delay: milliseconds('Milliseconds that each answer takes at least'),
    spread: milliseconds(SPREAD)
  }
)
export type Latency = Static<typeof Latency>

const figures = Type.Partial(Latency).properties
export const LatencySetting = namedObject(
  'LatencySetting',
  'A preset, or figures of its own',
  figures
)
export type LatencySetting = Static<typeof LatencySetting>

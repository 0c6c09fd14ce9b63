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

const { method, query, path, headers } = RequestPattern.properties

const ABORT =
  '`reset` closes the connection before the operation runs; `truncate` closes it after sending ' +
  'half of the response'

export const FaultEffect = strictObject(
  {
    status: Type.Optional(
      Type.Integer({ minimum: 400, maximum: 599, description: 'Respond with this status' })
    ),
    headers: Type.Optional(
      recordOf(Type.String(), 'With `status`: headers to add or replace', 100)
    ),
    body: Type.Optional(
      Type.Unknown({
        description: 'With `status`: the body, sent as JSON instead of the usual error body'
      })
    ),
    delay: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600_000,
        description: 'Milliseconds to wait before the operation runs'
      })
    ),
    abort: Type.Optional(stringEnum(['reset', 'truncate'], { description: ABORT })),
    lostResponse: Type.Optional(
      Type.Literal(true, {
        description: 'Run the operation, then close the connection without a response'
      })
    )
  },
  {
    $id: 'FaultEffect',
    minProperties: 1,
    description:
      'At most one of `status`, `abort` and `lostResponse`; `delay` can be combined with any of ' +
      'them'
  }
)
export type FaultEffect = Static<typeof FaultEffect>

const TIMES = 'Maximum number of times to apply the rule, or `always`; default 1'
const PROBABILITY =
  'Probability that the rule applies to a request that `after` and `every` select; default 1. ' +
  "The environment's random seed determines which requests are hit"
/** These fields decide which of the matching requests the rule applies to. */
const selection = {
  after: Type.Integer({
    minimum: 0,
    description: 'Skip this many matching requests first; default 0'
  }),
  times: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')], { description: TIMES }),
  every: Type.Integer({
    minimum: 1,
    description: 'Apply to every nth matching request after the skipped ones; default 1'
  }),
  probability: Type.Number({ exclusiveMinimum: 0, maximum: 1, description: PROBABILITY })
}

const RULE =
  'A fault and the requests to inject it into. The rule applies once, unless `times` is set'
export const NewFaultRule = namedObject('NewFaultRule', RULE, {
  operation: Type.Optional(ref(OperationName, 'Any operation by default')),
  match: Type.Optional(
    strictObject(
      { method, query, path, headers },
      { description: 'Applies only to matching requests' }
    )
  ),
  ...Type.Partial(Type.Object(selection)).properties,
  effect: ref(FaultEffect)
})
export type NewFaultRule = Static<typeof NewFaultRule>

/**
 * The maximum number of rules in an environment. It is limited because each request is compared
 * with every rule.
 */
export const MAX_RULES = 1000

export const FaultRule = namedObject('FaultRule', 'A fault rule and its counters', {
  id: Type.String({ description: 'The id of the rule' }),
  ...NewFaultRule.properties,
  ...selection,
  seen: Type.Integer({ description: 'Number of requests that matched `operation` and `match`' }),
  hits: Type.Integer({ description: 'Number of requests that the fault was injected into' })
})
export type FaultRule = Static<typeof FaultRule>

export const LatencyPreset = namedEnum(
  'LatencyPreset',
  'The typical latency of a kind of network',
  LATENCY_PRESETS
)
export type LatencyPreset = Static<typeof LatencyPreset>

const milliseconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MAX_LATENCY, description })
const SPREAD =
  'Mean of an additional random delay in milliseconds, drawn for each response from an ' +
  'exponential distribution; default 0'

export const Latency = namedObject('Latency', 'The delay of all responses of an environment', {
  preset: Type.Optional(ref(LatencyPreset, 'Absent if delay and spread were set without a preset')),
  delay: milliseconds('Minimum delay of each response in milliseconds'),
  spread: milliseconds(SPREAD)
})
export type Latency = Static<typeof Latency>

export const LatencySetting = namedObject(
  'LatencySetting',
  'A preset, or a delay and a spread',
  Type.Partial(Latency).properties
)
export type LatencySetting = Static<typeof LatencySetting>

import { type Static, Type } from '@sinclair/typebox'
import { namedObject, recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { OperationName, RequestPattern } from '../requests/schemas.js'

const { query, path, headers } = RequestPattern.properties

/** More than any answer has, and few enough to look at each. */
const MAX_HEADERS = 100

export const FaultEffect = strictObject(
  {
    status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599, description: 'Answer with this status' })),
    headers: Type.Optional(recordOf(Type.String(), 'With `status`: headers to add or to replace', MAX_HEADERS)),
    body: Type.Optional(Type.Unknown({ description: 'With `status`: sent as JSON in place of the usual error body' })),
    delay: Type.Optional(Type.Integer({ minimum: 1, maximum: 600_000, description: 'Milliseconds to wait first' })),
    abort: Type.Optional(
      stringEnum(['reset', 'truncate'], {
        description: '`reset` closes the connection before the operation; `truncate` after half of its answer'
      })
    ),
    lostAnswer: Type.Optional(Type.Literal(true, { description: 'Run the operation, then close the connection' }))
  },
  { $id: 'FaultEffect', minProperties: 1, description: '`delay` may be combined with any one of the others' }
)
export type FaultEffect = Static<typeof FaultEffect>

const times = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')], { description })
const Probability = { exclusiveMinimum: 0, maximum: 1, description: "By the environment's random generator; default 1" }

export const NewFaultRule = namedObject(
  'NewFaultRule',
  'When to inject a fault, and which; applied once unless `times` is given',
  {
    operation: Type.Optional(ref(OperationName, 'Any operation if left out')),
    match: Type.Optional(strictObject({ query, path, headers }, { description: 'Apply only to matching requests' })),
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Skip the first matching requests; default 0' })),
    times: Type.Optional(times('Apply at most this number of times; default 1')),
    every: Type.Optional(Type.Integer({ minimum: 1, description: 'Apply to every nth of the others; default 1' })),
    probability: Type.Optional(Type.Number(Probability)),
    effect: ref(FaultEffect)
  }
)
export type NewFaultRule = Static<typeof NewFaultRule>

/** How many rules an environment may have: each request is compared with all of them. */
export const MAX_RULES = 1000

export const FaultRule = namedObject('FaultRule', 'A fault rule and its counters', {
  id: Type.String({ description: 'Identifier of the rule' }),
  ...NewFaultRule.properties,
  after: Type.Integer({ description: 'How many matching requests are skipped first' }),
  times: times('Applied at most this number of times'),
  every: Type.Integer({ description: 'Applied to every nth of the others' }),
  probability: Type.Number({ description: 'Probability of each application' }),
  seen: Type.Integer({ description: 'Number of requests that matched' }),
  hits: Type.Integer({ description: 'Number of requests that the fault was injected into' })
})
export type FaultRule = Static<typeof FaultRule>

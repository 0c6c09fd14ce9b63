import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../../core/enums.js'
import { recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { RequestPattern } from '../requests/schemas.js'

const { query, path, headers } = RequestPattern.properties

export const FaultEffect = strictObject(
  {
    status: Type.Optional(
      Type.Integer({
        minimum: 400,
        maximum: 599,
        description: "Refuse with this status and the service's own error body"
      })
    ),
    headers: Type.Optional(recordOf(Type.String(), 'With status: sent besides, or instead, of what the service sends')),
    body: Type.Optional(Type.Unknown({ description: 'With status: sent as JSON in place of the error body' })),
    delay: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 600_000, description: 'Wait so many milliseconds, before anything else' })
    ),
    abort: Type.Optional(
      stringEnum(['reset', 'truncate'], {
        description: 'reset: the connection dies and nothing is done; truncate: it is done, but half the body comes'
      })
    ),
    lostAnswer: Type.Optional(
      Type.Literal(true, { description: 'It is done, but the connection dies before the answer' })
    )
  },
  { $id: 'FaultEffect', minProperties: 1, description: 'What goes wrong; a delay goes with any of the others' }
)
export type FaultEffect = Static<typeof FaultEffect>

export const NewFault = strictObject(
  {
    operation: Type.Optional(stringEnum(OPERATION_IDS, { description: 'Any of them, if left out' })),
    match: Type.Optional(strictObject({ query, path, headers }, { description: 'Only requests that are like this' })),
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Let so many matching requests pass first; 0' })),
    times: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('always')], { description: 'Hit so many; 1' })
    ),
    every: Type.Optional(Type.Integer({ minimum: 1, description: 'Of those after, hit each so-manieth only; 1' })),
    probability: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1, description: "Hit by the environment's chance; 1" })
    ),
    effect: ref(FaultEffect)
  },
  { $id: 'NewFault', description: 'A rule of what shall go wrong; finite unless told otherwise' }
)
export type NewFault = Static<typeof NewFault>

export const Fault = strictObject(
  {
    id: Type.String(),
    ...NewFault.properties,
    after: Type.Integer(),
    times: Type.Union([Type.Integer(), Type.Literal('always')]),
    every: Type.Integer(),
    probability: Type.Number(),
    seen: Type.Integer({ description: 'Requests that matched' }),
    hits: Type.Integer({ description: 'Requests that it hit' })
  },
  { $id: 'Fault', description: 'A rule, and what it has done so far' }
)
export type Fault = Static<typeof Fault>

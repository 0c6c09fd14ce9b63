import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../../core/enums.js'
import { recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'

const Values = Type.Union([Type.String(), Type.Array(Type.String())], { description: 'A list when it came repeated' })

export const RecordedRequest = strictObject(
  {
    n: Type.Integer({ minimum: 1, description: 'Number of the request in its journal, from 1' }),
    time: Type.String({ description: "When it came, by the environment's clock" }),
    operation: Type.Optional(stringEnum(OPERATION_IDS, { description: 'Absent: no operation of the service' })),
    method: Type.String(),
    path: Type.String({ description: 'Without the query string' }),
    query: recordOf(Values, 'As it came, decoded'),
    headers: recordOf(Values, 'In lower case; what is secret is replaced by ***'),
    body: Type.Optional(
      Type.String({ description: 'Absent when there was none, or it was not read; in base64 when it is not text' })
    ),
    bodyLength: Type.Optional(Type.Integer({ description: 'Bytes of a body of which only the beginning is kept' })),
    status: Type.Optional(Type.Integer({ description: 'Absent until it is answered, and when it never was' })),
    size: Type.Optional(Type.Integer({ minimum: 0, description: "Bytes of the answer's body" })),
    duration: Type.Optional(Type.Number({ minimum: 0, description: 'Milliseconds from its coming to its end' })),
    reason: Type.Optional(Type.String({ description: 'The x-mock-reason of the answer' })),
    marks: strictObject({
      replayed: Type.Optional(Type.Boolean({ description: 'The answer was a stored one' })),
      faulted: Type.Optional(Type.String({ description: 'The fault rule that hit it, or `header`' })),
      unserved: Type.Optional(Type.Boolean({ description: 'No route serves it' }))
    }),
    unread: strictObject(
      {
        query: Type.Array(Type.String()),
        headers: Type.Array(Type.String())
      },
      { description: 'Names of what the client sent that the server does not read' }
    )
  },
  { $id: 'RecordedRequest', description: 'A request of the service, and what it was answered' }
)
export type RecordedRequest = Static<typeof RecordedRequest>

const Pattern = strictObject(
  { matches: Type.String({ description: 'A regular expression; it may match anywhere in the value' }) },
  { description: 'Any value that the pattern matches' }
)
const Wanted = Type.Union([Type.String(), Pattern, Type.Array(Type.String(), { minItems: 1 })])

/** What a request has to be like. What is not named may be anything. */
export const RequestPattern = strictObject(
  {
    operation: Type.Optional(stringEnum(OPERATION_IDS)),
    method: Type.Optional(Type.String()),
    path: Type.Optional(Type.Union([Type.String(), Pattern], { description: 'Without the query string' })),
    query: Type.Optional(recordOf(Wanted, 'Each parameter named must be there; a list is a set of repeated values')),
    headers: Type.Optional(recordOf(Wanted, 'Names in any case')),
    body: Type.Optional(Type.Union([Type.String(), Pattern])),
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 }))
  },
  { $id: 'RequestPattern', description: 'What a request has to be like' }
)
export type RequestPattern = Static<typeof RequestPattern>

export const Verification = strictObject(
  {
    ...RequestPattern.properties,
    count: Type.Optional(Type.Integer({ minimum: 0, description: 'Exactly so many' })),
    atLeast: Type.Optional(Type.Integer({ minimum: 1, description: 'Said of nothing else, 1' })),
    atMost: Type.Optional(Type.Integer({ minimum: 0 })),
    never: Type.Optional(Type.Literal(true, { description: 'The same as count 0' })),
    inOrder: Type.Optional(
      Type.Array(ref(RequestPattern), {
        minItems: 1,
        description: 'These, one after the other, with others between them or not'
      })
    ),
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Only requests with a greater n' })),
    within: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        description: 'Milliseconds to wait until it holds, or can no longer; never and atMost wait to the end'
      })
    )
  },
  { $id: 'Verification', description: 'What the journal is asked for' }
)
export type Verification = Static<typeof Verification>

export const Mismatch = strictObject({
  field: Type.String({ description: 'Such as query.channel' }),
  expected: Type.Unknown(),
  actual: Type.Optional(Type.Unknown({ description: 'Absent: it was not there' }))
})
export type Mismatch = Static<typeof Mismatch>

export const NearMiss = strictObject(
  { request: ref(RecordedRequest), differs: Type.Array(Mismatch) },
  { description: 'A request that came close: in `ctx.nearest` of a verification that does not hold' }
)
export type NearMiss = Static<typeof NearMiss>

export const VerificationHolds = strictObject(
  {
    matched: Type.Integer(),
    requests: Type.Array(Type.Integer({ description: 'n of each that matched' })),
    lost: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Requests that were pushed out of the journal, and not looked at' })
    )
  },
  { $id: 'VerificationHolds', description: 'It holds, and these requests are why' }
)
export type VerificationHolds = Static<typeof VerificationHolds>

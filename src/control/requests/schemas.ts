import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../../core/enums.js'
import { recordOf, ref, strictObject, stringEnum } from '../../core/typebox.js'

const Values = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'A list when the name is repeated'
})

export const RecordedRequest = strictObject(
  {
    sequence: Type.Integer({ minimum: 1, description: 'Number of the request in its journal, from 1' }),
    time: Type.String({ description: "When it arrived, by the environment's clock" }),
    operation: Type.Optional(
      stringEnum(OPERATION_IDS, { description: 'Absent when the request is for no operation of the service' })
    ),
    method: Type.String(),
    path: Type.String({ description: 'Without the query string' }),
    query: recordOf(Values, 'Query parameters, decoded'),
    headers: recordOf(Values, 'Names in lower case; secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({ description: 'Absent when the body is empty or was not read; in base64 when it is not text' })
    ),
    bodyLength: Type.Optional(
      Type.Integer({ description: 'Length of the body in bytes, when only its beginning is kept' })
    ),
    status: Type.Optional(Type.Integer({ description: 'Absent until the request is answered' })),
    size: Type.Optional(Type.Integer({ minimum: 0, description: 'Bytes of the response body' })),
    duration: Type.Optional(
      Type.Number({ minimum: 0, description: 'Milliseconds from the arrival of the request to its end' })
    ),
    reason: Type.Optional(Type.String({ description: 'The x-mock-reason header of the response' })),
    flags: strictObject({
      replayed: Type.Optional(Type.Boolean({ description: 'The response was stored for this idempotency key' })),
      faulted: Type.Optional(
        Type.String({ description: 'Id of the fault rule that was applied, or `header` for the x-mock-fault header' })
      ),
      unserved: Type.Optional(Type.Boolean({ description: 'No route matches the method and path' }))
    }),
    unread: strictObject(
      {
        query: Type.Array(Type.String()),
        headers: Type.Array(Type.String())
      },
      { description: 'Names of parameters and headers that the server does not read' }
    )
  },
  { $id: 'RecordedRequest', description: 'A request to the service and its outcome' }
)
export type RecordedRequest = Static<typeof RecordedRequest>

const Pattern = strictObject(
  { matches: Type.String({ description: 'A regular expression that may match anywhere in the value' }) },
  { description: 'Any value that matches the regular expression' }
)
const Expected = Type.Union([Type.String(), Pattern, Type.Array(Type.String(), { minItems: 1 })])

export const RequestPattern = strictObject(
  {
    operation: Type.Optional(stringEnum(OPERATION_IDS)),
    method: Type.Optional(Type.String()),
    path: Type.Optional(Type.Union([Type.String(), Pattern], { description: 'Without the query string' })),
    query: Type.Optional(
      recordOf(Expected, 'Parameters that must be present; a list is compared as a set with a repeated parameter')
    ),
    headers: Type.Optional(recordOf(Expected, 'Headers that must be present; names in any case')),
    body: Type.Optional(Type.Union([Type.String(), Pattern])),
    status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 }))
  },
  { $id: 'RequestPattern', description: 'Matches requests that have all of these properties' }
)
export type RequestPattern = Static<typeof RequestPattern>

export const Verification = strictObject(
  {
    ...RequestPattern.properties,
    count: Type.Optional(Type.Integer({ minimum: 0, description: 'Exact number of matching requests' })),
    atLeast: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Smallest number of matching requests; 1 when no number is given' })
    ),
    atMost: Type.Optional(Type.Integer({ minimum: 0, description: 'Largest number of matching requests' })),
    never: Type.Optional(Type.Literal(true, { description: 'No request may match; the same as `count: 0`' })),
    inOrder: Type.Optional(
      Type.Array(ref(RequestPattern), {
        minItems: 1,
        description: 'Patterns that requests must match in this order; other requests may come in between'
      })
    ),
    after: Type.Optional(Type.Integer({ minimum: 0, description: 'Only requests with a greater sequence' })),
    within: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 600_000,
        description:
          'Milliseconds to wait for the result to become final. `never` and `atMost` are final when the time is up'
      })
    )
  },
  { $id: 'Verification', description: 'What to expect of the recorded requests' }
)
export type Verification = Static<typeof Verification>

/** A field of a request that differs from what was expected; `actual` is absent when the request lacks the field. */
export interface Mismatch {
  field: string
  expected: unknown
  actual?: unknown
}

/** A request that matches in part; listed in `ctx.nearest` when a verification fails. */
export interface NearMiss {
  request: RecordedRequest
  differs: Mismatch[]
}

export const VerificationResult = strictObject(
  {
    matched: Type.Integer({ description: 'Number of matching requests' }),
    requests: Type.Array(Type.Integer({ description: 'Sequence of a matching request' })),
    lost: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Number of older requests that are no longer in the journal' })
    )
  },
  { $id: 'VerificationHolds', description: 'The verification succeeded' }
)

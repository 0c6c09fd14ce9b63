import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../domain/enums.js'
import { ChangedRecord } from '../schema/shared.js'
import { dateTime, namedEnum, namedObject, recordOf, ref, strictObject } from '../schema/typebox.js'

const Values = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'A list when a name is repeated'
})

const number = (minimum: number, description: string, options?: { maximum: number }) =>
  Type.Optional(Type.Integer({ minimum, description, ...options }))
const changes = (description: string) =>
  Type.Optional(Type.Array(ref(ChangedRecord), { description }))
const names = (description: string) => Type.Array(Type.String(), { description })

export const OperationName = namedEnum('Operation', 'An operation of the service', OPERATION_IDS)
export type OperationName = Static<typeof OperationName>

export const RecordedRequest = namedObject(
  'RecordedRequest',
  'A request to the service and its outcome',
  {
    sequence: Type.Integer({
      minimum: 1,
      format: 'int64',
      description: 'Number of the request in its journal, from 1'
    }),
    time: dateTime("When it arrived, by the environment's clock"),
    arrived: dateTime("The same by the machine's clock"),
    operation: Type.Optional(ref(OperationName, 'Absent when no operation serves the request')),
    method: Type.String({ description: 'HTTP method' }),
    path: Type.String({ description: 'Without the query string' }),
    query: recordOf(Values, 'Query parameters, decoded'),
    headers: recordOf(Values, 'Names in lower case; secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({ description: 'Absent when empty or not read; in base64 when it is not text' })
    ),
    bodyLength: Type.Optional(
      Type.Integer({ description: 'Bytes of the body, when only its beginning is kept' })
    ),
    status: Type.Optional(Type.Integer({ description: 'Absent until the request is answered' })),
    size: number(0, 'Bytes of the response body'),
    duration: Type.Optional(
      Type.Number({ minimum: 0, description: 'Milliseconds from its arrival to its end' })
    ),
    reason: Type.Optional(Type.String({ description: 'The x-mock-reason header of the response' })),
    hasMore: Type.Optional(
      Type.Literal(true, { description: 'Its answer says that there are more pages' })
    ),
    changed: changes('What its operation has changed, if anything'),
    flags: strictObject(
      {
        replayed: Type.Optional(
          Type.Boolean({ description: 'The response was stored for this idempotency key' })
        ),
        faulted: Type.Optional(
          Type.String({ description: 'Id of the fault rule, or `header` for x-mock-fault' })
        ),
        delayed: number(0, 'Milliseconds that the latency of the environment has delayed it'),
        unmocked: Type.Optional(
          Type.Boolean({ description: 'No route matches the method and path' })
        )
      },
      { description: 'What else is known of it' }
    ),
    unknown: strictObject(
      {
        query: names('Names of parameters'),
        headers: names('Names of headers'),
        suggestions: Type.Optional(
          recordOf(Type.String(), 'Names in `query`, each with the known name that is closest')
        )
      },
      { description: 'What the server does not read of it' }
    )
  }
)
export type RecordedRequest = Static<typeof RecordedRequest>

export const RecordedResponse = namedObject('RecordedResponse', 'What the client received', {
  status: Type.Integer({ description: 'HTTP status' }),
  headers: recordOf(Values, 'Names in lower case; secrets are replaced by ***'),
  body: Type.Optional(
    Type.String({ description: 'In base64 when it is not text; absent when empty or dropped' })
  ),
  truncated: Type.Optional(
    Type.Literal(true, { description: 'Only the first 16 KiB of the body are kept' })
  ),
  dropped: Type.Optional(
    Type.Literal(true, { description: 'The body was dropped for those of later answers' })
  )
})
export type RecordedResponse = Static<typeof RecordedResponse>

export const RecordedExchange = namedObject(
  'RecordedExchange',
  'A request to the service, with what it was answered',
  {
    ...RecordedRequest.properties,
    response: Type.Optional(ref(RecordedResponse, 'Absent when none was sent, or not yet'))
  }
)
export type RecordedExchange = Static<typeof RecordedExchange>

export const Change = namedObject(
  'Change',
  'What was done to an environment between the requests to it',
  {
    sequence: Type.Integer({
      minimum: 1,
      format: 'int64',
      description: 'Number in its environment, from 1'
    }),
    time: dateTime("When it was done, by the environment's clock as it is since"),
    after: Type.Integer({
      minimum: 0,
      format: 'int64',
      description: 'Sequence of the last request by then; 0 if none'
    }),
    operation: Type.Optional(
      Type.String({ description: 'Id of the control operation; absent if none was called' })
    ),
    summary: Type.String({ description: 'What was done, in words; for an operation its summary' }),
    target: Type.Optional(
      Type.String({ description: 'Id or name of the record, rule or snapshot that it was about' })
    ),
    changed: changes('What it has changed, as far as the call says')
  }
)
export type Change = Static<typeof Change>

const MATCHES =
  'May match anywhere in the value; without lookarounds and backreferences, as it takes linear time'
const Pattern = strictObject({
  matches: Type.String({ format: 'regex', maxLength: 200, description: MATCHES })
})
const text = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Pattern], { description }))
const Value = [Type.String(), Type.Number(), Type.Boolean()]
const TextOrSet = Type.Union([
  ...Value,
  Pattern,
  Type.Array(Type.Union(Value), { minItems: 1, maxItems: 100 })
])
/** Each request is compared with all of them. */
const texts = (description: string) => Type.Optional(recordOf(TextOrSet, description, 50))

export const RequestPattern = namedObject(
  'RequestPattern',
  'Matches requests that have all of these properties',
  {
    operation: Type.Optional(ref(OperationName)),
    method: Type.Optional(Type.String({ description: 'Method, in any case' })),
    path: text('Path without the query string, or a pattern for it'),
    query: texts(
      'Required parameters; numbers and booleans as their text, a list as a set with a repeated one'
    ),
    headers: texts('Required headers; names in any case, values as those of parameters'),
    body: text('Body as text, or a pattern for it'),
    status: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 599, description: 'Status of the response' })
    )
  }
)
export type RequestPattern = Static<typeof RequestPattern>

export const Verification = namedObject('Verification', 'What to expect of the recorded requests', {
  ...RequestPattern.properties,
  count: number(0, 'Exact number of matching requests'),
  atLeast: number(1, 'Smallest number of matching requests; 1 when no number is given'),
  atMost: number(0, 'Largest number of matching requests'),
  never: Type.Optional(
    Type.Literal(true, { description: 'No request may match; the same as `count: 0`' })
  ),
  inOrder: Type.Optional(
    Type.Array(ref(RequestPattern), {
      minItems: 1,
      maxItems: 100,
      description: 'Others may come in between'
    })
  ),
  after: number(0, 'Only requests with a greater sequence'),
  within: number(0, 'Milliseconds to wait; `never` and `atMost` alone wait to the end', {
    maximum: 600_000
  })
})
export type Verification = Static<typeof Verification>

export const VerificationResult = namedObject('VerificationResult', 'The verification succeeded', {
  matched: Type.Integer({ description: 'Number of matching requests' }),
  requests: Type.Array(Type.Integer({ format: 'int64' }), {
    description: 'Sequences of the matching requests'
  }),
  lost: number(1, 'Number of older requests that are no longer in the journal')
})
export type VerificationResult = Static<typeof VerificationResult>

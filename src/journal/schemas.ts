import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../domain/enums.js'
import { ChangedRecord } from '../schema/shared.js'
import { dateTime, namedEnum, namedObject, recordOf, ref, strictObject } from '../schema/typebox.js'

const Values = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'An array if the name is repeated'
})

const number = (minimum: number, description: string, options?: { maximum: number }) =>
  Type.Optional(Type.Integer({ minimum, description, ...options }))
const changes = (description: string) =>
  Type.Optional(Type.Array(ref(ChangedRecord), { description }))
const names = (description: string) => Type.Array(Type.String(), { description })

export const OperationName = namedEnum('Operation', 'One of the mocked operations', OPERATION_IDS)
export type OperationName = Static<typeof OperationName>

export const RecordedRequest = namedObject(
  'RecordedRequest',
  'A recorded request and its outcome',
  {
    sequence: Type.Integer({
      minimum: 1,
      format: 'int64',
      description: "The request's number in its journal, from 1"
    }),
    time: dateTime("When the request arrived, by the environment's clock"),
    arrived: dateTime("When the request arrived, by the machine's clock"),
    operation: Type.Optional(ref(OperationName, 'Absent if the request matches no operation')),
    method: Type.String({ description: 'HTTP method' }),
    path: Type.String({ description: 'Without the query string' }),
    query: recordOf(Values, 'Query parameters, decoded'),
    headers: recordOf(Values, 'Names in lower case; secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({ description: 'Absent if empty or not read; in base64 if it is not text' })
    ),
    bodyLength: Type.Optional(
      Type.Integer({
        description: 'The full length of the body in bytes, if only its start is kept'
      })
    ),
    status: Type.Optional(Type.Integer({ description: 'Absent until a response is sent' })),
    size: number(0, 'Bytes of the response body'),
    duration: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'Milliseconds from the arrival of the request to its end'
      })
    ),
    reason: Type.Optional(Type.String({ description: 'The x-mock-reason header of the response' })),
    hasMore: Type.Optional(
      Type.Literal(true, { description: 'Whether the response says that there are more pages' })
    ),
    changed: changes('The records that the operation changed'),
    flags: strictObject(
      {
        replayed: Type.Optional(
          Type.Boolean({ description: 'Whether the response was stored for this idempotency key' })
        ),
        faulted: Type.Optional(
          Type.String({ description: 'The id of the fault rule, or `header` for x-mock-fault' })
        ),
        delayed: number(0, "Milliseconds by which the environment's latency delayed the request"),
        unmocked: Type.Optional(
          Type.Boolean({ description: 'Whether no operation matches the method and path' })
        )
      },
      { description: 'How the request was processed' }
    ),
    unknown: strictObject(
      {
        query: names('Names of parameters'),
        headers: names('Names of headers'),
        suggestions: Type.Optional(
          recordOf(Type.String(), 'The closest known name of each unknown parameter that has one')
        )
      },
      { description: 'Parameters and headers that the server does not read' }
    )
  }
)
export type RecordedRequest = Static<typeof RecordedRequest>

export const RecordedResponse = namedObject(
  'RecordedResponse',
  'The response that the client received',
  {
    status: Type.Integer({ description: 'HTTP status' }),
    headers: recordOf(Values, 'Names in lower case; secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({ description: 'In base64 if it is not text; absent if empty or dropped' })
    ),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'Whether only the first 16 KiB of the body are kept' })
    ),
    dropped: Type.Optional(
      Type.Literal(true, {
        description: 'Whether the body was dropped to make room for later responses'
      })
    )
  }
)
export type RecordedResponse = Static<typeof RecordedResponse>

export const RecordedExchange = namedObject(
  'RecordedExchange',
  'A recorded request with its response',
  {
    ...RecordedRequest.properties,
    response: Type.Optional(ref(RecordedResponse, 'Absent if no response was sent, or not yet'))
  }
)
export type RecordedExchange = Static<typeof RecordedExchange>

export const Change = namedObject(
  'Change',
  'A change to an environment, made between the requests to it',
  {
    sequence: Type.Integer({
      minimum: 1,
      format: 'int64',
      description: "The change's number in its environment, from 1"
    }),
    time: dateTime("When the change was made, by the environment's clock after the change"),
    after: Type.Integer({
      minimum: 0,
      format: 'int64',
      description: 'The sequence of the last request before the change; 0 if there was none'
    }),
    operation: Type.Optional(
      Type.String({
        description: 'The id of the control operation; absent if the server made the change itself'
      })
    ),
    summary: Type.String({
      description: 'The change in words; the summary of the control operation if there was one'
    }),
    target: Type.Optional(
      Type.String({
        description: 'The id or name of the record, rule or snapshot that was changed'
      })
    ),
    changed: changes('What was changed, as far as the request and its response show')
  }
)
export type Change = Static<typeof Change>

const MATCHES =
  'Matches anywhere in the value. Lookarounds and backreferences are not supported, so that ' +
  'matching takes linear time'
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
const texts = (description: string) => Type.Optional(recordOf(TextOrSet, description, 50))

export const RequestPattern = namedObject(
  'RequestPattern',
  'Matches requests that have all these properties',
  {
    operation: Type.Optional(ref(OperationName)),
    method: Type.Optional(Type.String({ description: 'Method, in any case' })),
    path: text('Path without the query string, or a pattern for it'),
    query: texts(
      'Required parameters. Numbers and booleans match their text; an array matches a repeated ' +
        'parameter with the same values in any order'
    ),
    headers: texts('Required headers. Names match in any case, values as for parameters'),
    body: text('Body as text, or a pattern for it'),
    status: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 599, description: 'Status of the response' })
    )
  }
)
export type RequestPattern = Static<typeof RequestPattern>

export const Verification = namedObject(
  'Verification',
  'Expectations about the recorded requests',
  {
    ...RequestPattern.properties,
    count: number(0, 'Exact number of matching requests'),
    atLeast: number(1, 'Minimum number of matching requests; 1 if no number is given'),
    atMost: number(0, 'Maximum number of matching requests'),
    never: Type.Optional(
      Type.Literal(true, { description: 'Expects no matching request, like `count: 0`' })
    ),
    inOrder: Type.Optional(
      Type.Array(ref(RequestPattern), {
        minItems: 1,
        maxItems: 100,
        description: 'Patterns for requests in this order; other requests may come in between'
      })
    ),
    after: number(0, 'Only requests after this sequence'),
    within: number(
      0,
      'Milliseconds to wait for the requests. `never` and `atMost` alone always wait this long',
      {
        maximum: 600_000
      }
    )
  }
)
export type Verification = Static<typeof Verification>

export const VerificationResult = namedObject('VerificationResult', 'The verification succeeded', {
  matched: Type.Integer({ description: 'Number of matching requests' }),
  requests: Type.Array(Type.Integer({ format: 'int64' }), {
    description: 'The sequences of the matching requests'
  }),
  lost: number(1, 'Number of older requests that are no longer in the journal')
})
export type VerificationResult = Static<typeof VerificationResult>

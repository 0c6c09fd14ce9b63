import { type Static, Type } from '@sinclair/typebox'
import { OPERATION_IDS } from '../domain/enums.js'
import { ChangedRecord } from '../schema/shared.js'
import { dateTime, namedEnum, namedObject, recordOf, ref, strictObject } from '../schema/typebox.js'

const Values = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'The value, or an array of values if the name is repeated'
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
      description: 'Number of the request in its journal, starting at 1'
    }),
    time: dateTime("When the request arrived, by the environment's clock"),
    arrived: dateTime("When the request arrived, by the machine's clock"),
    operation: Type.Optional(
      ref(OperationName, 'The operation that the request matches. Absent if it matches none')
    ),
    method: Type.String({ description: 'HTTP method' }),
    path: Type.String({ description: 'Path without the query string' }),
    query: recordOf(Values, 'Decoded query parameters'),
    headers: recordOf(Values, 'Headers, with lower-case names. Secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({
        description:
          'The body as text, or in base64 if it is not UTF-8. Absent if it is empty or was not read'
      })
    ),
    bodyLength: Type.Optional(
      Type.Integer({
        description: 'Length of the whole body in bytes. Present only if `body` is truncated'
      })
    ),
    status: Type.Optional(
      Type.Integer({ description: 'HTTP status. Absent if no response has been sent' })
    ),
    size: number(0, 'Length of the response body in bytes'),
    duration: Type.Optional(
      Type.Number({
        minimum: 0,
        description:
          'Milliseconds until the response was sent or the connection was lost. ' +
          'Absent while the request is in progress'
      })
    ),
    reason: Type.Optional(Type.String({ description: 'The x-mock-reason header of the response' })),
    hasMore: Type.Optional(
      Type.Literal(true, { description: 'Present if the response contains `hasMore: true`' })
    ),
    changed: changes('The records that the operation changed'),
    flags: strictObject(
      {
        replayed: Type.Optional(
          Type.Boolean({
            description:
              'True if this is the stored response to an earlier request with the same ' +
              'idempotency key'
          })
        ),
        faulted: Type.Optional(
          Type.String({
            description:
              'Id of the applied fault rule, or `header` if the fault came from x-mock-fault'
          })
        ),
        delayed: number(0, "Milliseconds by which the environment's latency delayed the request"),
        stubbed: Type.Optional(Type.String({ description: 'The id of the stub that responded' })),
        forwarded: Type.Optional(
          Type.Literal(true, {
            description: 'Present if the request was forwarded to the fallback server'
          })
        ),
        unmocked: Type.Optional(
          Type.Boolean({
            description: 'True if no operation, stub, fault or fallback server responded'
          })
        )
      },
      { description: 'How the request was processed' }
    ),
    unknown: strictObject(
      {
        query: names('Names of parameters'),
        headers: names('Names of headers'),
        suggestions: Type.Optional(
          recordOf(Type.String(), 'For each unknown parameter, the most similar known name, if any')
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
    headers: recordOf(Values, 'Headers, with lower-case names. Secrets are replaced by ***'),
    body: Type.Optional(
      Type.String({
        description:
          'The body as text, or in base64 if it is not UTF-8. Absent if it is empty or was dropped'
      })
    ),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'Present if only the first 16 KiB of the body were kept' })
    ),
    dropped: Type.Optional(
      Type.Literal(true, {
        description: 'Present if the body was dropped to make room for later responses'
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
    response: Type.Optional(ref(RecordedResponse, 'Absent if no response has been sent'))
  }
)
export type RecordedExchange = Static<typeof RecordedExchange>

export const Change = namedObject(
  'Change',
  'A change made to an environment between API requests',
  {
    sequence: Type.Integer({
      minimum: 1,
      format: 'int64',
      description: 'Number of the change in its environment, starting at 1'
    }),
    time: dateTime(
      "When the change was made, by the environment's clock. " +
        'If the change set the clock, this is the new time'
    ),
    after: Type.Integer({
      minimum: 0,
      format: 'int64',
      description:
        'Sequence number of the last request before the change, or 0 if there was no request'
    }),
    operation: Type.Optional(
      Type.String({
        description: 'Id of the control operation. Absent if the server made the change itself'
      })
    ),
    summary: Type.String({
      description:
        'The summary of the control operation, or a description of the change that the server made'
    }),
    target: Type.Optional(
      Type.String({
        description: 'Id or name of the record, rule or snapshot that was changed'
      })
    ),
    changed: changes(
      'Changed records and settings, taken from the control request and its response'
    )
  }
)
export type Change = Static<typeof Change>

const MATCHES =
  'A regular expression that must match some part of the value. Lookarounds and backreferences ' +
  'are not supported, because they could make matching extremely slow'
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
    method: Type.Optional(Type.String({ description: 'Method, case-insensitive' })),
    path: text('Path without the query string, or a pattern that the path must match'),
    query: texts(
      'Query parameters that the request must have. Numbers and booleans are compared as text. ' +
        'An array matches a repeated parameter with the same values in any order'
    ),
    headers: texts(
      'Headers that the request must have. Header names are case-insensitive. ' +
        'Values are compared like the values in `query`'
    ),
    body: text('Body as text, or a pattern that the body must match'),
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
    atLeast: number(
      1,
      'Minimum number of matching requests. ' +
        'Defaults to 1 if `count`, `atMost` and `never` are absent'
    ),
    atMost: number(0, 'Maximum number of matching requests'),
    never: Type.Optional(
      Type.Literal(true, { description: 'Expects no matching requests. Same as `count: 0`' })
    ),
    inOrder: Type.Optional(
      Type.Array(ref(RequestPattern), {
        minItems: 1,
        maxItems: 100,
        description:
          'Patterns that requests must match in this order. Other requests may come in between'
      })
    ),
    after: number(0, 'Considers only requests with a sequence greater than this'),
    within: number(
      0,
      'Maximum time to wait for matching requests, in milliseconds. With `never`, `count: 0` or ' +
        'only `atMost`, the verification waits the whole time unless too many requests match',
      {
        maximum: 600_000
      }
    )
  }
)
export type Verification = Static<typeof Verification>

export const VerificationResult = namedObject(
  'VerificationResult',
  'The result of a successful verification',
  {
    matched: Type.Integer({ description: 'Number of matching requests' }),
    requests: Type.Array(Type.Integer({ format: 'int64' }), {
      description: 'Sequence numbers of the matching requests'
    }),
    lost: number(1, 'Number of older requests that are no longer in the journal')
  }
)
export type VerificationResult = Static<typeof VerificationResult>

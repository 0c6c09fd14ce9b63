import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { closed, ref } from '../wire.js'
import { ErrorBody } from './errors.js'

type RefusalStatus = keyof typeof REFUSALS

interface Operation<Params extends TSchema> {
  operationId: string
  summary: string
  description: string
  tag: string
  params?: Params
  querystring?: TObject
  /** Schema of the 200's body. */
  answer: TSchema
  /** The statuses it refuses with, 500 apart. */
  refusals: RefusalStatus[]
  /** Whether an idempotency key has an effect. */
  replayable?: boolean
}

/** The route schema of a service operation: what @fastify/swagger makes the published document of. */
export function operationSchema<Params extends TSchema = TSchema>(operation: Operation<Params>) {
  const { operationId, summary, description, tag, params, querystring, answer, refusals, replayable } = operation
  const statuses: RefusalStatus[] = [...refusals, 500]
  const replay = replayable ? REPLAY_HEADERS : {}
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [{ ApiKey: [] }],
    headers: IdempotencyHeader,
    ...((params && { params }) as { params: Params }),
    ...(querystring && { querystring }),
    response: {
      200: {
        description: 'OK',
        headers: { ...ALWAYS, ...replay, ...(querystring && EMPTY_PAGE) },
        content: { 'application/json': { schema: answer } }
      },
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          {
            description: REFUSALS[status],
            headers: { ...ALWAYS, ...REASON, ...(status !== 401 && replay), ...EXTRA_HEADERS[status] },
            content: { 'application/json': { schema: ref(ErrorBody) } }
          }
        ])
      )
    }
  }
}

const IdempotencyHeader = closed({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Up to 255 characters, bare or in double quotes. A POST that comes again with it within 24 hours gets the stored answer; a GET may carry it to no effect.'
    })
  )
})

const REFUSALS = {
  400: 'The request can not be read, or can not be done',
  401: 'There is no API key, or none that is known',
  403: 'The API key is of another environment',
  404: 'The environment has no such record',
  409: 'The first request with this idempotency key is still being processed',
  413: 'The body is larger than 1 MiB',
  422: 'A field is wrong, or the idempotency key was used for another request',
  500: 'A fault of the server'
} as const

const header = (description: string) => ({ type: 'string', description })

const ALWAYS = { 'x-request-id': header('Names the request in the log') }
const REASON = { 'x-mock-reason': header('Which check refused and what would satisfy it, for the person reading') }
const EMPTY_PAGE = { 'x-mock-reason': header('On an empty page: which filter took the last message') }
const REPLAY_HEADERS = {
  'idempotency-key': header('The key of the request'),
  'idempotency-replay': header('`true` when this is the stored answer')
}
const EXTRA_HEADERS: Partial<Record<RefusalStatus, object>> = {
  401: { 'www-authenticate': header('`ApiKey`') },
  409: { 'retry-after': { type: 'integer', description: 'Seconds to wait' } }
}

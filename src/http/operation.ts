import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { ref, strictObject } from '../core/typebox.js'
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
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [{ ApiKey: [] }],
    headers: IdempotencyHeader,
    ...((params && { params }) as { params: Params }),
    // Any parameter may be left out, those with a default too; a list is repeated, not split at commas.
    ...(querystring && { querystring: Type.Partial(querystring, { style: 'form', explode: true }) }),
    response: {
      200: response('OK', answer, {
        ...ALWAYS,
        ...(querystring && EMPTY_PAGE),
        ...(replayable && { ...KEY, ...REPLAY, ...REPLAY_REASON })
      }),
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          response(descriptionOf(status, replayable), ref(ErrorBody), {
            ...ALWAYS,
            ...REASON,
            ...(replayable && status !== 401 && KEY),
            ...(replayable && STORED.has(status) && REPLAY),
            ...EXTRA_HEADERS[status]
          })
        ])
      )
    }
  }
}

function descriptionOf(status: RefusalStatus, replayable = false): string {
  return status === 422 && replayable ? KEY_REUSED : REFUSALS[status]
}

function response(description: string, schema: TSchema, headers: object) {
  return { description, headers, content: { 'application/json': { schema } } }
}

const IdempotencyHeader = strictObject({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Up to 255 characters, bare or in double quotes. A POST that comes again with it within 24 hours gets the stored answer; a GET may carry it to no effect.'
    })
  )
})

const REFUSALS = {
  400: 'The request cannot be read, or cannot be done',
  401: 'There is no API key, or none that is known',
  403: 'The record is in another environment than the API key',
  404: 'The environment has no such record',
  409: 'The first request with this idempotency key is still being processed',
  413: 'The body is larger than 1 MiB',
  422: 'A field is wrong',
  500: 'A fault of the server'
} as const
const KEY_REUSED = 'The idempotency key was used for another request, or a field is wrong'

/** Those that an idempotency key replays, though not under every assumption. */
const STORED = new Set<RefusalStatus>([400, 403, 404, 422])

const header = (description: string) => ({ type: 'string', description })

const ALWAYS = { 'x-request-id': header('Names the request in the log') }
const REASON = { 'x-mock-reason': header('Which check refused and what would satisfy it, for the person reading') }
const EMPTY_PAGE = { 'x-mock-reason': header('On an empty page: which filter took the last message') }
const REPLAY_REASON = { 'x-mock-reason': header('On a replay: when the answer was first given') }
const KEY = { 'idempotency-key': header('The idempotency key of the request') }
const REPLAY = { 'idempotency-replay': { type: 'string', enum: ['true'], description: 'Set on a stored answer' } }
const EXTRA_HEADERS: Partial<Record<RefusalStatus, object>> = {
  401: { 'www-authenticate': header('The scheme to use: `ApiKey`') },
  409: { 'retry-after': { type: 'integer', description: 'Seconds to wait' } }
}

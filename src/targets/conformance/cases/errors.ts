import { STATUS_CODES } from 'node:http'
import { isObject, jsonIn } from '../../answers.js'
import { check } from '../../outcome.js'
import type { Answer } from '../../target.js'
import { type ConformanceCase, settled } from '../case.js'
import type { Subject } from '../subject.js'

const BODY = settled('Error responses: one body for every refusal')
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

interface ErrorFields {
  statusCode?: unknown
  timestamp?: unknown
  path?: unknown
  message?: unknown
  error?: unknown
  ctx?: unknown
  errors?: unknown
  errorId?: unknown
}

export const ERRORS: ConformanceCase[] = [
  {
    id: 'error.content-type',
    tier: 'wire',
    rule: 'A refusal is sent as `application/json; charset=utf-8`.',
    basis: BODY,
    needs: [],
    run: forEachRefusal((_, { headers }) => {
      const type = headers.get('content-type') ?? 'missing'
      return /^application\/json;\s*charset=utf-8$/i.test(type) || `content-type is ${type}`
    })
  },
  {
    id: 'error.status-code',
    tier: 'wire',
    rule: 'The `statusCode` of a refusal is its HTTP status.',
    basis: BODY,
    needs: [],
    run: forEachRefusal((body, { status }) => body.statusCode === status || `statusCode is not ${status}`)
  },
  {
    id: 'error.name',
    tier: 'wire',
    rule: 'The `error` of a refusal is the name of its HTTP status.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(
      ({ error }, { status }) => error === STATUS_CODES[status] || `error is not ${STATUS_CODES[status]}`
    )
  },
  {
    id: 'error.message',
    tier: 'wire',
    rule: 'The `message` of a refusal is a text.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(({ message }) => (typeof message === 'string' && message !== '') || 'message is no text')
  },
  {
    id: 'error.timestamp',
    tier: 'wire',
    rule: 'The `timestamp` of a refusal is in ISO 8601, UTC, with milliseconds.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(({ timestamp }) => ISO_UTC.test(String(timestamp)) || 'timestamp is not in ISO 8601, UTC')
  },
  {
    id: 'error.path',
    tier: 'wire',
    rule: 'The `path` of a refusal is the path of the request with its query string, without the host.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(({ path }, answer) => {
      const isPath = typeof path === 'string' && path.startsWith('/') && path.endsWith(answer.path)
      return isPath || 'path is not that of the request'
    })
  },
  {
    id: 'error.ctx',
    tier: 'wire',
    rule: 'The `ctx` of a refusal is an object, never null.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(({ ctx }) => isObject(ctx) || 'ctx is no object')
  },
  {
    id: 'error.absent',
    tier: 'wire',
    rule: '`errors` is in a 422 only and `errorId` in a 500 only; elsewhere they are absent, not null.',
    basis: BODY,
    needs: [],
    run: forEachRefusal(({ errors, errorId }, { status }) => {
      if (status !== 422 && errors !== undefined) return 'errors is there'
      return errorId === undefined || 'errorId is there'
    })
  },
  {
    id: 'error.validation',
    tier: 'wire',
    rule: 'An invalid value is refused with 422 `Validation Error`; `errors` has the field, its messages and the value.',
    basis: settled('Errors: the body of a validation error'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v1/messages?page=-1')
      check(answer.status === 422, `${answer.request}: status ${answer.status}, must be 422`)
      const { message, errors } = jsonIn(answer) as { message?: unknown; errors?: Record<string, FieldErrors> }
      check(message === 'Validation Error', `${answer.request}: message is not Validation Error`)
      const { messages, value } = errors?.page ?? {}
      const hasMessages =
        Array.isArray(messages) && messages.length > 0 && messages.every((each) => typeof each === 'string')
      check(hasMessages, `${answer.request}: errors.page.messages is no list of texts`)
      check(String(value) === '-1', `${answer.request}: errors.page.value is not what was sent`)
    }
  },
  {
    id: 'error.validation-all',
    tier: 'wire',
    rule: 'A validation error names all bad fields at once, and no other.',
    basis: settled('Errors: the body of a validation error'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v1/messages?page=-1&limit=-1&subscriberId=none')
      check(answer.status === 422, `${answer.request}: status ${answer.status}, must be 422`)
      const { errors } = jsonIn(answer) as { errors?: Record<string, FieldErrors> }
      const named = Object.keys(errors ?? {})
        .sort()
        .join(', ')
      check(named === 'limit, page', `${answer.request}: errors has ${named || 'nothing'}, must have limit, page`)
    }
  },
  {
    id: 'error.malformed-query',
    tier: 'wire',
    rule: 'A query string that can not be decoded is refused with 400.',
    basis: settled('Errors: bad percent-encoding is a 4xx with the body of every refusal'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v1/messages?subscriberId=%zz')
      check(answer.status === 400, `${answer.request}: status ${answer.status}, must be 400`)
      const { statusCode } = jsonIn(answer) as ErrorFields
      check(statusCode === 400, `${answer.request}: statusCode is not 400`)
    }
  },
  {
    id: 'error.malformed-path',
    tier: 'wire',
    rule: 'A path that can not be decoded is refused with 400.',
    basis: settled('Errors: bad percent-encoding is a 4xx with the body of every refusal'),
    needs: [],
    async run({ ask }) {
      const answer = await ask('/v2/workflows/%zz/steps/none')
      check(answer.status === 400, `${answer.request}: status ${answer.status}, must be 400`)
      const { statusCode } = jsonIn(answer) as ErrorFields
      check(statusCode === 400, `${answer.request}: statusCode is not 400`)
    }
  }
]

interface FieldErrors {
  messages?: unknown
  value?: unknown
}

/** Returns a case's `run` that judges the body of each refusal: true, or what is wrong. */
function forEachRefusal(judge: (body: ErrorFields, answer: Answer) => true | string) {
  return async ({ refusals }: Subject): Promise<void> => {
    for (const answer of await refusals()) {
      check(answer.status >= 400, `${answer.request}: status ${answer.status}, must be a refusal`)
      const json = jsonIn(answer)
      check(isObject(json), `${answer.request}: the body of the ${answer.status} is no object`)
      const verdict = judge(json, answer)
      check(verdict === true, `${answer.request}: ${verdict} in the ${answer.status}`)
    }
  }
}

import { STATUS_CODES } from 'node:http'
import { type TSchema, Type } from '@sinclair/typebox'
import { encodeBase62 } from '../../../domain/ids.js'
import { Integration } from '../../../integrations/schemas.js'
import { MessageResponse, MessagesPage } from '../../../messages/schemas.js'
import { findIssues, formatPath } from '../../../schema/validation.js'
import { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { withContractNames } from '../../contract-names.js'
import { setPrimaryPath, stepPath, unknownId } from '../../paths.js'
import {
  type Answer,
  check,
  checkJsonType,
  checkStatus,
  isObject,
  jsonIn,
  messageIn,
  recordIn
} from '../../response-checks.js'
import type { Subject } from '../../service-under-test.js'
import { type ConformanceCase, contract, settled } from '../case.js'
import { UNKNOWN_KEY } from './lookup.js'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const MAX_SHOWN = 5
/** `variables`: JSON Schema for variables. */
const VARIABLES = Type.Object({ type: Type.Literal('object'), properties: Type.Object({}) })

/** What is judged of an answer by a schema, and where it is in it. */
interface Part {
  answer: Answer
  schema: TSchema
  value: unknown
  where?: string
}

/** The kinds of answers, by the ids of their cases; `words` are of the contract. */
const KINDS: Record<
  string,
  { what: string; words: string; read(subject: Subject): Promise<Part[]> }
> = {
  list: {
    what: 'A page of messages',
    words: 'Paginated message list; Message (MessageResponseDto) and all that it holds',
    async read({ list }) {
      const { answer, data } = await list({ limit: 100 })
      const page = { ...(jsonIn(answer) as object), data: [] }
      const messages = data.map((value) => ({
        answer,
        schema: MessageResponse,
        value,
        where: 'data'
      }))
      return [{ answer, schema: MessagesPage, value: page }, ...messages]
    }
  },
  step: {
    what: 'A step',
    words: 'Workflow step (response of step retrieval) and all that it holds',
    async read({ steps, ask }) {
      const answers = (await steps()).map(({ workflowId, stepId }) =>
        ask(stepPath(workflowId, stepId))
      )
      return (await Promise.all(answers)).flatMap((answer) => {
        const step = recordIn<WorkflowStep>(answer)
        const variables = { answer, schema: VARIABLES, value: step.variables, where: 'variables' }
        return [{ answer, schema: WorkflowStep, value: withoutControlValues(step) }, variables]
      })
    }
  },
  integration: {
    what: 'The integration that set-primary answers with',
    words:
      'Integration (response of set-primary), CredentialsDto, ConfigurationsDto, StepFilterDto',
    async read({ integrations }) {
      await integrations.usable()
      const usable = (await integrations.all()).filter(({ integration }) => integration)
      return usable.map(({ answer }) => ({ answer, schema: Integration, value: recordIn(answer) }))
    }
  }
}

export const ANSWERS: readonly ConformanceCase[] = [
  ...Object.entries(KINDS).flatMap(([kind, { what, words, read }]): ConformanceCase[] => [
    {
      id: `wire.${kind}.shape`,
      rule: `${what} has the fields of the contract, each of its type and from its list of values, in JSON and UTF-8.`,
      basis: contract(words),
      async run(subject) {
        for (const part of await read(subject)) {
          checkIssues(part, 'value')
          checkJsonType(part.answer)
        }
      }
    },
    {
      id: `wire.${kind}.fields`,
      rule: `${what} has no other fields.`,
      basis: { settled: 'Resources and their fields: the tables of fields', strictly: true },
      run: async (subject) =>
        (await read(subject)).forEach((part) => void checkIssues(part, 'name'))
    }
  ]),
  {
    id: 'wire.list.records',
    rule: 'No two messages have one `_id`; all, and what is embedded, are of one environment and organization; the subscriber is that of `_subscriberId`, its times in ISO 8601; context keys have the form `type:id`.',
    basis: contract(
      '_id: Message identifier; Subscriber: times (ISO 8601); contextKeys: each in the form `type:id`'
    ),
    async run({ sample }) {
      const { messages, request } = await sample()
      const ids = messages.map(({ _id }) => _id).filter((id) => id !== undefined)
      const doubled = ids.find((id, index) => ids.indexOf(id) !== index)
      check(doubled === undefined, `two messages have the _id ${doubled}`, request)
      const records = messages.flatMap((each) =>
        [each, each.subscriber ?? [], each.template ?? []].flat()
      )
      for (const field of ['_environmentId', '_organizationId'] as const) {
        const owners = new Set(records.map((record) => record[field]))
        check(owners.size === 1, `${field} is ${[...owners].slice(0, 2).join(' and ')}`, request)
      }
      for (const { _id, _subscriberId, subscriber, contextKeys = [] } of messages) {
        const isOwn = (subscriber?._id ?? _subscriberId) === _subscriberId
        check(
          isOwn,
          `message ${_id}: the embedded subscriber is another than _subscriberId`,
          request
        )
        const isTimed = areTimes(
          subscriber?.createdAt,
          subscriber?.updatedAt,
          subscriber?.lastOnlineAt
        )
        check(isTimed, `message ${_id}: a time of the subscriber is not in ISO 8601`, request)
        const areKeys = contextKeys.every((key) => /^[^:]+:.+$/s.test(key))
        check(areKeys, `message ${_id}: a context key has not the form type:id`, request)
      }
    }
  },
  {
    id: 'wire.list.times',
    rule: 'Times of messages are in ISO 8601.',
    basis: settled('Headers and the rest: the format of times'),
    async run({ sample }) {
      const { messages, request } = await sample()
      for (const { _id, createdAt, lastSeenDate, lastReadDate } of messages) {
        check(
          areTimes(createdAt, lastSeenDate, lastReadDate),
          `it is not so of message ${_id}`,
          request
        )
      }
    }
  },
  {
    id: 'wire.step.slug',
    rule: 'The slug of a step ends with `_st_` and its `_id` in base 62.',
    basis: settled('the form of a slug'),
    async run({ steps }) {
      for (const { step, request } of await steps()) {
        const isOwn =
          /^[0-9a-f]{24}$/.test(step._id) && step.slug.endsWith(`_st_${encodeBase62(step._id)}`)
        check(isOwn, `step ${step._id}: the slug is not that of its _id`, request)
      }
    }
  },
  {
    id: 'wire.head',
    rule: 'HEAD of a list is answered as GET, without a body.',
    basis: settled('HEAD works where GET does'),
    async run({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { method: 'HEAD' })
      check(
        answer.status === 200 && answer.text === '',
        `status ${answer.status}, must be 200 without a body`,
        answer
      )
      checkJsonType(answer, true)
    }
  },
  {
    id: 'error.body',
    rule: 'A refusal is `{statusCode, timestamp, path, message, error, ctx}` in JSON, without null; an unknown integration is a 404 that names it.',
    basis: settled('Error responses: one body for every refusal'),
    async run({ ask }) {
      const id = unknownId()
      const unknown = await ask(setPrimaryPath(id), { method: 'POST' })
      checkRefusal(await ask('/v1/messages?limit=3', { authorization: null }), 401)
      checkRefusal(
        await ask('/v1/messages?limit=1&page=0', { authorization: `ApiKey ${UNKNOWN_KEY}` }),
        401
      )
      checkRefusal(await ask('/v1/messages?limit=none&page=5'), 422)
      checkRefusal(await ask(`${stepPath(unknownId(), 'none')}?x=1`), 404)
      checkRefusal(unknown, 404)
      const isNamed = messageIn(unknown) === `Integration with id ${id} not found`
      check(isNamed, 'the message does not name the integration', unknown)
    }
  }
]

/** Throws `Failure` when a value lacks a field or has a wrong one (`value`), or one that is not in the schema (`name`). */
function checkIssues({ answer, schema, value, where = '' }: Part, part: 'name' | 'value'): void {
  const issues = findIssues(schema, withContractNames(value)).filter((issue) => issue.part === part)
  const shown = issues.slice(0, MAX_SHOWN).map(({ path, message }) => {
    // A name that is no word may be anybody's.
    const names = path.map((each) =>
      typeof each === 'number' || /^\w{1,30}$/.test(each) ? each : '<name>'
    )
    return `${[where, formatPath(names)].filter(Boolean).join(': ') || 'it'} ${message}`
  })
  const more = issues.length > MAX_SHOWN ? `; and ${issues.length - MAX_SHOWN} more` : ''
  check(issues.length === 0, `${shown.join('; ')}${more}`, answer)
}

/** The field that the row `control-values` adds in one of its positions. */
function withoutControlValues(step: WorkflowStep): unknown {
  const { values: _, ...controls } = (step.controls ?? {}) as WorkflowStep['controls'] & {
    values?: unknown
  }
  return typeof step.controls === 'object' ? { ...step, controls } : step
}

function areTimes(...times: unknown[]): boolean {
  return times.every(
    (time) => typeof time !== 'string' || (ISO.test(time) && !Number.isNaN(Date.parse(time)))
  )
}

function checkRefusal(answer: Answer, status: number): void {
  checkStatus(answer, status)
  checkJsonType(answer, true)
  const json = jsonIn(answer)
  check(isObject(json), `the body of the ${status} is no object`, answer)
  const { statusCode, timestamp, path, message, error, ctx, errors, errorId } = json
  const wrong = Object.entries({
    statusCode: statusCode !== status,
    error: error !== STATUS_CODES[status],
    message: typeof message !== 'string' || message === '',
    timestamp: !ISO_UTC.test(String(timestamp)),
    path: typeof path !== 'string' || !path.startsWith('/') || !path.endsWith(answer.path),
    ctx: !isObject(ctx),
    errors: errors !== undefined && status !== 422,
    errorId: errorId !== undefined
  }).flatMap(([field, isWrong]) => (isWrong ? field : []))
  check(
    wrong.length === 0,
    `${wrong.join(', ')} of the ${status} are not as the reference has them`,
    answer
  )
}

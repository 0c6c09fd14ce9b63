import { STATUS_CODES } from 'node:http'
import { type TSchema, Type } from '@sinclair/typebox'
import { encodeBase62 } from '../../../domain/ids.js'
import { Integration } from '../../../integrations/schemas.js'
import { MessageResponse, MessagesPage, withoutExtras } from '../../../messages/schemas.js'
import { findIssues, formatPath, isObject } from '../../../schema/validation.js'
import { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { withDocumentedNames } from '../../documented-names.js'
import { setPrimaryPath, stepPath, unknownId } from '../../paths.js'
import {
  check,
  checkJsonType,
  checkStatus,
  messageOf,
  readJson,
  readRecord,
  type SentRequest,
  type TargetResponse
} from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, behavior, type ConformanceCase } from '../case.js'
import { UNKNOWN_KEY } from './auth-and-steps.js'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const MAX_SHOWN_ISSUES = 5
/** The schema of a step's `variables` field, whose value is itself a JSON Schema. */
const VARIABLES = Type.Object({ type: Type.Literal('object'), properties: Type.Object({}) })

/** A value in a response, and the schema that it must match. */
interface Part {
  response: TargetResponse
  schema: TSchema
  value: unknown
  /** The field of the response that contains the value. Absent if the value is the whole record. */
  location?: string
}

interface ResponseKind {
  /** The name of the response in the rules, such as `A page of messages`. */
  subject: string
  /** The part of the API reference that defines the response. */
  quote: string
  readParts(service: ServiceUnderTest): Promise<Part[]>
}

/** The kinds of responses, by their name in case ids, such as `list` in `wire.list.shape`. */
const RESPONSE_KINDS: Record<string, ResponseKind> = {
  list: {
    subject: 'A page of messages',
    quote: 'Paginated message list; Message (MessageResponseDto) and everything in it',
    async readParts({ list }) {
      const { response, data } = await list({ limit: 100 })
      const page = { ...(readJson(response) as object), data: [] }
      const messages = data.map((value) => ({
        response,
        schema: MessageResponse,
        value: isObject(value) ? withoutExtras(value) : value,
        location: 'data'
      }))
      return [{ response, schema: MessagesPage, value: page }, ...messages]
    }
  },
  step: {
    subject: 'A step',
    quote: 'Workflow step (response of step retrieval) and everything in it',
    async readParts({ steps, send }) {
      const responses = (await steps()).map(({ workflowId, stepId }) =>
        send(stepPath(workflowId, stepId))
      )
      return (await Promise.all(responses)).flatMap(stepParts)
    }
  },
  integration: {
    subject: 'The integration in a set-primary response',
    quote:
      'Integration (response of set-primary), CredentialsDto, ConfigurationsDto, StepFilterDto',
    async readParts({ integrations }) {
      await integrations.usable()
      const usable = (await integrations.all()).filter(({ integration }) => integration)
      return usable.map(({ response }) => ({
        response,
        schema: Integration,
        value: readRecord(response)
      }))
    }
  }
}

function stepParts(response: TargetResponse): Part[] {
  const step = readRecord<WorkflowStep>(response)
  const variables = step.variables
  return [
    { response, schema: WorkflowStep, value: withoutControlValues(step) },
    { response, schema: VARIABLES, value: variables, location: 'variables' }
  ]
}

/** Removes the field that the assumption `control-values` adds in the profile `live`. */
function withoutControlValues(step: WorkflowStep): unknown {
  if (typeof step.controls !== 'object') return step
  const { values: _, ...controls } = (step.controls ?? {}) as WorkflowStep['controls'] & {
    values?: unknown
  }
  return { ...step, controls }
}

const SCHEMA_CASES = Object.entries(RESPONSE_KINDS).flatMap(
  ([kind, { subject, quote, readParts }]): ConformanceCase[] => [
    {
      id: `wire.${kind}.shape`,
      rule:
        `${subject} is JSON in UTF-8 with all required fields. ` +
        'All types and values match the API reference.',
      basis: apiReference(quote),
      async run(service) {
        for (const part of await readParts(service)) {
          checkIssues(part, 'value')
          checkJsonType(part.response)
        }
      }
    },
    {
      id: `wire.${kind}.fields`,
      rule: `${subject} only has fields that the API reference lists.`,
      basis: { behavior: 'the fields of each resource', strictly: true },
      async run(service) {
        for (const part of await readParts(service)) checkIssues(part, 'name')
      }
    }
  ]
)

export const RESPONSE_CASES: readonly ConformanceCase[] = [
  ...SCHEMA_CASES,
  {
    id: 'wire.list.records',
    rule:
      'Every message has a unique `_id`. All messages and their embedded records belong to the ' +
      "same environment and organization. A message's `_subscriberId` equals the `_id` of its " +
      "embedded subscriber. The subscriber's timestamps are in ISO 8601. " +
      'Context keys have the form `type:id`.',
    basis: apiReference(
      '_id: Message identifier; Subscriber: times (ISO 8601); ' +
        'contextKeys: each in the form `type:id`'
    ),
    async run({ sample }) {
      const { messages, request } = await sample()
      const ids = messages.map(({ _id }) => _id).filter((id) => id !== undefined)
      const duplicate = ids.find((id, index) => ids.indexOf(id) !== index)
      check(duplicate === undefined, `two messages have the _id ${duplicate}`, request)
      const records = messages.flatMap((message) =>
        [message, message.subscriber ?? [], message.template ?? []].flat()
      )
      for (const field of ['_environmentId', '_organizationId'] as const) {
        const owners = [...new Set(records.map((record) => record[field]))]
        const problem = `${field} is not the same in all records: ${owners.slice(0, 2).join(', ')}`
        check(owners.length === 1, problem, request)
      }
      for (const message of messages) checkMessage(message, request)
    }
  },
  {
    id: 'wire.list.times',
    rule: 'The timestamps of messages are in ISO 8601.',
    basis: behavior('the format of timestamps'),
    async run({ sample }) {
      const { messages, request } = await sample()
      for (const { _id, createdAt, lastSeenDate, lastReadDate } of messages) {
        const areValid = areIsoTimes(createdAt, lastSeenDate, lastReadDate)
        check(areValid, `message ${_id}: a timestamp is not in ISO 8601`, request)
      }
    }
  },
  {
    id: 'wire.step.slug',
    rule: 'The slug of a step ends with `_st_` and the `_id` of the step in base 62.',
    basis: behavior('the format of slugs'),
    async run({ steps }) {
      for (const { step, request } of await steps()) {
        const hasId =
          /^[0-9a-f]{24}$/.test(step._id) && step.slug.endsWith(`_st_${encodeBase62(step._id)}`)
        const problem = `the slug of step ${step._id} does not end with _st_ and the _id in base 62`
        check(hasId, problem, request)
      }
    }
  },
  {
    id: 'wire.head',
    rule: 'A HEAD request for the message list gets the same response as a GET, without a body.',
    basis: behavior('HEAD requests'),
    async run({ send }) {
      const response = await send('/v1/messages?limit=1', { method: 'HEAD' })
      const isEmpty = response.status === 200 && response.text === ''
      check(isEmpty, `status ${response.status}, expected 200 without a body`, response)
      checkJsonType(response, true)
    }
  },
  {
    id: 'error.body',
    rule:
      'The body of every error is a JSON object with `statusCode`, `timestamp`, `path`, ' +
      '`message`, `error` and `ctx`, none of them null. The message of the 404 for an unknown ' +
      'integration is `Integration with id <id> not found`.',
    basis: behavior('the body of error responses'),
    async run({ send }) {
      const id = unknownId()
      const invalidKey = { authorization: `ApiKey ${UNKNOWN_KEY}` }
      const unknown = await send(setPrimaryPath(id), { method: 'POST' })
      checkErrorBody(await send('/v1/messages?limit=3', { authorization: null }), 401)
      checkErrorBody(await send('/v1/messages?limit=1&page=0', invalidKey), 401)
      checkErrorBody(await send('/v1/messages?limit=none&page=5'), 422)
      checkErrorBody(await send(`${stepPath(unknownId(), 'none')}?x=1`), 404)
      checkErrorBody(unknown, 404)
      const message = `Integration with id ${id} not found`
      check(messageOf(unknown) === message, `the message is not "${message}"`, unknown)
    }
  }
]

function checkMessage(message: MessageResponse, request: SentRequest | undefined): void {
  const { _id, _subscriberId, subscriber, contextKeys = [] } = message
  const isSubscriber = (subscriber?._id ?? _subscriberId) === _subscriberId
  const problem = 'the _subscriberId differs from the _id of the embedded subscriber'
  check(isSubscriber, `message ${_id}: ${problem}`, request)
  const { createdAt, updatedAt, lastOnlineAt } = subscriber ?? {}
  const areValid = areIsoTimes(createdAt, updatedAt, lastOnlineAt)
  check(areValid, `message ${_id}: a timestamp of the subscriber is not in ISO 8601`, request)
  const areKeys = contextKeys.every((key) => /^[^:]+:.+$/s.test(key))
  check(areKeys, `message ${_id}: a context key does not have the form type:id`, request)
}

/**
 * Throws `Failure` if the value doesn't match its schema. The kind `value` checks only for missing
 * fields and wrong values. The kind `name` checks only for fields that aren't in the schema.
 */
function checkIssues(part: Part, kind: 'name' | 'value'): void {
  const { response, schema, value, location = '' } = part
  const allIssues = findIssues(schema, withDocumentedNames(value))
  const issues = allIssues.filter((issue) => issue.part === kind)
  const lines = issues.slice(0, MAX_SHOWN_ISSUES).map(({ path, message }) => {
    // A field name that isn't a plain word may be private data, so hide it.
    const names = path.map((name) =>
      typeof name === 'number' || /^\w{1,30}$/.test(name) ? name : '<name>'
    )
    const place = [location, formatPath(names)].filter(Boolean).join(': ')
    return `${place || 'the response'} ${message}`
  })
  if (issues.length > MAX_SHOWN_ISSUES) lines.push(`and ${issues.length - MAX_SHOWN_ISSUES} more`)
  check(issues.length === 0, lines.join('; '), response)
}

function areIsoTimes(...times: unknown[]): boolean {
  return times.every(
    (time) => typeof time !== 'string' || (ISO.test(time) && !Number.isNaN(Date.parse(time)))
  )
}

function checkErrorBody(response: TargetResponse, status: number): void {
  checkStatus(response, status)
  checkJsonType(response, true)
  const json = readJson(response)
  check(isObject(json), `the body of the ${status} response is not an object`, response)
  const { statusCode, timestamp, path, message, error, ctx, errors, errorId } = json
  const isWrong = {
    statusCode: statusCode !== status,
    error: error !== STATUS_CODES[status],
    message: typeof message !== 'string' || message === '',
    timestamp: !ISO_UTC.test(String(timestamp)),
    path: typeof path !== 'string' || !path.startsWith('/') || !path.endsWith(response.path),
    ctx: !isObject(ctx),
    errors: errors !== undefined && status !== 422,
    errorId: errorId !== undefined
  }
  const wrongFields = Object.entries(isWrong).flatMap(([field, wrong]) => (wrong ? field : []))
  const problem = `the ${status} response has wrong or unexpected fields: ${wrongFields.join(', ')}`
  check(wrongFields.length === 0, problem, response)
}

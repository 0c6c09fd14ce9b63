import { encodeBase62 } from '../../../domain/ids.js'
import { isObject } from '../../../schema/validation.js'
import type { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { setPrimaryPath, stepPath, unknownId } from '../../paths.js'
import {
  check,
  checkSame,
  checkStatus,
  messageOf,
  readRecord,
  skipUnless,
  type TargetResponse
} from '../../response-checks.js'
import type { KnownStep, ServiceUnderTest } from '../../service-under-test.js'
import { apiReference, behavior, type ConformanceCase } from '../case.js'

export const UNKNOWN_KEY = 'conformance-00000000000000000000'

/**
 * Authorization headers that must be rejected, each with the message of the 401. If a header is
 * listed without a message, the 401 may have any message.
 */
const INVALID_AUTHORIZATIONS: readonly (readonly [header: string | null, message?: string])[] = [
  [null, 'Missing authorization header'],
  ['Bearer abc', 'Invalid authentication scheme: "Bearer"'],
  ['ApiKey', 'Unauthorized'],
  [`ApiKey ${UNKNOWN_KEY}`, 'API Key not found'],
  [UNKNOWN_KEY]
]

export const AUTH_CASES: readonly ConformanceCase[] = [
  {
    id: 'auth.required',
    rule:
      'Every operation rejects a request without a key, with an unknown key, or with an ' +
      'authorization scheme other than `ApiKey`, even if the request has an `idempotency-key`.',
    basis: apiReference(
      'Every operation requires `ApiKey <API_KEY>`; `idempotency-key` is not authentication'
    ),
    async run({ send }) {
      for (const [authorization] of INVALID_AUTHORIZATIONS) {
        for (const headers of [{}, { 'idempotency-key': 'conformance' }]) {
          const options = { authorization, headers }
          const setPrimary = { ...options, method: 'POST' }
          checkStatus(await send('/v1/messages', options), 401, 403)
          checkStatus(await send(stepPath(unknownId(), unknownId()), options), 401, 403)
          checkStatus(await send(setPrimaryPath(unknownId()), setPrimary), 401, 403)
        }
      }
    }
  },
  {
    id: 'auth.unauthorized',
    rule:
      'The key is checked before anything else. A 401 contains the reason and the header ' +
      '`WWW-Authenticate: ApiKey`, but not the key.',
    basis: behavior('401 responses, and the order in which requests are checked'),
    async run({ send }) {
      for (const [authorization, message] of INVALID_AUTHORIZATIONS) {
        const path = '/v1/messages?page=-1&limit=none&contextKeys=none&channel=none'
        checkUnauthorized(await send(path, { authorization }), message)
      }
    }
  }
]

function checkUnauthorized(response: TargetResponse, message: string | undefined): void {
  checkStatus(response, 401)
  const hasMessage = message === undefined || messageOf(response) === message
  check(hasMessage, `the message of the 401 is not ${message}`, response)
  const challenge = response.headers.get('www-authenticate') ?? ''
  check(/^ApiKey\b/.test(challenge), 'WWW-Authenticate: ApiKey is missing', response)
  const texts = [response.text, ...response.headers.values()]
  const repeatsKey = texts.some((text) => text.includes(UNKNOWN_KEY))
  check(!repeatsKey, 'the response repeats the unknown key', response)
}

export const STEP_CASES: readonly ConformanceCase[] = [
  {
    id: 'step.named',
    rule:
      'The response contains the requested step. Its `workflowId` is the identifier of the ' +
      'workflow, even if the request named the workflow by `_id`. No two steps of a ' +
      'workflow have the same `_id`, `stepId` or slug.',
    basis: apiReference(
      '_id: Database identifier of the step; stepId, workflowId, workflowDatabaseId: identifiers'
    ),
    async run({ steps, send }) {
      const knownSteps = await steps()
      for (const knownStep of knownSteps) await checkNamedStep(send, knownStep)
      for (const field of ['_id', 'stepId', 'slug'] as const) {
        const values = knownSteps.map(({ step }) => `${step.workflowDatabaseId} ${step[field]}`)
        const areUnique = new Set(values).size === values.length
        const request = knownSteps.at(-1)?.request
        check(areUnique, `two steps of a workflow have the same ${field}`, request)
      }
    }
  },
  {
    id: 'step.forms',
    rule:
      'A request can name a workflow or step by `_id`, identifier or slug. The name at the start ' +
      'of a slug is ignored.',
    basis: behavior('how workflows and steps are named in requests'),
    async run({ steps, send }) {
      for (const { step } of (await steps()).slice(0, 4)) {
        const { _id, stepId, workflowId, workflowDatabaseId } = step
        skipUnless(/^[0-9a-f]{24}$/.test(_id), 'the _id of a step is not 24 hex digits')
        const paths = [
          stepPath(workflowId, stepId),
          stepPath(workflowDatabaseId, _id),
          stepPath(`any-name_wf_${encodeBase62(workflowDatabaseId)}`, step.slug),
          stepPath(workflowId, `another-name_st_${encodeBase62(_id)}`)
        ]
        for (const path of paths) {
          const response = await send(path)
          const what = `this response and the response for ${workflowId}/${stepId}`
          checkSame(readRecord(response), step, what, response)
        }
      }
    }
  },
  {
    id: 'step.own',
    rule: 'A step can only be retrieved through its own workflow.',
    basis: apiReference(
      'A workflow consists of steps. A single step of a workflow can be retrieved'
    ),
    async run({ steps, send }) {
      const knownSteps = await steps()
      const [first] = knownSteps
      const workflow = first?.step.workflowDatabaseId
      const other = knownSteps.find(({ step }) => step.workflowDatabaseId !== workflow)
      const reason = 'the steps of only one workflow are known'
      const flags = '--workflow <id> --workflow <id of another>'
      skipUnless(first !== undefined && other !== undefined, reason, flags)
      const response = await send(stepPath(first.step.workflowId, other.step._id))
      const isRejected = response.status >= 400 && response.status < 500
      check(isRejected, `status ${response.status}, expected a 4xx`, response)
    }
  },
  {
    id: 'step.unknown-workflow',
    rule:
      'The workflow is looked up before the step. If the workflow is unknown, the response is a ' +
      '404 about the workflow, even if the step exists.',
    basis: behavior('the order in which a workflow and its step are looked up'),
    async run({ steps, send }) {
      const [first] = await steps()
      const response = await send(stepPath(unknownId(), first?.step._id ?? ''))
      checkStatus(response, 404)
      const isAboutWorkflow = /^Workflow /.test(String(messageOf(response)))
      check(isAboutWorkflow, 'the message is not about the workflow', response)
    }
  }
]

async function checkNamedStep(
  send: ServiceUnderTest['send'],
  { workflowId, stepId, step }: KnownStep
): Promise<void> {
  const response = await send(stepPath(workflowId, stepId))
  const isRequested =
    isNameOf(stepId, step._id, step.stepId) &&
    isNameOf(workflowId, step.workflowDatabaseId, step.workflowId)
  const actual = `step ${step.stepId} of workflow ${step.workflowId}`
  check(isRequested, `the response contains ${actual}, not the requested step`, response)
  checkSame(readRecord(response), step, 'two responses for the same step', response)
  const byId = await send(stepPath(step.workflowDatabaseId, step._id))
  // Ignore a 4xx for a request by `_id`, because the case `step.forms` reports it.
  if (byId.status >= 400 && byId.status < 500) return
  const { workflowId: identifier, workflowDatabaseId } = readRecord<WorkflowStep>(byId)
  const isSameWorkflow =
    identifier === step.workflowId && workflowDatabaseId === step.workflowDatabaseId
  const hasIdentifier = identifier !== workflowDatabaseId
  check(isSameWorkflow && hasIdentifier, "workflowId is not the workflow's identifier", byId)
}

/**
 * Returns whether the name is the id, the identifier or any slug. Doesn't check the id in a slug,
 * because the case `step.forms` checks it.
 */
function isNameOf(name: string, id: string, identifier: string): boolean {
  const isSlug = /_(?:wf|st)_[0-9A-Za-z]+$/.test(name)
  return isSlug || name === identifier || name.toLowerCase() === id.toLowerCase()
}

const REJECTION = behavior('the rejection of malformed requests')

export const MALFORMED_CASES: readonly ConformanceCase[] = [
  {
    id: 'malformed.body',
    rule: 'A body that is declared as JSON but is not JSON is rejected with 400.',
    basis: REJECTION,
    async run({ integrations }) {
      const { _id } = await integrations.one()
      const options = { headers: { 'content-type': 'application/json' }, body: '{' }
      checkStatus(await integrations.setPrimary(_id, options), 400)
    }
  },
  {
    id: 'malformed.query',
    rule:
      'A query string that cannot be decoded is rejected with 400, or with 401 if the request ' +
      'has no key.',
    basis: REJECTION,
    async run({ send }) {
      const path = '/v1/messages?subscriberId=%zz'
      checkBadRequest(await send(path))
      checkStatus(await send(path, { authorization: null }), 401)
    }
  },
  {
    id: 'malformed.path',
    rule: 'A path that cannot be decoded is rejected with 400.',
    basis: REJECTION,
    async run({ send }) {
      checkBadRequest(await send('/v2/workflows/%zz/steps/none'))
    }
  }
]

function checkBadRequest(response: TargetResponse): void {
  checkStatus(response, 400)
  const hasStatus = isObject(response.body) && response.body.statusCode === 400
  check(hasStatus, 'statusCode is not 400', response)
}

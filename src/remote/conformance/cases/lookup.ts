import { encodeBase62 } from '../../../domain/ids.js'
import type { WorkflowStep } from '../../../workflow-steps/schemas.js'
import { setPrimaryPath, stepPath, unknownId } from '../../paths.js'
import {
  check,
  checkSame,
  checkStatus,
  isObject,
  messageIn,
  needed,
  recordIn
} from '../../response-checks.js'
import { type ConformanceCase, contract, settled } from '../case.js'

export const UNKNOWN_KEY = 'conformance-00000000000000000000'

/** What is no key, and the message of its 401. */
const REFUSALS: [authorization: string | null, message?: string][] = [
  [null, 'Missing authorization header'],
  ['Bearer abc', 'Invalid authentication scheme: "Bearer"'],
  ['ApiKey', 'Unauthorized'],
  [`ApiKey ${UNKNOWN_KEY}`, 'API Key not found'],
  [UNKNOWN_KEY]
]

export const AUTH: readonly ConformanceCase[] = [
  {
    id: 'auth.required',
    rule: 'Each operation refuses a request without a key, also with an `idempotency-key`, with an unknown one, and another scheme.',
    basis: contract(
      'Every operation requires `ApiKey <API_KEY>`; the header `idempotency-key` is not authentication'
    ),
    async run({ ask }) {
      for (const [authorization] of REFUSALS) {
        for (const headers of [{}, { 'idempotency-key': 'conformance' }]) {
          const request = { authorization, headers }
          checkStatus(await ask('/v1/messages', request), 401, 403)
          checkStatus(await ask(stepPath(unknownId(), unknownId()), request), 401, 403)
          checkStatus(
            await ask(setPrimaryPath(unknownId()), { ...request, method: 'POST' }),
            401,
            403
          )
        }
      }
    }
  },
  {
    id: 'auth.words',
    rule: 'A 401 is answered before anything else is looked at, says why, has `WWW-Authenticate: ApiKey`, and does not repeat the key.',
    basis: settled('Authentication: its order, its refusals, and that keys are never echoed'),
    async run({ ask }) {
      for (const [authorization, message] of REFUSALS) {
        const answer = await ask('/v1/messages?page=-1&limit=none&contextKeys=none&channel=none', {
          authorization
        })
        checkStatus(answer, 401)
        const isSaid = message === undefined || messageIn(answer) === message
        check(isSaid, `the message of the 401 is not ${message}`, answer)
        const isNamed = /^ApiKey\b/.test(answer.headers.get('www-authenticate') ?? '')
        check(isNamed, 'there is no WWW-Authenticate: ApiKey', answer)
        const isRepeated = [answer.text, ...answer.headers.values()].some((each) =>
          each.includes(UNKNOWN_KEY)
        )
        check(!isRepeated, 'the answer to an unknown key repeats it', answer)
      }
    }
  }
]

export const STEPS: readonly ConformanceCase[] = [
  {
    id: 'step.named',
    rule: 'The step that is asked for is the step that is returned, each time, with its `stepId`, and as `workflowId` the identifier, also if it is asked for by `_id`. Steps of a workflow differ in `_id`, `stepId` and slug.',
    basis: contract(
      '_id: Database identifier of the step; stepId, workflowId, workflowDatabaseId: identifiers'
    ),
    async run({ steps, ask }) {
      const all = await steps()
      for (const { workflowId, stepId, step } of all) {
        const answer = await ask(stepPath(workflowId, stepId))
        const isAsked =
          isNameOf(stepId, step._id, step.stepId) &&
          isNameOf(workflowId, step.workflowDatabaseId, step.workflowId)
        check(isAsked, `the answer is step ${step.stepId} of ${step.workflowId}`, answer)
        checkSame(recordIn(answer), step, 'two answers', answer)
        const byId = await ask(stepPath(step.workflowDatabaseId, step._id))
        // Which names find a step is another case's.
        if (byId.status >= 400 && byId.status < 500) continue
        const found = recordIn<WorkflowStep>(byId)
        const isSame =
          found.workflowId === step.workflowId &&
          found.workflowDatabaseId === step.workflowDatabaseId
        check(
          isSame && found.workflowId !== found.workflowDatabaseId,
          'workflowId is not the identifier',
          byId
        )
      }
      for (const field of ['_id', 'stepId', 'slug'] as const) {
        const values = all.map(({ step }) => `${step.workflowDatabaseId} ${step[field]}`)
        check(
          new Set(values).size === values.length,
          `two steps of a workflow have one ${field}`,
          all.at(-1)?.request
        )
      }
    }
  },
  {
    id: 'step.forms',
    rule: 'A workflow and a step are found by `_id`, identifier or slug alike, whatever the name in the slug.',
    basis: settled('Retrieve step: a workflow or step is named by _id, identifier or slug'),
    async run({ steps, ask }) {
      for (const { step } of (await steps()).slice(0, 4)) {
        const { _id, stepId, workflowId, workflowDatabaseId: workflow } = step
        needed(/^[0-9a-f]{24}$/.test(_id), 'the _id of a step is not of 24 hex digits')
        for (const path of [
          stepPath(workflowId, stepId),
          stepPath(workflow, _id),
          stepPath(`any-name_wf_${encodeBase62(workflow)}`, step.slug),
          stepPath(workflowId, `another-name_st_${encodeBase62(_id)}`)
        ]) {
          const answer = await ask(path)
          checkSame(recordIn(answer), step, `the step and that of ${workflowId}/${stepId}`, answer)
        }
      }
    }
  },
  {
    id: 'step.own',
    rule: 'A step is found in its own workflow only.',
    basis: contract('A workflow consists of steps. A single step of a workflow can be retrieved'),
    async run({ steps, ask }) {
      const all = await steps()
      const [first] = all
      const other = all.find(
        ({ step }) => step.workflowDatabaseId !== first?.step.workflowDatabaseId
      )
      const names = '--workflow <id> --workflow <id of another>'
      needed(
        first !== undefined && other !== undefined,
        'no steps of two workflows are known',
        names
      )
      const answer = await ask(stepPath(first.step.workflowId, other.step._id))
      check(
        answer.status >= 400 && answer.status < 500,
        `status ${answer.status}, must be a refusal`,
        answer
      )
    }
  },
  {
    id: 'step.unknown-workflow',
    rule: 'The workflow is looked up first: a known step of an unknown workflow is a 404 of the workflow.',
    basis: settled('Retrieve step: the order of lookup'),
    async run({ steps, ask }) {
      const [first] = await steps()
      const answer = await ask(stepPath(unknownId(), first?.step._id ?? ''))
      checkStatus(answer, 404)
      check(
        /^Workflow /.test(String(messageIn(answer))),
        'the message is not about the workflow',
        answer
      )
    }
  }
]

/** Whether it is one of the names, or a slug, which another case judges. */
function isNameOf(text: string, id: string, identifier: string): boolean {
  return (
    text === identifier ||
    text.toLowerCase() === id.toLowerCase() ||
    /_(?:wf|st)_[0-9A-Za-z]+$/.test(text)
  )
}

const REFUSED = settled('Errors: what is malformed is a 4xx with the body of every refusal')

export const MALFORMED: readonly ConformanceCase[] = [
  {
    id: 'malformed.body',
    rule: 'A body that says it is JSON and is not is refused with 400.',
    basis: REFUSED,
    async run({ integrations }) {
      const { _id } = await integrations.one()
      const request = { headers: { 'content-type': 'application/json' }, body: '{' }
      checkStatus(await integrations.set(_id, request), 400)
    }
  },
  ...Object.entries({
    query: '/v1/messages?subscriberId=%zz',
    path: '/v2/workflows/%zz/steps/none'
  }).map(
    ([what, path]): ConformanceCase => ({
      id: `malformed.${what}`,
      rule: `A ${what} that can not be decoded is refused with 400${what === 'query' ? ', and without a key with 401' : ''}.`,
      basis: REFUSED,
      async run({ ask }) {
        const answer = await ask(path)
        checkStatus(answer, 400)
        check(
          isObject(answer.body) && answer.body.statusCode === 400,
          'statusCode is not 400',
          answer
        )
        if (what === 'query') checkStatus(await ask(path, { authorization: null }), 401)
      }
    })
  )
]

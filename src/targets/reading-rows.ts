import type { AssumptionId } from '../core/assumptions.js'
import { CHANNELS } from '../core/enums.js'
import { CONTEXT_KEY_PATTERN } from '../core/ids.js'
import { slugOf } from '../core/slug.js'
import { VENDOR_NAMES } from '../core/vendor-names.js'
import { EMBEDDED_FIELDS, type MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import {
  type Answer,
  CONTRACT_NAMES,
  isEnveloped,
  isObject,
  needed,
  pageOf,
  recordIn,
  setPrimaryPath,
  spelledNames,
  stepPath,
  unknownId
} from './answers.js'
import {
  aStep,
  checkFacts,
  EMPTY,
  type Evidence,
  hasOf,
  inDocument,
  isEmpty,
  isEmptyOrRefused,
  isOnOneSide,
  neither,
  type Position,
  positionOf,
  type Row
} from './row.js'

const UNKNOWN_WORKFLOW = [/^Workflow with id .* not found$/, /^Workflow cannot be found$/]

const inContract = (words: unknown) => String([words].flat().map((word) => CONTRACT_NAMES.get(word) ?? word))

/** Whether it is a field of an embedded subscriber that the deployed service leaves out. */
function isNotEmbedded(path: string): boolean {
  const [, name] = /[.]subscriber[.](\w+)$/.exec(path) ?? []
  return name !== undefined && !EMBEDDED_FIELDS.includes(name)
}

/** Throws `Failure` unless it is a validation error with these fields, their messages and values; in `live` with `general`. */
function checkFields(answer: Answer, position: Position, fields: string): void {
  positionOf(answer, { document: [422, /^Validation Error$/] }, true)
  const errors = Object.entries((answer.body as { errors?: Record<string, FieldErrors> }).errors ?? {})
  if (errors.some(([, { messages }]) => !Array.isArray(messages) || messages.some((each) => typeof each !== 'string')))
    throw neither('messages of errors is no list of texts', answer)
  const named = errors.map(([name, { value }]) => (position === 'live' ? name : `${name}=${value}`))
  const isRight = named.sort().join(' ') === (position === 'live' ? 'general' : fields)
  if (!isRight) throw neither('errors has other fields and values than those that are wrong', answer)
}

interface FieldErrors {
  messages?: unknown
  value?: unknown
}

/** The rows that show by reading. */
export const READING_ROWS = {
  envelope: {
    async probe(evidence) {
      const answer = await aStep(evidence)
      if (typeof recordIn<WorkflowStep>(answer).stepId !== 'string') throw neither('there is no step', answer)
      return isEnveloped(answer.body) ? 'live' : 'document'
    },
    documented: inDocument(/primary$|steps/, /^envelope$/)
  },
  'vendor-names': {
    async probe(evidence) {
      const { steps, sample } = evidence
      const seen = [steps(), sample(), aStep(evidence)].map((each) => each.catch(() => undefined))
      const { contract, vendor } = spelledNames(await Promise.all(seen))
      if (contract.length > 0 && vendor.length > 0) throw neither(`both ${contract[0]} and ${vendor[0]} are there`)
      needed(contract.length + vendor.length > 0, 'no origin and no provider that is spelled in two ways was seen')
      return vendor.length > 0 ? 'live' : 'document'
    },
    explains: ({ difference: { field, target, ours } }) =>
      /(^|[.])(origin|providerId)$/.test(field) &&
      Object.entries(VENDOR_NAMES).some((names) => names.includes(String(target)) && names.includes(String(ours))),
    documented: (_, what, { there, here }) => / words$/.test(what) && inContract(there) === inContract(here)
  },
  'unknown-channel-filter': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?channel=conformance')
      return positionOf(answer, { document: [422], live: [200, EMPTY] })
    },
    explains: (seen) =>
      isEmptyOrRefused(seen, 422) &&
      seen.query.getAll('channel').some((each) => each !== '' && !CHANNELS.includes(each as never)),
    documented: inDocument(/messages$/, /^parameter query channel words$/)
  },
  'unknown-subscriber-filter': {
    async probe({ ask }) {
      const id = unknownId()
      const answer = await ask(`/v1/messages?subscriberId=${id}`)
      const message = new RegExp(`^Subscriber not found for id ${id}$`)
      return positionOf(answer, { document: [200, EMPTY], live: [404, message] })
    },
    explains: (seen) => isEmptyOrRefused(seen, 404) && seen.query.has('subscriberId'),
    documented: inDocument(/messages$/, /^status 404$/)
  },
  'malformed-context-key': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?contextKeys=conformance')
      return positionOf(answer, { document: [422], live: [200, EMPTY] })
    },
    explains: (seen) =>
      isEmptyOrRefused(seen, 422) &&
      [...seen.query].some(
        ([name, value]) => /^contextKeys(\[\d*\])?$/.test(name) && !new RegExp(CONTEXT_KEY_PATTERN).test(value)
      )
  },
  'paging-bounds': {
    async probe({ ask }) {
      const least = await ask('/v1/messages?limit=0')
      const most = await ask('/v1/messages?limit=1001')
      const atLeast = positionOf(least, { document: [422], live: [200] }, true)
      const message = /^Limit can not be larger then 1000$/
      const atMost = positionOf(most, { document: [422], live: [400, message] }, true)
      if (atLeast !== atMost) throw neither('limit=0 is answered as in one position, limit=1001 as in the other', most)
      if (least.status === 200 && pageOf(least).pageSize !== 10) throw neither('pageSize is not 10', least)
      checkFields(await ask('/v1/messages?page=-1&limit=none'), atLeast, 'limit=none page=-1')
      // What fractions are answered in the other position is not known.
      if (atLeast === 'document')
        checkFields(await ask('/v1/messages?page=1.5&limit=1.5'), atLeast, 'limit=1.5 page=1.5')
      return atLeast
    },
    explains: ({ operation, query, statuses }) =>
      operation === 'list' &&
      !/^([1-9]\d{0,2}|1000)$/.test(query.get('limit') ?? '10') &&
      statuses.includes(422) &&
      (statuses.includes(400) || statuses.includes(200)),
    documented: inDocument(/messages$/, /^parameter query (page|limit) type$/)
  },
  'total-count': {
    async probe({ ask }) {
      const { totalCount, answer } = pageOf(await ask('/v1/messages?limit=1'))
      if (totalCount === undefined) return 'live'
      if (typeof totalCount !== 'number') throw neither('totalCount is no number', answer)
      return 'document'
    },
    explains: ({ operation, bodies, difference: { field } }) =>
      operation === 'list' &&
      bodies.filter(({ totalCount }) => totalCount === undefined).length === 1 &&
      // Without a total, it says so whenever the page is full.
      (field === 'totalCount' ||
        (field === 'hasMore' &&
          bodies.some(({ totalCount, hasMore }) => totalCount === undefined && hasMore === true))),
    documented: inDocument(/messages$/, /^body\.totalCount$/)
  },
  'unknown-step': {
    async probe({ ask, steps }) {
      const [{ workflowId = '' } = {}] = await steps()
      const answer = await ask(stepPath(workflowId, 'conformance-none'))
      const position = positionOf(answer, {
        document: [404, /^Step with id conformance-none not found$/],
        live: [400, /^No step found$/]
      })
      if (position === 'live') checkFacts(answer, { stepId: 'conformance-none', workflowId })
      return position
    },
    explains: ({ operation, statuses }) => operation === 'step' && hasOf(statuses, 400, 404),
    documented: inDocument(/steps/, /^status 400$/)
  },
  'unknown-workflow': {
    async probe({ ask }) {
      const workflowId = unknownId()
      const answer = await ask(stepPath(workflowId, 'none'))
      const position = positionOf(answer, {
        document: [404, new RegExp(`^Workflow with id ${workflowId} not found$`)],
        live: [404, /^Workflow cannot be found$/]
      })
      if (position === 'live') checkFacts(answer, { workflowId })
      return position
    },
    explains: ({ operation, statuses, bodies, difference: { field } }) =>
      operation === 'step' &&
      statuses.every((status) => status === 404) &&
      UNKNOWN_WORKFLOW.every((pattern) => bodies.some(({ message }) => pattern.test(String(message)))) &&
      /^(message|workflowId|ctx([.]workflowId)?)$/.test(field)
  },
  'control-values': {
    async probe(evidence) {
      const answer = await aStep(evidence)
      const { controls, controlValues } = recordIn<WorkflowStep & { controls: { values?: unknown } }>(answer)
      if (controls?.values === undefined) return 'document'
      const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
      if (!isSame) throw neither('controls.values is not controlValues', answer)
      return 'live'
    },
    explains: ({ operation, difference }) =>
      operation === 'step' &&
      isOnOneSide(difference) &&
      (/^(data[.])?controls[.]values$/.test(difference.field) ||
        (/^(data[.])?controlValues$/.test(difference.field) && isEmpty(difference.target ?? difference.ours))),
    documented: inDocument(/steps/, /^body\.controls\.values$/)
  },
  'unserved-route': {
    async probe({ ask }) {
      const missing = await ask('/v1/conformance')
      const path = positionOf(missing, { document: [501], live: [404, /^Cannot GET \/v1\/conformance$/] }, true)
      // By GET and of what is not there: nothing is lost by a target that serves more than the contract.
      const wrong = await ask(setPrimaryPath(unknownId()))
      const message = /^Cannot GET \/v1\/integrations\/\w+\/set-primary$/
      const method = positionOf(wrong, { document: [405], live: [404, message] }, true)
      if (path !== method) throw neither('the path is answered as in one position, the method as in the other', wrong)
      if (method === 'document' && !wrong.headers.get('allow')?.includes('POST')) {
        throw neither('the 405 has no Allow with POST', wrong)
      }
      return path
    },
    explains: ({ operation, statuses }) =>
      operation === 'none' && statuses.includes(404) && (statuses.includes(501) || statuses.includes(405))
  },
  'error-context': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { authorization: null })
      const ctx = isObject(answer.body) ? answer.body.ctx : undefined
      if (isEmpty(ctx)) return 'document'
      if (isObject(ctx) && ctx.statusCode === answer.status && typeof ctx.error === 'string') return 'live'
      throw neither('ctx is neither empty nor has error and statusCode', answer)
    },
    explains: ({ difference: { field } }) => /^ctx[.](error|statusCode)$/.test(field)
  },
  'embedded-subscriber': {
    async probe({ sample }) {
      const { messages } = await sample()
      const others = ({ subscriber }: MessageResponse) =>
        Object.keys(subscriber ?? {}).filter((name) => !EMBEDDED_FIELDS.includes(name))
      if (messages.some((each) => others(each).length > 0)) return 'document'
      const isCut = messages.some(({ subscriber, email }) => subscriber && email !== undefined)
      needed(isCut, 'no message has a subscriber that is known to have more than the ten fields')
      return 'live'
    },
    explains: ({ operation, difference }) =>
      operation === 'list' && isOnOneSide(difference) && isNotEmbedded(difference.field),
    documented: (_, what) => isNotEmbedded(what)
  },
  'step-lookup': {
    async probe({ ask, steps }) {
      const [{ step: { _id = '', slug = '', workflowId = '' } = {} } = {}] = await steps()
      needed(/^(?=.*[a-f])[0-9a-f]{24}$/.test(_id), 'no step has an _id of 24 hex digits with letters')
      const askBy = (stepId: string) => ask(stepPath(workflowId, stepId))
      const ofWorkflow = await askBy(slugOf('x', 'wf', _id))
      const areStrict = [await askBy(_id.toUpperCase()), await askBy(slugOf('', 'st', _id)), ofWorkflow].map(
        (answer) => (answer.status === 200) === (answer !== ofWorkflow)
      )
      const longer = await askBy(`${slug}0`)
      if (longer.status === 200) throw neither('a slug with a character more finds a step', longer)
      if (new Set(areStrict).size > 1) throw neither('ids and slugs are read as in either position', ofWorkflow)
      return areStrict[0] ? 'document' : 'live'
    },
    explains: ({ operation, statuses }) =>
      operation === 'step' && statuses.includes(200) && (statuses.includes(404) || statuses.includes(400))
  },
  'auth-scheme-case': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { scheme: 'apikey' })
      return positionOf(answer, { document: [200], live: [401, /^Invalid authentication scheme: "apikey"$/] })
    }
  }
} satisfies Partial<Record<AssumptionId, Row<Evidence>>>

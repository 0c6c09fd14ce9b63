import { randomUUID } from 'node:crypto'
import type { AssumptionId } from '../core/assumptions.js'
import { CHANNELS } from '../core/enums.js'
import { CONTEXT_KEY_PATTERN } from '../core/ids.js'
import { VENDOR_NAMES } from '../core/vendor-names.js'
import type { Integration } from '../integrations/schemas.js'
import { EMBEDDED_FIELDS, type MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { isEnveloped, isObject, NO_PRIMARY, pageOf, recordIn, setPrimaryPath, stepPath, unknownId } from './answers.js'
import { spelledNames } from './contract-names.js'
import { needed, Skipped } from './outcome.js'
import {
  checkFacts,
  EMPTY,
  hasNoMessages,
  hasOf,
  isEmpty,
  isList,
  isOnOneSide,
  isSetPrimary,
  isStep,
  neither,
  type Position,
  positionOf,
  type SeenDifference
} from './position-of.js'
import type { Answer, Ask } from './target.js'

export { nearestProfile, type Position } from './position-of.js'

interface Asking {
  ask(path: string, ask?: Ask): Promise<Answer>
}

/** What probes look at: a target, and what was found of its data. */
interface Evidence extends Asking {
  options: { foreignIntegration?: string | undefined }
  steps(): Promise<{ workflowId: string; stepId: string; step: WorkflowStep }[]>
  sample(): Promise<{ messages: MessageResponse[] }>
  integrations: {
    all(): Promise<{ answer: Answer; integration: Integration | undefined }[]>
    usable(): Promise<Integration[]>
    set(id: string, ask?: Ask): Promise<Answer>
  }
}

/** A row of the register, as far as it shows in what a target answers. */
interface Row<Source> {
  /** Returns the position that a target takes. Rejects with `Failure` when it takes none, `Skipped` when that can't be told. */
  probe(source: Source): Promise<Position>
  /** Whether the row is why two servers have answered a request differently. */
  explains?(seen: SeenDifference): boolean
}

/** The rows that show by reading, whatever the data of a target are. */
export const READING_ROWS = {
  'unknown-channel-filter': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?channel=conformance')
      return positionOf(answer, { document: [422], live: [200, EMPTY] })
    },
    explains: ({ url, statuses, bodies }) =>
      isList(url) &&
      hasNoMessages(bodies) &&
      url.searchParams.getAll('channel').some((each) => each !== '' && !CHANNELS.includes(each as never)) &&
      hasOf(statuses, 200, 422)
  },
  'unknown-subscriber-filter': {
    async probe({ ask }) {
      const id = unknownId()
      const answer = await ask(`/v1/messages?subscriberId=${id}`)
      const message = new RegExp(`^Subscriber not found for id ${id}$`)
      return positionOf(answer, { document: [200, EMPTY], live: [404, message] })
    },
    explains: ({ url, statuses, bodies }) =>
      isList(url) && url.searchParams.has('subscriberId') && hasOf(statuses, 200, 404) && hasNoMessages(bodies)
  },
  'malformed-context-key': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?contextKeys=conformance')
      return positionOf(answer, { document: [422], live: [200, EMPTY] })
    },
    explains: ({ url, statuses, bodies }) =>
      isList(url) &&
      hasNoMessages(bodies) &&
      [...url.searchParams].some(
        ([name, value]) => /^contextKeys(\[\d*\])?$/.test(name) && !new RegExp(CONTEXT_KEY_PATTERN).test(value)
      ) &&
      hasOf(statuses, 200, 422)
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
      return atLeast
    },
    explains: ({ url, statuses }) =>
      isList(url) &&
      !/^([1-9]\d{0,2}|1000)$/.test(url.searchParams.get('limit') ?? '10') &&
      (hasOf(statuses, 400, 422) || hasOf(statuses, 200, 422))
  },
  'total-count': {
    async probe({ ask }) {
      const { totalCount, answer } = pageOf(await ask('/v1/messages?limit=1'))
      if (totalCount === undefined) return 'live'
      if (typeof totalCount !== 'number') throw neither('totalCount is no number', answer)
      return 'document'
    },
    explains: ({ url, bodies, difference: { field } }) =>
      isList(url) &&
      bodies.filter(({ totalCount }) => totalCount === undefined).length === 1 &&
      // Without a total, it says so whenever the page is full.
      (field === 'totalCount' ||
        (field === 'hasMore' && bodies.some(({ totalCount, hasMore }) => totalCount === undefined && hasMore === true)))
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
    explains: ({ url, statuses, bodies, difference: { field } }) =>
      isStep(url) &&
      statuses.every((status) => status === 404) &&
      UNKNOWN_WORKFLOW.every((pattern) => bodies.some(({ message }) => pattern.test(String(message)))) &&
      /^(message|workflowId|ctx([.]workflowId)?)$/.test(field)
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
    explains: ({ url, statuses }) =>
      !isList(url) && !isStep(url) && !isSetPrimary(url) && (hasOf(statuses, 404, 501) || hasOf(statuses, 404, 405))
  },
  'error-context': {
    async probe({ ask }) {
      const answer = await ask('/v1/conformance')
      const ctx = isObject(answer.body) ? answer.body.ctx : undefined
      if (isEmpty(ctx)) return 'document'
      if (isObject(ctx) && ctx.statusCode === answer.status && typeof ctx.error === 'string') return 'live'
      throw neither('ctx is neither empty nor has error and statusCode', answer)
    },
    explains: ({ difference: { field } }) => /^ctx[.](error|statusCode)$/.test(field)
  },
  'auth-scheme-case': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { scheme: 'apikey' })
      return positionOf(answer, { document: [200], live: [401, /^Invalid authentication scheme: "apikey"$/] })
    }
  }
} satisfies Partial<Record<AssumptionId, Row<Asking>>>

/** All that is known of each row of the register: how to find out the position that a target takes, and what it explains. */
export const ROWS: Record<AssumptionId, Row<Evidence>> = {
  ...READING_ROWS,
  envelope: {
    probe: async (subject) => envelopePosition(await aStep(subject))
  },
  'vendor-names': {
    async probe(subject) {
      const seen = [await subject.steps().catch(orNothing), await subject.sample().catch(orNothing)]
      const position = vendorNamesPosition(seen)
      needed(position !== undefined, 'no origin and no provider that is spelled in two ways was seen')
      return position
    },
    explains: ({ difference: { field, target, ours } }) =>
      /(^|[.])(origin|providerId)$/.test(field) &&
      Object.entries(VENDOR_NAMES).some((names) => names.includes(String(target)) && names.includes(String(ours)))
  },
  'primary-channels': {
    async probe({ integrations }) {
      for (const { answer, integration } of await integrations.all()) {
        if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
        if (!integration) return positionOf(answer, { live: [400, NO_PRIMARY] })
      }
      throw new Skipped('no integration of another channel than email and sms is known')
    },
    explains: ({ url, statuses }) => isSetPrimary(url) && hasOf(statuses, 200, 400)
  },
  'integration-lookup': {
    async probe({ ask }) {
      const answer = await ask(setPrimaryPath('conformance-none'), { method: 'POST' })
      return positionOf(answer, { document: [404], live: [422] })
    },
    explains: ({ url, statuses }) => isSetPrimary(url) && (hasOf(statuses, 200, 422) || hasOf(statuses, 404, 422))
  },
  'foreign-integration': {
    async probe({ integrations, options }) {
      const id = options.foreignIntegration ?? ''
      needed(id !== '', 'no integration of another environment was named', '--foreign-integration <id>')
      return positionOf(await integrations.set(id), { document: [404], live: [403] })
    },
    explains: ({ url, statuses }) => isSetPrimary(url) && hasOf(statuses, 403, 404)
  },
  credentials: {
    async probe({ integrations }) {
      const shown = await integrations.usable()
      // That none are shown may be the other position, or their lack.
      const isAny = shown.some(
        ({ credentials, configurations }) =>
          !isEmpty(credentials ?? {}) || configurations?.inboundWebhookSigningKey !== undefined
      )
      needed(isAny, 'no credentials were shown: they are hidden, or there are none')
      return 'document'
    },
    explains: ({ url, bodies, difference }) =>
      isSetPrimary(url) &&
      isOnOneSide(difference) &&
      (/^(data[.])?configurations[.]inboundWebhookSigningKey$/.test(difference.field) ||
        (/^(data[.])?credentials\b/.test(difference.field) && bodies.some(({ credentials }) => isEmpty(credentials))))
  },
  'unknown-step': {
    async probe(subject) {
      const [{ workflowId = '' } = {}] = await subject.steps()
      return unknownStepPosition(subject, workflowId)
    },
    explains: ({ url, statuses }) => isStep(url) && hasOf(statuses, 400, 404)
  },
  'control-values': {
    probe: async (subject) => controlValuesPosition(await aStep(subject)),
    explains: ({ url, difference }) =>
      isStep(url) &&
      isOnOneSide(difference) &&
      (/^(data[.])?controls[.]values$/.test(difference.field) ||
        (/^(data[.])?controlValues$/.test(difference.field) && isEmpty(difference.target ?? difference.ours)))
  },
  'idempotency-match': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await integrations.set(unknownId(), { headers })
      const second = await integrations.set(unknownId(), { headers })
      const position = positionOf(second, { document: [422, /reused/], live: [first.status] })
      if (position === 'live' && second.text !== first.text) throw neither('it is answered afresh', second)
      return position
    }
  },
  'idempotency-quotes': {
    async probe({ integrations }) {
      const key = randomUUID()
      const answer = await integrations.set(unknownId(), { headers: { 'idempotency-key': `"${key}"` } })
      const told = answer.headers.get('idempotency-key')
      if (told !== key && told !== `"${key}"`)
        throw neither('the header idempotency-key is not that of the request', answer)
      return told === key ? 'document' : 'live'
    }
  },
  'idempotency-refusals': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const id = unknownId()
      await integrations.set(id, { headers })
      const answer = await integrations.set(id, { headers, body: 'another' })
      positionOf(answer, { document: [422, /reused/] })
      const hasErrors = isObject(answer.body) && answer.body.errors !== undefined
      if (hasErrors === answer.headers.has('link')) throw neither('it has either both errors and Link, or none', answer)
      return hasErrors ? 'document' : 'live'
    },
    explains: ({ url, difference: { field } }) => isSetPrimary(url) && field === 'errors'
  },
  'embedded-subscriber': {
    async probe(subject) {
      const { messages } = await subject.sample()
      const isWhole = messages.some(({ subscriber }) => subscriber && otherFieldsOf(subscriber).length > 0)
      const isCut = messages.some(({ subscriber, email }) => subscriber && email !== undefined)
      needed(isWhole || isCut, 'no message has a subscriber that is known to have more than the ten fields')
      return isWhole ? 'document' : 'live'
    },
    explains: ({ difference: { field } }) => {
      const [, name] = /(?:^|[.])subscriber[.](\w+)/.exec(field) ?? []
      return name !== undefined && !EMBEDDED_FIELDS.includes(name)
    }
  },
  'step-lookup': {
    async probe({ ask, steps }) {
      const [{ workflowId = '', step } = {}] = await steps()
      const id = /[a-f]/.test(step?._id ?? '') ? step?._id : undefined
      needed(id !== undefined, 'no step has an _id with letters')
      const answer = await ask(stepPath(workflowId, id.toUpperCase()))
      return answer.status === 400 ? 'live' : positionOf(answer, { document: [200], live: [404] })
    },
    explains: ({ url, statuses }) => isStep(url) && (hasOf(statuses, 200, 404) || hasOf(statuses, 200, 400))
  }
}

/** The position in `unknown-step`, by a workflow that there is. Throws `Failure` when it is neither. */
export async function unknownStepPosition({ ask }: Asking, workflowId: string): Promise<Position> {
  const answer = await ask(stepPath(workflowId, 'conformance-none'))
  const position = positionOf(answer, {
    document: [404, /^Step with id conformance-none not found$/],
    live: [400, /^No step found$/]
  })
  if (position === 'live') checkFacts(answer, { stepId: 'conformance-none', workflowId })
  return position
}

/** The position in `envelope`, by the answer to a step. Throws `Failure` when it is neither. */
export function envelopePosition(answer: Answer): Position {
  if (typeof recordIn<WorkflowStep>(answer).stepId !== 'string') throw neither('there is no step', answer)
  return isEnveloped(answer.body) ? 'live' : 'document'
}

/** The position in `control-values`, by the answer to a step. Throws `Failure` when it is neither. */
export function controlValuesPosition(answer: Answer): Position {
  const { controls, controlValues } = recordIn<WorkflowStep & { controls: { values?: unknown } }>(answer)
  if (controls?.values === undefined) return 'document'
  const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
  if (!isSame) throw neither('controls.values is not controlValues', answer)
  return 'live'
}

/** The position in `vendor-names`, by what a target answered; undefined when no such name is in it. */
export function vendorNamesPosition(seen: unknown): Position | undefined {
  const { contract, vendor } = spelledNames(seen)
  if (contract.length > 0 && vendor.length > 0) throw neither(`both ${contract[0]} and ${vendor[0]} are there`)
  return vendor.length > 0 ? 'live' : contract.length > 0 ? 'document' : undefined
}

const UNKNOWN_WORKFLOW = [/^Workflow with id .* not found$/, /^Workflow cannot be found$/]

async function aStep({ ask, steps }: Evidence): Promise<Answer> {
  const [{ workflowId = '', stepId = '' } = {}] = await steps()
  return ask(stepPath(workflowId, stepId))
}

function orNothing(): undefined {
  return undefined
}

const otherFieldsOf = (subscriber: object) => Object.keys(subscriber).filter((name) => !EMBEDDED_FIELDS.includes(name))

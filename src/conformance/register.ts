import { type AssumptionId, assumptionRow, type Profile, positionsOf } from '../core/assumptions.js'
import type { Integration } from '../integrations/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { isEnveloped, recordIn } from './answers.js'
import { spelledNames } from './contract-names.js'
import { setPrimaryPath } from './integrations.js'
import { Failure, needed } from './outcome.js'
import { stepPath } from './steps.js'
import type { Subject } from './subject.js'
import type { Answer } from './target.js'

/** The profile whose position it is. */
export type Position = Profile

/**
 * For each row of the register, how to find out which position a target takes. Throws `Failure` when it takes none of
 * them, and `Skipped` when it can't be told.
 */
const PROBES: Record<AssumptionId, (subject: Subject) => Promise<Position>> = {
  async envelope(subject) {
    const [{ workflowId = '', stepId = '' } = {}] = await subject.steps()
    const answer = await subject.ask(stepPath(workflowId, stepId))
    if (typeof recordIn<WorkflowStep>(answer).stepId !== 'string') throw neither(`${answer.request}: there is no step`)
    return isEnveloped(answer.json) ? 'live' : 'document'
  },
  async 'vendor-names'(subject) {
    const seen = [await subject.steps().catch(orNothing), await subject.sample().catch(orNothing)]
    const { contract, vendor } = spelledNames(seen)
    needed(contract.length + vendor.length > 0, 'no origin and no provider that is spelled in two ways was seen')
    if (contract.length > 0 && vendor.length > 0) throw neither(`both ${contract[0]} and ${vendor[0]} are there`)
    return vendor.length > 0 ? 'live' : 'document'
  },
  async 'primary-channels'({ integrations }) {
    const all = await integrations.all()
    for (const { answer, integration } of all) {
      if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
      if (!integration) return positionOf(answer, { live: [400, /^Channel .+ does not support primary$/] })
    }
    needed(false, 'no integration of another channel than email and sms was named')
    throw new Error('unreachable')
  },
  async 'integration-lookup'({ ask }) {
    const answer = await ask(setPrimaryPath('conformance-none'), { method: 'POST' })
    return positionOf(answer, { document: [404], live: [422] })
  },
  async 'foreign-integration'({ integrations, options }) {
    const id = options.foreignIntegration ?? ''
    needed(id !== '', 'no integration of another environment was named with --foreign-integration')
    return positionOf(await integrations.set(id), { document: [404], live: [403] })
  },
  async credentials({ integrations }) {
    const all = await integrations.all()
    const shown = all.flatMap(({ integration }) => (integration ? [integration] : []))
    needed(shown.length > 0, 'no integration that was named can be primary')
    // That none are shown may be the other position, or their lack.
    needed(shown.some(hasCredentials), 'no credentials were shown: they are hidden, or there are none')
    return 'document'
  },
  async 'unknown-channel-filter'({ ask }) {
    const answer = await ask('/v1/messages?channel=conformance')
    return positionOf(answer, { document: [422], live: [200, EMPTY] })
  },
  async 'unknown-subscriber-filter'({ ask, unknownId }) {
    const id = unknownId()
    const answer = await ask(`/v1/messages?subscriberId=${id}`)
    return positionOf(answer, {
      document: [200, EMPTY],
      live: [404, new RegExp(`^Subscriber not found for id ${id}$`)]
    })
  },
  async 'malformed-context-key'({ ask }) {
    const answer = await ask('/v1/messages?contextKeys=conformance')
    return positionOf(answer, { document: [422], live: [200, EMPTY] })
  },
  async 'paging-bounds'({ ask }) {
    const least = await ask('/v1/messages?limit=0')
    const most = await ask('/v1/messages?limit=1001')
    const atLeast = positionOf(least, { document: [422], live: [200] })
    const atMost = positionOf(most, { document: [422], live: [400, /^Limit can not be larger then 1000$/] })
    if (atLeast !== atMost) throw neither('limit=0 is answered as in one position, limit=1001 as in the other')
    const { pageSize } = least.status === 200 ? (least.json as { pageSize?: unknown }) : { pageSize: 10 }
    if (pageSize !== 10) throw neither(`${least.request}: pageSize is ${pageSize}, must be 10`)
    return atLeast
  },
  async 'total-count'({ list }) {
    const { totalCount, answer } = await list([['limit', 1]])
    if (totalCount === undefined) return 'live'
    if (typeof totalCount !== 'number') throw neither(`${answer.request}: totalCount is no number`)
    return 'document'
  },
  async 'unknown-step'({ ask, steps }) {
    const [{ workflowId = '' } = {}] = await steps()
    const answer = await ask(stepPath(workflowId, 'conformance-none'))
    const position = positionOf(answer, {
      document: [404, /^Step with id conformance-none not found$/],
      live: [400, /^No step found$/]
    })
    if (position === 'live') checkFacts(answer, { stepId: 'conformance-none', workflowId })
    return position
  },
  async 'unknown-workflow'({ ask, unknownId }) {
    const workflowId = unknownId()
    const answer = await ask(stepPath(workflowId, 'none'))
    const position = positionOf(answer, {
      document: [404, new RegExp(`^Workflow with id ${workflowId} not found$`)],
      live: [404, /^Workflow cannot be found$/]
    })
    if (position === 'live') checkFacts(answer, { workflowId })
    return position
  },
  async 'control-values'({ steps, ask }) {
    const [{ workflowId = '', stepId = '' } = {}] = await steps()
    const answer = await ask(stepPath(workflowId, stepId))
    const { controls, controlValues } = recordIn<WorkflowStep & { controls: { values?: unknown } }>(answer)
    if (controls?.values === undefined) return 'document'
    const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
    if (!isSame) throw neither(`${answer.request}: controls.values is not controlValues`)
    return 'live'
  },
  async 'idempotency-match'({ ask, unknownId, random }) {
    const headers = { 'idempotency-key': random.uuid() }
    const first = await ask(setPrimaryPath(unknownId()), { method: 'POST', headers })
    const second = await ask(setPrimaryPath(unknownId()), { method: 'POST', headers })
    const position = positionOf(second, { document: [422, /reused/], live: [first.status] })
    if (position === 'live' && second.text !== first.text) throw neither(`${second.request}: it is answered afresh`)
    return position
  },
  async 'unserved-route'({ ask, unknownId }) {
    const positions = { document: [501], live: [404, /^Cannot GET \/v1\/conformance$/] } as const
    const path = positionOf(await ask('/v1/conformance'), positions)
    // By GET and of what is not there: nothing is lost by a target that serves more than the contract.
    const wrong = await ask(setPrimaryPath(unknownId()))
    const method = positionOf(wrong, {
      document: [405],
      live: [404, /^Cannot GET \/v1\/integrations\/\w+\/set-primary$/]
    })
    if (path !== method) throw neither('the path is answered as in one position, the method as in the other')
    if (method === 'document' && !wrong.headers.get('allow')?.includes('POST')) {
      throw neither(`${wrong.request}: the 405 has no Allow with POST`)
    }
    return path
  },
  async 'auth-scheme-case'({ ask }) {
    const { status, request, json } = await ask('/v1/messages?limit=1', { scheme: 'apikey' })
    if (status === 200) return 'document'
    const message = status === 401 ? (json as { message?: unknown } | null)?.message : undefined
    if (message !== 'Invalid authentication scheme: "apikey"')
      throw neither(`${request} with "apikey": status ${status}`)
    return 'live'
  }
}

/**
 * Returns the position that a target takes in a row. Rejects with `Failure` when it takes none, and with `Skipped` when
 * that can't be told.
 */
export function probe(id: AssumptionId, subject: Subject): Promise<Position> {
  return PROBES[id](subject)
}

export function rowSentence(id: AssumptionId): string {
  const { values } = assumptionRow(id)
  const sides = positionsOf(id).map((position) => (values as Record<string, string>)[position])
  return `${assumptionRow(id).sentence} Either ${sides.join('; or ')}.`
}

const EMPTY = Symbol('an empty page')
type Expected = readonly [status: number, what?: RegExp | typeof EMPTY]

/** Returns the position whose answer it is: of its status, and its message or an empty page. */
function positionOf(answer: Answer, positions: Partial<Record<Position, Expected>>): Position {
  for (const [position, [status, what]] of Object.entries(positions)) {
    if (answer.status === status && matches(answer, what)) return position as Position
  }
  const statuses = Object.values(positions).map(([status]) => status)
  throw neither(
    `${answer.request}: status ${answer.status}, must be ${[...new Set(statuses)].join(' or ')} as documented`
  )
}

function matches(answer: Answer, what: Expected[1]): boolean {
  if (what === undefined) return true
  const json = answer.json as { message?: unknown; data?: unknown; hasMore?: unknown } | null
  if (what !== EMPTY) return what.test(String(json?.message))
  return Array.isArray(json?.data) && json.data.length === 0 && json.hasMore === false
}

function checkFacts(answer: Answer, facts: Record<string, string>): void {
  const body = answer.json as Record<string, unknown> & { ctx?: Record<string, unknown> }
  for (const [name, value] of Object.entries(facts)) {
    if (body[name] !== value || body.ctx?.[name] !== value)
      throw neither(`${answer.request}: ${name} is not there twice`)
  }
}

function hasCredentials({ credentials, configurations }: Integration): boolean {
  return Object.keys(credentials ?? {}).length > 0 || configurations?.inboundWebhookSigningKey !== undefined
}

function neither(problem: string): Failure {
  return new Failure(`neither position: ${problem}`)
}

function orNothing(): undefined {
  return undefined
}

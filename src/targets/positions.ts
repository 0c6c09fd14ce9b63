import type { AssumptionId, Profile } from '../core/assumptions.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { isEnveloped, isObject, pageOf, recordIn, setPrimaryPath, stepPath, unknownId } from './answers.js'
import { spelledNames } from './contract-names.js'
import { Failure } from './outcome.js'
import type { Answer, Ask } from './target.js'

/** The profile whose position in a row of the register it is. */
export type Position = Profile

interface Asking {
  ask(path: string, ask?: Ask): Promise<Answer>
}

/**
 * For each row of the register that shows by reading, whatever the data of a target are, how to find out which position it
 * takes. Throws `Failure` when it takes none of them.
 */
export const READING_PROBES = {
  async 'unknown-channel-filter'({ ask }) {
    const answer = await ask('/v1/messages?channel=conformance')
    return positionOf(answer, { document: [422], live: [200, EMPTY] })
  },
  async 'unknown-subscriber-filter'({ ask }) {
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
    const pageSize = least.status === 200 ? pageOf(least).pageSize : 10
    if (pageSize !== 10) throw neither(`${least.request}: pageSize is ${pageSize}, must be 10`)
    return atLeast
  },
  async 'total-count'({ ask }) {
    const { totalCount, answer } = pageOf(await ask('/v1/messages?limit=1'))
    if (totalCount === undefined) return 'live'
    if (typeof totalCount !== 'number') throw neither(`${answer.request}: totalCount is no number`)
    return 'document'
  },
  async 'unknown-workflow'({ ask }) {
    const workflowId = unknownId()
    const answer = await ask(stepPath(workflowId, 'none'))
    const position = positionOf(answer, {
      document: [404, new RegExp(`^Workflow with id ${workflowId} not found$`)],
      live: [404, /^Workflow cannot be found$/]
    })
    if (position === 'live') checkFacts(answer, { workflowId })
    return position
  },
  async 'unserved-route'({ ask }) {
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
    const answer = await ask('/v1/messages?limit=1', { scheme: 'apikey' })
    const { status, request } = answer
    if (status === 200) return 'document'
    if (status !== 401 || messageIn(answer) !== 'Invalid authentication scheme: "apikey"')
      throw neither(`${request} with "apikey": status ${status}`)
    return 'live'
  }
} satisfies Partial<Record<AssumptionId, (asking: Asking) => Promise<Position>>>

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
  if (typeof recordIn<WorkflowStep>(answer).stepId !== 'string') throw neither(`${answer.request}: there is no step`)
  return isEnveloped(answer.body) ? 'live' : 'document'
}

/** The position in `control-values`, by the answer to a step. Throws `Failure` when it is neither. */
export function controlValuesPosition(answer: Answer): Position {
  const { controls, controlValues } = recordIn<WorkflowStep & { controls: { values?: unknown } }>(answer)
  if (controls?.values === undefined) return 'document'
  const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
  if (!isSame) throw neither(`${answer.request}: controls.values is not controlValues`)
  return 'live'
}

/** The position in `vendor-names`, by what a target answered; undefined when no such name is in it. */
export function vendorNamesPosition(seen: unknown): Position | undefined {
  const { contract, vendor } = spelledNames(seen)
  if (contract.length > 0 && vendor.length > 0) throw neither(`both ${contract[0]} and ${vendor[0]} are there`)
  return vendor.length > 0 ? 'live' : contract.length > 0 ? 'document' : undefined
}

/** Returns the profile that most of the positions are of: `document`, when as many are of either. */
export function nearestProfile(positions: readonly Position[]): Position {
  const live = positions.filter((position) => position === 'live').length
  return live > positions.length - live ? 'live' : 'document'
}

/** That the answer is a page without messages. */
const EMPTY = Symbol('an empty page')
type Expected = readonly [status: number, what?: RegExp | typeof EMPTY]

/** Returns the position whose answer it is: of its status, and its message or an empty page. */
export function positionOf(answer: Answer, positions: Partial<Record<Position, Expected>>): Position {
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
  if (what !== EMPTY) return what.test(String(messageIn(answer)))
  const { body } = answer
  return isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false
}

function messageIn({ body }: Answer): unknown {
  return isObject(body) ? body.message : undefined
}

function checkFacts({ body, request }: Answer, facts: Record<string, string>): void {
  for (const [name, value] of Object.entries(facts)) {
    const isTwice = isObject(body) && body[name] === value && isObject(body.ctx) && body.ctx[name] === value
    if (!isTwice) throw neither(`${request}: ${name} is not there twice`)
  }
}

export function neither(problem: string): Failure {
  return new Failure(`neither position: ${problem}`)
}

import { randomUUID } from 'node:crypto'
import {
  type AssumptionId,
  describeAssumption,
  type Profile,
  VENDOR_NAMES
} from '../domain/assumptions.js'
import { CHANNELS } from '../domain/enums.js'
import { StartError } from '../domain/errors.js'
import { CONTEXT_KEY_PATTERN, slugOf } from '../domain/ids.js'
import { EMBEDDED_FIELDS } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import { CONTRACT_NAMES } from './contract-names.js'
import { setPrimaryPath, stepPath, unknownId } from './paths.js'
import {
  type Answer,
  isEnveloped,
  isObject,
  NO_PRIMARY,
  needed,
  pageOf,
  recordIn,
  Skipped
} from './response-checks.js'
import type { Row, SeenDifference } from './row.js'
import {
  askStep,
  differ,
  inDocument,
  isEmpty,
  isEmptyPage,
  isOnOneSide,
  neither,
  positionOf,
  probeOf
} from './row.js'
import type { Subject } from './service-under-test.js'

const NOBODY = unknownId()
const NO_SUBSCRIBER = new RegExp(`^Subscriber not found for id ${NOBODY}$`)
const WRONG_SCHEME = /^Invalid authentication scheme: "apikey"$/

/** The rows that show by reading. */
const READING_ROWS = {
  envelope: {
    async probe(evidence) {
      const answer = await askStep(evidence)
      if (typeof recordIn<WorkflowStep>(answer).stepId !== 'string')
        throw neither('there is no step', answer)
      return isEnveloped(answer.body) ? 'live' : 'document'
    },
    documented: inDocument(/primary$|steps/, /^envelope$/)
  },
  'vendor-names': {
    async probe(evidence) {
      const seen = [evidence.steps(), evidence.sample(), askStep(evidence)].map((each) =>
        each.catch(() => undefined)
      )
      const spelled = JSON.stringify(await Promise.all(seen)).matchAll(
        /"(?:origin|providerId)":"([^"]*)"/g
      )
      const names = [...spelled].map(([, name = '']) => name)
      const vendor = names.find((name) => CONTRACT_NAMES.has(name))
      const contract = names.find((name) => Object.hasOwn(VENDOR_NAMES, name))
      if (contract && vendor) throw neither(`both ${contract} and ${vendor} are there`)
      needed(
        Boolean(contract ?? vendor),
        'no origin and no provider that is spelled in two ways was seen'
      )
      return vendor ? 'live' : 'document'
    },
    explains: ({ difference: { field, target, ours } }) =>
      /(^|[.])(origin|providerId)$/.test(field) &&
      Object.entries(VENDOR_NAMES).some(
        (names) => names.includes(String(target)) && names.includes(String(ours))
      ),
    documented: (_, what, { there, here }) =>
      / words$/.test(what) && inContract(there) === inContract(here)
  },
  'unknown-channel-filter': {
    probe: probeOf('/v1/messages?channel=conformance', {
      document: [422],
      live: [200, isEmptyPage]
    }),
    explains: (seen) =>
      isEmptyOrRefused(seen, 422) &&
      seen.query.getAll('channel').some((each) => each !== '' && !CHANNELS.includes(each as never)),
    documented: inDocument(/messages$/, /^parameter query channel words$/)
  },
  'unknown-subscriber-filter': {
    probe: probeOf(`/v1/messages?subscriberId=${NOBODY}`, {
      document: [200, isEmptyPage],
      live: [404, NO_SUBSCRIBER]
    }),
    explains: (seen) => isEmptyOrRefused(seen, 404) && seen.query.has('subscriberId'),
    documented: inDocument(/messages$/, /^status 404$/)
  },
  'malformed-context-key': {
    probe: probeOf('/v1/messages?contextKeys=conformance', {
      document: [422],
      live: [200, isEmptyPage]
    }),
    explains: (seen) =>
      isEmptyOrRefused(seen, 422) &&
      [...seen.query].some(
        ([name, value]) =>
          /^contextKeys(\[\d*\])?$/.test(name) && !new RegExp(CONTEXT_KEY_PATTERN).test(value)
      )
  },
  'paging-bounds': {
    async probe({ ask }) {
      const least = await ask('/v1/messages?limit=0')
      const most = await ask('/v1/messages?limit=1001')
      const position = positionOf(least, { document: [422], live: [200] }, true)
      const message = /^Limit can not be larger then 1000$/
      const isSame = positionOf(most, { document: [422], live: [400, message] }, true) === position
      if (!isSame)
        throw neither('limit=0 is answered as in one position, limit=1001 as in the other', most)
      if (least.status === 200 && pageOf(least).pageSize !== 10)
        throw neither('pageSize is not 10', least)
      checkFields(await ask('/v1/messages?page=-1&limit=none'), position, 'limit=none page=-1')
      // What fractions are answered in the other position is not known.
      if (position === 'document')
        checkFields(await ask('/v1/messages?page=1.5&limit=1.5'), position, 'limit=1.5 page=1.5')
      return position
    },
    explains: (seen) =>
      differ('list', 422, 400, 200)(seen) &&
      !/^([1-9]\d{0,2}|1000)$/.test(seen.query.get('limit') ?? '10'),
    documented: inDocument(/messages$/, /^parameter query (page|limit) type$/)
  },
  'total-count': {
    async probe({ ask }) {
      const { totalCount, answer } = pageOf(await ask('/v1/messages?limit=1'))
      if (totalCount === undefined) return 'live'
      if (typeof totalCount !== 'number') throw neither('totalCount is no number', answer)
      return 'document'
    },
    explains({ operation, bodies, difference: { field } }) {
      const [without, ...others] = bodies.filter(({ totalCount }) => totalCount === undefined)
      if (operation !== 'list' || !without || others.length > 0) return false
      // Without a total, it says so whenever the page is full.
      return field === 'totalCount' || (field === 'hasMore' && without.hasMore === true)
    },
    documented: inDocument(/messages$/, /^body\.totalCount$/)
  },
  'unknown-step': {
    async probe(evidence) {
      const [stepId, [{ workflowId = '' } = {}]] = ['conformance-none', await evidence.steps()]
      const answer = await askStep(evidence, stepId)
      const message = /^Step with id conformance-none not found$/
      const positions = { document: [404, message], live: [400, /^No step found$/] } as const
      return checkFacts(answer, { stepId, workflowId }, positionOf(answer, positions))
    },
    explains: differ('step', 400, 404),
    documented: inDocument(/steps/, /^status 400$/)
  },
  'unknown-workflow': {
    async probe({ ask }) {
      const workflowId = unknownId()
      const answer = await ask(stepPath(workflowId, 'none'))
      const message = new RegExp(`^Workflow with id ${workflowId} not found$`)
      const positions = {
        document: [404, message],
        live: [404, /^Workflow cannot be found$/]
      } as const
      return checkFacts(answer, { workflowId }, positionOf(answer, positions))
    },
    explains: ({ operation, statuses, bodies, difference: { field } }) =>
      operation === 'step' &&
      statuses.every((status) => status === 404) &&
      UNKNOWN_WORKFLOW.every((pattern) =>
        bodies.some(({ message }) => pattern.test(String(message)))
      ) &&
      /^(message|workflowId|ctx([.]workflowId)?)$/.test(field)
  },
  'control-values': {
    async probe(evidence) {
      const answer = await askStep(evidence)
      const { controls, controlValues } = recordIn<
        WorkflowStep & { controls: { values?: unknown } }
      >(answer)
      if (controls?.values === undefined) return 'document'
      const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
      if (!isSame) throw neither('controls.values is not controlValues', answer)
      return 'live'
    },
    explains: ({ operation, difference }) =>
      operation === 'step' &&
      isOnOneSide(difference) &&
      (/^(data[.])?controls[.]values$/.test(difference.field) ||
        (/^(data[.])?controlValues$/.test(difference.field) &&
          isEmpty(difference.target ?? difference.ours))),
    documented: inDocument(/steps/, /^body\.controls\.values$/)
  },
  'unserved-route': {
    async probe({ ask }) {
      const missing = await ask('/v1/conformance')
      const path = positionOf(
        missing,
        { document: [501], live: [404, /^Cannot GET \/v1\/conformance$/] },
        true
      )
      // By GET and of what is not there: nothing is lost by a target that serves more than the contract.
      const wrong = await ask(setPrimaryPath(unknownId()))
      const message = /^Cannot GET \/v1\/integrations\/\w+\/set-primary$/
      const method = positionOf(wrong, { document: [405], live: [404, message] }, true)
      if (path !== method)
        throw neither('the path is answered as in one position, the method as in the other', wrong)
      const isAllowed = method === 'live' || wrong.headers.get('allow')?.includes('POST')
      if (!isAllowed) throw neither('the 405 has no Allow with POST', wrong)
      return path
    },
    explains: differ('none', 404, 501, 405)
  },
  'error-context': {
    async probe({ ask }) {
      const answer = await ask('/v1/messages?limit=1', { authorization: null })
      const ctx = isObject(answer.body) ? answer.body.ctx : undefined
      if (isEmpty(ctx)) return 'document'
      if (isObject(ctx) && ctx.statusCode === answer.status && typeof ctx.error === 'string')
        return 'live'
      throw neither('ctx is neither empty nor has error and statusCode', answer)
    },
    explains: ({ difference: { field } }) => /^ctx[.](error|statusCode)$/.test(field)
  },
  'embedded-subscriber': {
    async probe({ sample }) {
      const { messages } = await sample()
      const names = messages.flatMap(({ subscriber }) => Object.keys(subscriber ?? {}))
      if (names.some((name) => !EMBEDDED_FIELDS.includes(name))) return 'document'
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
      needed(
        /^(?=.*[a-f])[0-9a-f]{24}$/.test(_id),
        'no step has an _id of 24 hex digits with letters'
      )
      const isFound = async (stepId: string) =>
        (await ask(stepPath(workflowId, stepId))).status === 200
      if (await isFound(`${slug}0`)) throw neither('a slug with a character more finds a step')
      // Capitals, a slug without a name, and one of another kind, which is found by who decodes any.
      const isStrict = await isFound(_id.toUpperCase())
      const others = [
        await isFound(slugOf('', 'st', _id)),
        !(await isFound(slugOf('x', 'wf', _id)))
      ]
      if (others.some((other) => other !== isStrict))
        throw neither('ids and slugs are read as in either position')
      return isStrict ? 'document' : 'live'
    },
    explains: differ('step', 200, 404, 400)
  },
  'auth-scheme-case': {
    probe: probeOf(
      '/v1/messages?limit=1',
      { document: [200], live: [401, WRONG_SCHEME] },
      { scheme: 'apikey' }
    )
  }
} satisfies Partial<Record<AssumptionId, Row>>

/** All that is known of each row of the register: how to find out the position that a target takes, and what it explains. */
export const ROWS: Record<AssumptionId, Row> = {
  ...READING_ROWS,
  'primary-channels': {
    async probe({ integrations }) {
      for (const { answer, integration } of await integrations.all()) {
        if (integration && !['email', 'sms'].includes(integration.channel)) return 'document'
        if (!integration) return positionOf(answer, { live: [400, NO_PRIMARY] })
      }
      throw new Skipped('no integration of another channel than email and sms is known')
    },
    explains: differ('set-primary', 200, 400)
  },
  'integration-lookup': {
    probe: probeOf(
      setPrimaryPath('conformance-none'),
      { document: [404], live: [422] },
      { method: 'POST' }
    ),
    explains: differ('set-primary', 422, 200, 404),
    documented: inDocument(/primary$/, /^status 422$/)
  },
  'foreign-integration': {
    async probe({ integrations, options }) {
      const id = options.foreignIntegration ?? ''
      needed(
        id !== '',
        'no integration of another environment was named',
        '--foreign-integration <id>'
      )
      return positionOf(await integrations.set(id), { document: [404], live: [403] })
    },
    explains: differ('set-primary', 403, 404),
    documented: inDocument(/primary$/, /^status 403$/)
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
    explains: ({ operation, bodies, difference }) =>
      operation === 'set-primary' &&
      isOnOneSide(difference) &&
      (/^(data[.])?configurations[.]inboundWebhookSigningKey$/.test(difference.field) ||
        (/^(data[.])?credentials\b/.test(difference.field) &&
          bodies.some(({ credentials }) => isEmpty(credentials)))),
    documented: inDocument(/primary$/, /^body\.credentials\b|\.inboundWebhookSigningKey$/)
  },
  'idempotency-match': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const first = await integrations.set(unknownId(), { headers })
      const second = await integrations.set(unknownId(), { headers })
      const position = positionOf(second, { document: [422, /reused/], live: [first.status] })
      if (position === 'live' && second.text !== first.text)
        throw neither('it is answered afresh', second)
      return position
    }
  },
  'idempotency-quotes': {
    async probe({ integrations }) {
      const key = randomUUID()
      const answer = await integrations.set(unknownId(), {
        headers: { 'idempotency-key': `"${key}"` }
      })
      const told = answer.headers.get('idempotency-key')
      if (told !== key && told !== `"${key}"`)
        throw neither('Idempotency-Key is not that of the request', answer)
      return told === key ? 'document' : 'live'
    }
  },
  'idempotency-rejections': {
    async probe({ integrations }) {
      const headers = { 'idempotency-key': randomUUID() }
      const id = unknownId()
      await integrations.set(id, { headers })
      const answer = await integrations.set(id, { headers, body: 'another' })
      positionOf(answer, { document: [422, /reused/] }, true)
      const hasErrors = isObject(answer.body) && answer.body.errors !== undefined
      if (hasErrors === answer.headers.has('link'))
        throw neither('it has both errors and Link, or neither', answer)
      return hasErrors ? 'document' : 'live'
    },
    explains: ({ operation, difference: { field } }) =>
      operation === 'set-primary' && field === 'errors',
    documented: inDocument(/primary$/, /^status 4\d\d header link$/)
  }
}

/** The positions that a target was seen to take. */
export type Positions = Partial<Record<AssumptionId, Profile>>

/** Finds out the position that a target takes in each row that shows by reading. What is neither position shows nothing. */
export async function readPositions(subject: Subject): Promise<Positions> {
  const found: Positions = {}
  for (const [id, { probe }] of Object.entries(READING_ROWS)) {
    const position = await probe(subject).catch((error: Error) => {
      if (error instanceof StartError) throw error
    })
    if (position) found[id as AssumptionId] = position
  }
  return found
}

/** Returns positions as the register calls them. */
export function namesOf(positions: Positions): Record<string, string> {
  const entries = Object.entries(positions) as [AssumptionId, Profile][]
  return Object.fromEntries(entries.map(([id, position]) => [id, describeAssumption(id)[position]]))
}

/** Returns the profile that most of the positions are of: `document`, when as many are of either. */
export function nearestProfile(positions: readonly Profile[]): Profile {
  return 2 * positions.filter((position) => position === 'live').length > positions.length
    ? 'live'
    : 'document'
}

const UNKNOWN_WORKFLOW = [/^Workflow with id .* not found$/, /^Workflow cannot be found$/]

const inContract = (words: unknown) =>
  String([words].flat().map((word) => CONTRACT_NAMES.get(word) ?? word))

/** Whether one of the answers is a page without messages, and the other is refused with this status. */
const isEmptyOrRefused = (seen: SeenDifference, status: number) =>
  differ('list', 200, status)(seen) &&
  seen.bodies.some(({ data }) => Array.isArray(data) && data.length === 0)

/** Whether it is a field of an embedded subscriber that the deployed service leaves out. */
function isNotEmbedded(path: string): boolean {
  const [, name] = /[.]subscriber[.](\w+)$/.exec(path) ?? []
  return name !== undefined && !EMBEDDED_FIELDS.includes(name)
}

/** Returns the position. Throws `Failure` unless a refusal in `live` has each of these at the top level and in `ctx`. */
function checkFacts(answer: Answer, facts: Record<string, string>, position: Profile): Profile {
  const { ctx, ...top } = isObject(answer.body) ? answer.body : {}
  for (const [name, value] of Object.entries(facts)) {
    const isTwice = top[name] === value && isObject(ctx) && ctx[name] === value
    if (position === 'live' && !isTwice) throw neither(`${name} is not there twice`, answer)
  }
  return position
}

/** Throws `Failure` unless it is a validation error with these fields, their messages and values; in `live` with `general`. */
function checkFields(answer: Answer, position: Profile, fields: string): void {
  positionOf(answer, { document: [422, /^Validation Error$/] }, true)
  const { errors = {} } = answer.body as {
    errors?: Record<string, { messages?: unknown; value?: unknown }>
  }
  const areTexts = ({ messages }: { messages?: unknown }) =>
    Array.isArray(messages) && messages.every((each) => typeof each === 'string')
  if (!Object.values(errors).every(areTexts))
    throw neither('messages of errors is no list of texts', answer)
  const named = Object.entries(errors).map(([name, { value }]) =>
    position === 'live' ? name : `${name}=${value}`
  )
  const isRight = named.sort().join(' ') === (position === 'live' ? 'general' : fields)
  if (!isRight)
    throw neither('errors has other fields and values than those that are wrong', answer)
}

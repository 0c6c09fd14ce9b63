import { type AssumptionId, VENDOR_NAMES } from '../../domain/assumptions.js'
import { CHANNELS } from '../../domain/enums.js'
import { CONTEXT_KEY_PATTERN, slugOf } from '../../domain/ids.js'
import { EMBEDDED_FIELDS, MESSAGE_EXTRAS } from '../../messages/schemas.js'
import { isObject } from '../../schema/validation.js'
import type { WorkflowStep } from '../../workflow-steps/schemas.js'
import { DOCUMENTED_NAMES } from '../documented-names.js'
import { setPrimaryPath, stepPath, unknownId } from '../paths.js'
import { isEnveloped, readPage, readRecord, skipUnless } from '../response-checks.js'
import type { ServiceUnderTest } from '../service-under-test.js'
import {
  type AssumptionProbe,
  detectByRequest,
  explainStatuses,
  isEmpty,
  isEmptyPage,
  isOnOneSide,
  matchProfile,
  type ObservedDifference,
  requestStep,
  unexpectedResponse
} from './assumption-probe.js'
import { checkFactsTwice, checkFieldErrors } from './probed-errors.js'

const EXTRA_NAMES = Object.keys(MESSAGE_EXTRAS).join('|')
const EXTRA_FIELD = new RegExp(`^data\\[[^\\]]*\\][.](${EXTRA_NAMES})$`)
const UNKNOWN_SUBSCRIBER = unknownId()
const SUBSCRIBER_NOT_FOUND = new RegExp(`^Subscriber not found for id ${UNKNOWN_SUBSCRIBER}$`)
const WRONG_SCHEME = /^Invalid authentication scheme: "apikey"$/
const UNKNOWN_WORKFLOW = [/^Workflow with id .* not found$/, /^Workflow cannot be found$/]

/** The probes that don't change the target. */
export const readOnlyProbes = {
  envelope: {
    async detect(service) {
      const response = await requestStep(service)
      const { stepId } = readRecord<WorkflowStep>(response)
      if (typeof stepId !== 'string')
        throw unexpectedResponse('the response contains no step', response)
      return isEnveloped(response.body) ? 'live' : 'document'
    }
  },
  'vendor-names': {
    async detect(service) {
      const names = await originsAndProviders(service)
      const vendor = names.find((name) => DOCUMENTED_NAMES.has(name))
      const documented = names.find((name) => Object.hasOwn(VENDOR_NAMES, name))
      if (documented && vendor)
        throw unexpectedResponse(
          `the data has the API reference's name ${documented} and Novu's own name ${vendor}`
        )
      skipUnless(
        Boolean(documented ?? vendor),
        'the data has no origin or provider that Novu and the API reference spell differently'
      )
      return vendor ? 'live' : 'document'
    },
    explainsResponse: ({ difference: { field, target, ours } }) =>
      /(^|[.])(origin|providerId)$/.test(field) &&
      Object.entries(VENDOR_NAMES).some(
        (names) => names.includes(String(target)) && names.includes(String(ours))
      )
  },
  'unknown-channel-filter': {
    detect: detectByRequest('/v1/messages?channel=conformance', {
      document: [422],
      live: [200, isEmptyPage]
    }),
    explainsResponse: (observed) =>
      isEmptyOrRejected(observed, 422) && observed.query.getAll('channel').some(isUnknownChannel)
  },
  'unknown-subscriber-filter': {
    detect: detectByRequest(`/v1/messages?subscriberId=${UNKNOWN_SUBSCRIBER}`, {
      document: [200, isEmptyPage],
      live: [404, SUBSCRIBER_NOT_FOUND]
    }),
    explainsResponse: (observed) =>
      isEmptyOrRejected(observed, 404) && observed.query.has('subscriberId')
  },
  'malformed-context-key': {
    detect: detectByRequest('/v1/messages?contextKeys=conformance', {
      document: [422],
      live: [200, isEmptyPage]
    }),
    explainsResponse: (observed) =>
      isEmptyOrRejected(observed, 422) && [...observed.query].some(isMalformedContextKey)
  },
  'paging-bounds': {
    detect: detectPagingBounds,
    explainsResponse: (observed) =>
      explainStatuses('list', 422, 400, 200)(observed) &&
      !/^([1-9]\d{0,2}|1000)$/.test(observed.query.get('limit') ?? '10')
  },
  'total-count': {
    async detect({ send }) {
      const { totalCount, response } = readPage(await send('/v1/messages?limit=1'))
      if (totalCount === undefined) return 'live'
      if (typeof totalCount === 'number') return 'document'
      throw unexpectedResponse('totalCount is not a number', response)
    },
    explainsResponse({ operation, bodies, difference: { field } }) {
      const [without, ...others] = bodies.filter(({ totalCount }) => totalCount === undefined)
      if (operation !== 'list' || !without || others.length > 0) return false
      // A server that returns no `totalCount` sets `hasMore` to true on every full page.
      return field === 'totalCount' || (field === 'hasMore' && without.hasMore === true)
    }
  },
  'unknown-step': {
    async detect(service) {
      const stepId = 'conformance-none'
      const [first] = await service.steps()
      const response = await requestStep(service, stepId)
      const profile = matchProfile(response, {
        document: [404, /^Step with id conformance-none not found$/],
        live: [400, /^No step found$/]
      })
      const facts = { stepId, workflowId: first?.workflowId ?? '' }
      if (profile === 'live') checkFactsTwice(response, facts)
      return profile
    },
    explainsResponse: explainStatuses('step', 400, 404)
  },
  'unknown-workflow': {
    async detect({ send }) {
      const workflowId = unknownId()
      const response = await send(stepPath(workflowId, 'none'))
      const profile = matchProfile(response, {
        document: [404, new RegExp(`^Workflow with id ${workflowId} not found$`)],
        live: [404, /^Workflow cannot be found$/]
      })
      if (profile === 'live') checkFactsTwice(response, { workflowId })
      return profile
    },
    explainsResponse: ({ operation, statuses, bodies, difference: { field } }) =>
      operation === 'step' &&
      statuses.every((status) => status === 404) &&
      UNKNOWN_WORKFLOW.every((pattern) =>
        bodies.some(({ message }) => pattern.test(String(message)))
      ) &&
      /^(message|workflowId|ctx([.]workflowId)?)$/.test(field)
  },
  'control-values': {
    async detect(service) {
      const response = await requestStep(service)
      const { controls, controlValues } = readRecord<
        WorkflowStep & { controls: { values?: unknown } }
      >(response)
      if (controls?.values === undefined) return 'document'
      const isSame = JSON.stringify(controls.values) === JSON.stringify(controlValues)
      if (isSame) return 'live'
      throw unexpectedResponse('controls.values differs from controlValues', response)
    },
    explainsResponse: ({ operation, difference }) =>
      operation === 'step' &&
      isOnOneSide(difference) &&
      (/^(data[.])?controls[.]values$/.test(difference.field) ||
        (/^(data[.])?controlValues$/.test(difference.field) &&
          isEmpty(difference.target ?? difference.ours)))
  },
  'unserved-route': {
    detect: detectUnservedRoute,
    explainsResponse: explainStatuses('none', 404, 501, 405)
  },
  'error-context': {
    async detect({ send }) {
      const response = await send('/v1/messages?limit=1', { authorization: null })
      const ctx = isObject(response.body) ? response.body.ctx : undefined
      if (isEmpty(ctx)) return 'document'
      const hasStatus = isObject(ctx) && ctx.statusCode === response.status
      if (hasStatus && typeof ctx.error === 'string') return 'live'
      throw unexpectedResponse('ctx must be empty or have a valid error and statusCode', response)
    },
    explainsResponse: ({ difference: { field } }) => /^ctx[.](error|statusCode)$/.test(field)
  },
  'embedded-subscriber': {
    async detect({ sample }) {
      const { messages } = await sample()
      const names = messages.flatMap(({ subscriber }) => Object.keys(subscriber ?? {}))
      if (names.some((name) => !EMBEDDED_FIELDS.includes(name))) return 'document'
      // A message gets its email address from its subscriber. If a message has an address, but its
      // embedded subscriber doesn't, the target omits fields of subscribers.
      const isCut = messages.some(({ subscriber, email }) => subscriber && email !== undefined)
      skipUnless(isCut, 'no message has both an email address and an embedded subscriber')
      return 'live'
    },
    explainsResponse: ({ operation, difference }) =>
      operation === 'list' && isOnOneSide(difference) && isUnembeddedField(difference.field)
  },
  'step-lookup': {
    detect: detectStepLookup,
    explainsResponse: explainStatuses('step', 200, 404, 400)
  },
  'auth-scheme-case': {
    detect: detectByRequest(
      '/v1/messages?limit=1',
      { document: [200], live: [401, WRONG_SCHEME] },
      { scheme: 'apikey' }
    )
  },
  'message-extras': {
    async detect({ sample }) {
      const { messages } = await sample()
      const names = Object.keys(MESSAGE_EXTRAS)
      const counts = messages.map(
        (message) => names.filter((name) => Object.hasOwn(message, name)).length
      )
      if (counts.every((count) => count === 0)) return 'document'
      if (counts.every((count) => count === names.length)) return 'live'
      throw unexpectedResponse(`a message has only some of the fields ${names.join(', ')}`)
    },
    explainsResponse: ({ operation, difference }) =>
      operation === 'list' && isOnOneSide(difference) && EXTRA_FIELD.test(difference.field)
  },
  'path-form': {
    async detect({ send }) {
      const unknown = { document: [404], live: [200] } as const
      const slash = matchProfile(await send('/v1/messages/?limit=1'), unknown, { mayBe200: true })
      const upperCase = await send('/V1/Messages?limit=1')
      if (matchProfile(upperCase, unknown, { mayBe200: true }) === slash) return slash
      throw unexpectedResponse(
        'a trailing slash and uppercase letters in the path are handled differently',
        upperCase
      )
    }
  },
  cors: {
    async detect({ send }) {
      const headers = { origin: 'https://conformance.example' }
      const response = await send('/v1/messages?limit=1', { headers })
      const allowed = response.headers.get('access-control-allow-origin')
      return allowed === '*' || allowed === headers.origin ? 'document' : 'live'
    }
  }
} satisfies Partial<Record<AssumptionId, AssumptionProbe>>

async function originsAndProviders(service: ServiceUnderTest): Promise<string[]> {
  const reads = [service.steps(), service.sample(), requestStep(service)]
  const records = await Promise.all(reads.map((read) => read.catch(() => undefined)))
  const fields = JSON.stringify(records).matchAll(/"(?:origin|providerId)":"([^"]*)"/g)
  return [...fields].map(([, name = '']) => name)
}

const isUnknownChannel = (channel: string) =>
  channel !== '' && !(CHANNELS as readonly string[]).includes(channel)

const isMalformedContextKey = ([name, value]: readonly [string, string]) =>
  /^contextKeys(\[\d*\])?$/.test(name) && !new RegExp(CONTEXT_KEY_PATTERN).test(value)

/** Returns whether one response is an empty page and the other is an error with this status. */
const isEmptyOrRejected = (observed: ObservedDifference, status: number) =>
  explainStatuses('list', 200, status)(observed) &&
  observed.bodies.some(({ data }) => Array.isArray(data) && data.length === 0)

/** Returns whether the path leads to a field that Novu omits from embedded subscribers. */
function isUnembeddedField(path: string): boolean {
  const [, name] = /[.]subscriber[.](\w+)$/.exec(path) ?? []
  return name !== undefined && !EMBEDDED_FIELDS.includes(name)
}

async function detectPagingBounds({ send }: ServiceUnderTest) {
  const options = { mayBe200: true }
  const tooLow = await send('/v1/messages?limit=0')
  const tooHigh = await send('/v1/messages?limit=1001')
  const profile = matchProfile(tooLow, { document: [422], live: [200] }, options)
  const message = /^Limit can not be larger then 1000$/
  const expected = { document: [422], live: [400, message] } as const
  if (matchProfile(tooHigh, expected, options) !== profile) {
    throw unexpectedResponse('limit=0 and limit=1001 match different profiles', tooHigh)
  }
  if (tooLow.status === 200 && readPage(tooLow).pageSize !== 10)
    throw unexpectedResponse('pageSize is not 10', tooLow)
  checkFieldErrors(await send('/v1/messages?page=-1&limit=none'), profile, 'limit=none page=-1')
  // Check a fractional page and limit only for the profile `document`, because it is unknown how
  // Novu responds to them.
  if (profile === 'document') {
    const fractions = await send('/v1/messages?page=1.5&limit=1.5')
    checkFieldErrors(fractions, profile, 'limit=1.5 page=1.5')
  }
  return profile
}

const UNSERVED = /^(Cannot GET \/v1\/conformance|GET \/v1\/conformance is not mocked)$/

/** Sends only GET requests, because another method might change something on the target. */
async function detectUnservedRoute({ send }: ServiceUnderTest) {
  const options = { mayBe200: true }
  const unknownPath = await send('/v1/conformance')
  // Both profiles respond to an unknown path with 404. So only check that the response is a known
  // one, and detect the profile with a wrong method.
  matchProfile(unknownPath, { document: [501], live: [404, UNSERVED] }, options)
  const wrongMethod = await send(setPrimaryPath(unknownId()))
  const message = /^Cannot GET \/v1\/integrations\/\w+\/set-primary$/
  const expected = { document: [405], live: [404, message] } as const
  const profile = matchProfile(wrongMethod, expected, options)
  const allowsPost = wrongMethod.headers.get('allow')?.includes('POST')
  if (profile === 'document' && !allowsPost)
    throw unexpectedResponse('the 405 has no Allow header that lists POST', wrongMethod)
  return profile
}

async function detectStepLookup({ send, steps }: ServiceUnderTest) {
  const [first] = await steps()
  const { _id = '', slug = '', workflowId = '' } = first?.step ?? {}
  skipUnless(
    /^(?=.*[a-f])[0-9a-f]{24}$/.test(_id),
    'the first known step has no _id of 24 hex digits with at least one letter'
  )
  const isFound = async (stepId: string) =>
    (await send(stepPath(workflowId, stepId))).status === 200
  if (await isFound(`${slug}0`))
    throw unexpectedResponse('a slug with an extra character finds a step')
  const ignoresCase = await isFound(_id.toUpperCase())
  const acceptsNoName = await isFound(slugOf('', 'st', _id))
  // `wf` marks workflow slugs. Only a target that accepts any kind finds a step by such a slug.
  const rejectsOtherKind = !(await isFound(slugOf('x', 'wf', _id)))
  if (acceptsNoName !== ignoresCase || rejectsOtherKind !== ignoresCase)
    throw unexpectedResponse('lookups by _id and by slug match different profiles')
  return ignoresCase ? 'document' : 'live'
}

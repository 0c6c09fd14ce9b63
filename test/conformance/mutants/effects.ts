import { setPrimaryPath } from '../../../src/targets/answers.js'
import type { Exchange, ProxiedRequest } from '../proxy.js'
import {
  isSetPrimary,
  isStep,
  type Json,
  type Mutant,
  onAnswers,
  onIntegration,
  onRefusal,
  onRequests,
  replace,
  restatus,
  rewrite,
  withChanges
} from './mutant.js'

const keyOf = ({ headers }: ProxiedRequest) => headers['idempotency-key']

/** Takes the key from a request, so that the server knows of none, and returns the answers that are kept. */
function answersOf({ request, memory }: Omit<Exchange, 'answer'>): Map<string, string> {
  const kept = (memory.get('kept') as Map<string, string> | undefined) ?? new Map()
  memory.set('kept', kept)
  memory.set('key', keyOf(request))
  return kept
}

const SENDGRID = '66f1c2a47c9b1a0012ad0001'
const INACTIVE = '66f1c2a47c9b1a0012ad0003'
const TWILIO = '66f1c2a47c9b1a0012ad0006'

/** Targets whose set-primary or idempotency keys are wrong. */
export const EFFECT_MUTANTS: readonly Mutant[] = [
  ...onIntegration({
    'an integration lacks `identifier`': ['wire.integration.shape', (integration) => delete integration.identifier],
    'an integration has null for `configurations`': [
      'wire.integration.shape',
      (integration) => (integration.configurations = null)
    ],
    'an integration has an internal field': [
      'wire.integration.fields',
      (integration) => (integration.kind = 'delivery')
    ],
    'an integration is sent as text': [
      'wire.integration.shape',
      (_, { answer }) => (answer.headers['content-type'] = 'text/plain')
    ],
    'an integration that is not deleted has an empty `deletedAt`': [
      'primary.result',
      (integration) => (integration.deletedAt = '')
    ],
    'set-primary answers with the state before': ['primary.result', (integration) => (integration.primary = false)],
    'a primary integration may be inactive': ['primary.activates', (integration) => (integration.active = false)],
    'a primary integration keeps its conditions': [
      'primary.activates',
      (integration) => (integration.conditions = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }])
    ],
    'a second set-primary renames': [
      'primary.again',
      (integration, { memory }) => {
        const count = Number(memory.get(integration._id) ?? 0)
        memory.set(integration._id, count + 1)
        integration.name = `${integration.name} ${count}`
      }
    ],
    'set-primary is a 201': ['primary.result', (_, { answer }) => (answer.status = 201)],
    'credentials vanish with a key': [
      'idempotency.accepted',
      (integration, { request }) => keyOf(request) !== undefined && Object.assign(integration, { credentials: {} })
    ]
  }),
  {
    name: 'a channel that has no primary is not named',
    caughtBy: 'live.primary-channels',
    profile: 'live',
    change: onRefusal(400, (body) => (body.message = 'Bad Request'))
  },
  {
    name: 'the scheme in small letters is a 400',
    caughtBy: 'live.auth-scheme-case',
    profile: 'live',
    change: onRefusal(
      401,
      (_, { request, answer }) => /^apikey /.test(request.headers.authorization ?? '') && restatus(answer, 400)
    )
  },
  {
    name: '`controls.values` is another object',
    caughtBy: 'live.control-values',
    profile: 'live',
    change: {
      answer({ answer }) {
        const { json } = answer
        if (json?.data?.controls?.values)
          answer.json = { data: { ...json.data, controls: { ...json.data.controls, values: { x: 1 } } } }
      }
    }
  },
  {
    name: 'both spellings of the origin are there',
    caughtBy: 'live.vendor-names',
    profile: 'live',
    change: {
      answer({ request, answer, memory }) {
        if (!isStep(request)) return
        const name = memory.get('name') === 'novu-cloud' ? 'service-cloud' : 'novu-cloud'
        memory.set('name', name)
        answer.text = answer.text.replace(/"origin":"[^"]+"/, `"origin":"${name}"`)
      }
    }
  },
  ...onAnswers({
    'set-primary answers as if, and changes nothing': [
      'primary.one',
      async ({ request, answer, ask }) => {
        if (isSetPrimary(request) && answer.status === 200) await ask(setPrimaryPath(SENDGRID))
      }
    ],
    'set-primary does nothing, and answers with what is': [
      'primary.result',
      async ({ request, answer, ask }) => {
        if (!isSetPrimary(request) || answer.status !== 200) return
        await ask(setPrimaryPath(SENDGRID))
        answer.json = { ...answer.json, primary: answer.json._id === SENDGRID }
      }
    ],
    'the primaries of all channels step down': [
      'primary.one',
      ({ request, answer, memory }) => {
        if (isSetPrimary(request) && answer.status === 200) memory.set('primary', answer.json._id)
        if (request.path !== '/v1/integrations' || !memory.has('primary')) return
        const data = answer.json.data.map((each: Json) => ({ ...each, primary: each._id === memory.get('primary') }))
        answer.json = { data }
      }
    ],
    'an inactive integration is refused': [
      'primary.result',
      ({ request, answer }) => (request.path.includes(INACTIVE) ? restatus(answer, 400) : undefined)
    ],
    'set-primary of the last one that is named answers with another': [
      'primary.result',
      async ({ request, answer, ask }) => {
        if (isSetPrimary(request) && request.path.includes(TWILIO)) replace(answer, await ask(setPrimaryPath(SENDGRID)))
      }
    ],
    'set-primary is a 500': [
      'primary.result',
      ({ request, answer }) => (isSetPrimary(request) ? restatus(answer, 500) : undefined)
    ],
    'with a key, set-primary is not done': [
      'idempotency.not-run',
      async ({ request, answer, memory, ask }) => {
        if (!isSetPrimary(request) || answer.status !== 200) return
        if (keyOf(request) === undefined) memory.set('path', request.path)
        const { 'idempotency-key': _, ...headers } = request.headers
        if (keyOf(request) !== undefined && memory.has('path')) await ask(memory.get('path') as string, { headers })
      }
    ],
    'other integrations are deactivated': [
      'primary.one',
      ({ request, answer, memory }) => {
        if (isSetPrimary(request)) memory.set('count', Number(memory.get('count') ?? 0) + 1)
        if (request.path !== '/v1/integrations') return
        const data = answer.json.data.map((each: Json) => ({ ...each, active: Number(memory.get('count')) % 2 === 0 }))
        answer.json = { data }
      }
    ],
    'an integration changes with each promotion': [
      'primary.again',
      ({ request, answer, memory }) => {
        if (!isSetPrimary(request) || answer.status !== 200) return
        const { _id } = answer.json
        const promoted = Number(memory.get(_id) ?? 0) + (memory.get('former') === _id ? 0 : 1)
        memory.set('former', _id).set(_id, promoted)
        answer.json = { ...answer.json, name: `Promoted ${promoted}` }
      }
    ],
    'a body of text is refused': [
      'primary.body',
      ({ request, answer }) =>
        isSetPrimary(request) && request.headers['content-type']?.startsWith('text/')
          ? restatus(answer, 415)
          : undefined
    ],
    'an unknown integration is a 400': [
      'error.body',
      ({ request, answer }) => (isSetPrimary(request) && answer.status === 404 ? restatus(answer, 400) : undefined)
    ],
    'two at the same time get each the answer of one': [
      'primary.storm',
      async ({ request, answer, memory }) => {
        if (!isSetPrimary(request) || answer.status !== 200) return
        const running = Number(memory.get('running') ?? 0)
        memory.set('running', running + 1)
        if (running > 0) answer.text = memory.get('text') as string
        memory.set('text', answer.text)
        await new Promise((resolve) => setTimeout(resolve, 20))
        memory.set('running', Number(memory.get('running')) - 1)
      }
    ],
    'what has a key is sent as JSON without a charset, and its replay too': [
      'idempotency.replay',
      ({ request, answer }) =>
        keyOf(request) ? void Object.assign(answer.headers, { 'content-type': 'application/json' }) : undefined
    ],
    'the first answer is marked as a replay': [
      'idempotency.replay',
      ({ request, answer }) =>
        keyOf(request) ? void Object.assign(answer.headers, { 'idempotency-replay': 'true' }) : undefined
    ],
    'an answer does not repeat its key': [
      'idempotency.replay',
      ({ answer }) => void delete answer.headers['idempotency-key']
    ],
    'an answer without a key has one': [
      'idempotency.replay',
      ({ request, answer }) =>
        isSetPrimary(request)
          ? void Object.assign(answer, { headers: { 'idempotency-key': 'none', ...answer.headers } })
          : undefined
    ],
    'a replay runs the operation again': [
      'idempotency.not-run',
      async ({ request, answer, ask }) => {
        if (answer.headers['idempotency-replay'] !== 'true') return
        const { 'idempotency-key': _, ...headers } = request.headers
        await ask(request.path, { headers })
      }
    ],
    'a refused reuse replaces the answer': [
      'idempotency.other-body',
      ({ request, answer, memory }) => {
        const key = keyOf(request) ?? ''
        if (answer.status === 422 && /reused/.test(answer.text)) memory.set(key, answer.text)
        else if (memory.has(key)) {
          answer.status = 422
          answer.text = memory.get(key) as string
        }
      }
    ],
    'refusals are not kept': [
      'idempotency.refusal',
      async ({ request, answer, ask }) => {
        if (answer.headers['idempotency-replay'] !== 'true' || answer.status < 400) return
        const { 'idempotency-key': _, ...headers } = request.headers
        replace(answer, await ask(request.path, { headers }))
      }
    ],
    'a 401 is kept under its key': [
      'idempotency.bounds',
      (exchange) => {
        const { request, answer } = exchange
        const key = keyOf(request)
        if (key === undefined || !isSetPrimary(request)) return
        const kept = answersOf(exchange)
        const before = kept.get(key)
        if (answer.status === 401) kept.set(key, answer.text)
        else if (before !== undefined) {
          answer.status = 401
          answer.text = before
        }
      }
    ],
    'a 409 has no `Retry-After`': [
      'idempotency.in-use',
      async ({ request, answer, memory }) => {
        const key = keyOf(request)
        if (key === undefined || !isSetPrimary(request)) return
        const isFirst = !memory.has(key)
        memory.set(key, true)
        if (isFirst) return
        answer.status = 409
        answer.headers = { 'content-type': answer.headers['content-type'] ?? '' }
      }
    ],
    'a step is in an envelope of another name': [
      'live.envelope',
      ({ request, answer }) => {
        if (isStep(request) && answer.status === 200) answer.json = { result: answer.json }
      }
    ],
    'a key that is used again is refused with a link, and with errors': [
      'live.idempotency-refusals',
      ({ answer }) => /reused/.test(answer.text) && Object.assign(answer.headers, { link: '<https://x.example>' })
    ],
    'the `ctx` of a refusal holds the path': [
      'live.error-context',
      ({ request, answer }) => {
        if (answer.status === 401) answer.json = { ...answer.json, ctx: { path: request.path } }
      }
    ],
    'an identifier that is none is a 400': [
      'live.integration-lookup',
      ({ request, answer }) => (/conformance-none/.test(request.path) ? restatus(answer, 400) : undefined)
    ],
    'set-primary answers with a 500, and has done it': [
      'live.credentials',
      ({ request, answer }) => (isSetPrimary(request) && answer.status === 200 ? restatus(answer, 500) : undefined)
    ],
    'there is a total of null': [
      'live.total-count',
      ({ answer }) => {
        answer.text = answer.text.replace(/"totalCount":\d+/, '"totalCount":null')
      }
    ],
    'an unknown step is a 200 with null': [
      'live.unknown-step',
      ({ request, answer }) => {
        if (!request.path.endsWith('/conformance-none')) return
        answer.status = 200
        answer.text = 'null'
      }
    ],
    'an unknown path is a 404 of a web server': [
      'live.unserved-route',
      ({ request, answer }) => {
        if (request.path !== '/v1/conformance') return
        answer.status = 404
        answer.text = '<h1>Not found</h1>'
      }
    ]
  }),
  ...onRequests({
    'a malformed body is not noticed': [
      'malformed.body',
      ({ request }) => {
        if (isSetPrimary(request) && request.body.toString() === '{') request.body = Buffer.alloc(0)
      }
    ],
    'a GET makes primary too': [
      'primary.result',
      ({ request }) => {
        if (/\/set-primary$/.test(request.path)) request.method = 'POST'
      }
    ],
    'keys are ignored': ['idempotency.refusal', ({ request }) => void delete request.headers['idempotency-key']],
    'another body is not noticed': [
      'idempotency.other-body',
      ({ request }) => (keyOf(request) ? void Object.assign(request, { body: Buffer.alloc(0) }) : undefined)
    ],
    'requests with one key at the same time are all answered afresh': [
      'idempotency.in-use',
      ({ request }) => void delete request.headers['idempotency-key']
    ],
    'an integration of another environment is made primary': [
      'live.foreign-integration',
      ({ request }) => rewrite(request, /6703aa1c5d2e8b0013b70001/, '66f1c2a47c9b1a0012ad0001')
    ],
    'a malformed context key finds all messages': [
      'live.malformed-context-key',
      ({ request }) => rewrite(request, /contextKeys=conformance/, '')
    ],
    'an unknown subscriber finds all messages': [
      'live.unknown-subscriber-filter',
      ({ request }) => rewrite(request, /subscriberId=ffffffff\w*/, '')
    ],
    'a limit above the greatest is the greatest': [
      'live.paging-bounds',
      ({ request }) => rewrite(request, /limit=1001/, 'limit=1000')
    ],
    'a key with another path is answered afresh': [
      'live.idempotency-match',
      ({ request }) => {
        const key = keyOf(request)
        if (key && isSetPrimary(request))
          request.headers['idempotency-key'] = `${key.slice(0, 100)}${request.path.slice(20, 60)}`
      }
    ]
  }),
  ...withChanges({
    'a channel has two primaries': [
      'primary.one',
      onListing((integrations) => {
        const second = integrations.find(({ primary }) => !primary)
        if (second) second.primary = true
      })
    ],
    'a replay has another body': [
      'idempotency.replay',
      onReplay(({ answer }) => (answer.json = { ...answer.json, replayed: true }))
    ],
    'a replay is spaced otherwise': [
      'idempotency.replay',
      onReplay(({ answer }) => (answer.text = JSON.stringify(answer.json, null, 1)))
    ],
    'a replay is a 200, whatever it was': ['idempotency.refusal', onReplay(({ answer }) => (answer.status = 200))],
    'a replay is not marked as one': [
      'idempotency.replay',
      onReplay(({ answer }) => delete answer.headers['idempotency-replay'])
    ],
    'a replay is sent as text': [
      'idempotency.replay',
      onReplay(({ answer }) => (answer.headers['content-type'] = 'text/plain'))
    ],
    'keys are compared without their case': ['idempotency.replay', withKey((key) => key.toLowerCase())],
    'quotes belong to the key': ['live.idempotency-quotes', withKey((key) => key.replaceAll('"', '_'))],
    'a key is cut off after 64 characters': ['idempotency.bounds', withKey((key) => key.slice(0, 64))],
    'any key replays the last answer': ['idempotency.replay', withKey(() => 'one-for-all')],
    'an unknown channel is a 404': [
      'live.unknown-channel-filter',
      onRefusal(422, (_, { request, answer }) => /channel=conf/.test(request.path) && restatus(answer, 404))
    ],
    'an unknown workflow is a 403': [
      'live.unknown-workflow',
      onRefusal(404, (body, { answer }) => /^Workflow/.test(body.message) && restatus(answer, 403))
    ]
  })
]

/** Takes the key of a request for another. */
function withKey(edit: (key: string) => string) {
  return {
    request({ request }: Omit<Exchange, 'answer'>) {
      const key = keyOf(request)
      if (key !== undefined) request.headers['idempotency-key'] = edit(key)
    }
  }
}

function onListing(edit: (integrations: Json[]) => void) {
  return {
    answer({ request, answer }: Exchange) {
      if (request.path !== '/v1/integrations' || answer.status !== 200) return
      const { data } = answer.json
      edit(data)
      answer.json = { data }
    }
  }
}

function onReplay(edit: (exchange: Exchange) => unknown) {
  return {
    answer(exchange: Exchange) {
      if (exchange.answer.headers['idempotency-replay'] === 'true') edit(exchange)
    }
  }
}

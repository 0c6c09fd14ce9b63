import { setPrimaryPath } from '../../../src/targets/answers.js'
import type { Exchange, ProxiedRequest } from '../proxy.js'
import {
  isSetPrimary,
  isStep,
  type Json,
  type Mutant,
  onIntegration,
  onRefusal,
  replace,
  restatus,
  rewrite
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
      'wire.integration.content-type',
      (_, { answer }) => (answer.headers['content-type'] = 'text/plain')
    ],
    'an integration that is not deleted has an empty `deletedAt`': [
      'wire.integration.deleted',
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
    name: 'a channel has two primaries',
    caughtBy: 'primary.one',
    change: onListing((integrations) => {
      const second = integrations.find(({ primary }) => !primary)
      if (second) second.primary = true
    })
  },
  {
    name: 'set-primary answers as if, and changes nothing',
    caughtBy: 'primary.one',
    change: {
      async answer({ request, answer, ask }) {
        if (isSetPrimary(request) && answer.status === 200) await ask(setPrimaryPath(SENDGRID))
      }
    }
  },
  {
    name: 'set-primary does nothing, and answers with what is',
    caughtBy: 'primary.result',
    change: {
      async answer({ request, answer, ask }) {
        if (!isSetPrimary(request) || answer.status !== 200) return
        await ask(setPrimaryPath(SENDGRID))
        answer.json = { ...answer.json, primary: answer.json._id === SENDGRID }
      }
    }
  },
  {
    name: 'the primaries of all channels step down',
    caughtBy: 'primary.others',
    change: {
      answer({ request, answer, memory }) {
        if (isSetPrimary(request) && answer.status === 200) memory.set('primary', answer.json._id)
        if (request.path !== '/v1/integrations' || !memory.has('primary')) return
        const data = answer.json.data.map((each: Json) => ({ ...each, primary: each._id === memory.get('primary') }))
        answer.json = { data }
      }
    }
  },
  {
    name: 'an inactive integration is refused',
    caughtBy: 'primary.result',
    change: {
      answer: ({ request, answer }) => (request.path.includes(INACTIVE) ? restatus(answer, 400) : undefined)
    }
  },
  {
    name: 'set-primary of the last one that is named answers with another',
    caughtBy: 'primary.result',
    change: {
      async answer({ request, answer, ask }) {
        if (isSetPrimary(request) && request.path.includes(TWILIO)) replace(answer, await ask(setPrimaryPath(SENDGRID)))
      }
    }
  },
  {
    name: 'set-primary is a 500',
    caughtBy: 'primary.result',
    change: { answer: ({ request, answer }) => (isSetPrimary(request) ? restatus(answer, 500) : undefined) }
  },
  {
    name: 'with a key, set-primary is not done',
    caughtBy: 'idempotency.not-run',
    change: {
      async answer({ request, answer, memory, ask }) {
        if (!isSetPrimary(request) || answer.status !== 200) return
        if (keyOf(request) === undefined) memory.set('path', request.path)
        const { 'idempotency-key': _, ...headers } = request.headers
        if (keyOf(request) !== undefined && memory.has('path')) await ask(memory.get('path') as string, { headers })
      }
    }
  },
  {
    name: 'other integrations are deactivated',
    caughtBy: 'primary.others',
    change: {
      answer({ request, answer, memory }) {
        if (isSetPrimary(request)) memory.set('count', Number(memory.get('count') ?? 0) + 1)
        if (request.path !== '/v1/integrations') return
        const data = answer.json.data.map((each: Json) => ({ ...each, active: Number(memory.get('count')) % 2 === 0 }))
        answer.json = { data }
      }
    }
  },
  {
    name: 'an integration changes with each promotion',
    caughtBy: 'primary.again',
    change: {
      answer({ request, answer, memory }) {
        if (!isSetPrimary(request) || answer.status !== 200) return
        const { _id } = answer.json
        const promoted = Number(memory.get(_id) ?? 0) + (memory.get('former') === _id ? 0 : 1)
        memory.set('former', _id).set(_id, promoted)
        answer.json = { ...answer.json, name: `Promoted ${promoted}` }
      }
    }
  },
  {
    name: 'a body of text is refused',
    caughtBy: 'primary.body',
    change: {
      answer: ({ request, answer }) =>
        isSetPrimary(request) && request.headers['content-type']?.startsWith('text/')
          ? restatus(answer, 415)
          : undefined
    }
  },
  {
    name: 'a malformed body is not noticed',
    caughtBy: 'malformed.body',
    change: {
      request({ request }) {
        if (isSetPrimary(request) && request.body.toString() === '{') request.body = Buffer.alloc(0)
      }
    }
  },
  {
    name: 'a GET makes primary too',
    caughtBy: 'primary.get',
    change: {
      request({ request }) {
        if (/\/set-primary$/.test(request.path)) request.method = 'POST'
      }
    }
  },
  {
    name: 'an unknown integration is a 400',
    caughtBy: 'error.body',
    change: {
      answer: ({ request, answer }) =>
        isSetPrimary(request) && answer.status === 404 ? restatus(answer, 400) : undefined
    }
  },
  {
    name: 'two at the same time get each the answer of one',
    caughtBy: 'primary.storm',
    change: {
      async answer({ request, answer, memory }) {
        if (!isSetPrimary(request) || answer.status !== 200) return
        const running = Number(memory.get('running') ?? 0)
        memory.set('running', running + 1)
        if (running > 0) answer.text = memory.get('text') as string
        memory.set('text', answer.text)
        await new Promise((resolve) => setTimeout(resolve, 20))
        memory.set('running', Number(memory.get('running')) - 1)
      }
    }
  },

  // Idempotency keys.
  {
    name: 'keys are ignored',
    caughtBy: 'idempotency.refusal',
    change: { request: ({ request }) => void delete request.headers['idempotency-key'] }
  },
  {
    name: 'a replay has another body',
    caughtBy: 'idempotency.replay',
    change: onReplay(({ answer }) => (answer.json = { ...answer.json, replayed: true }))
  },
  {
    name: 'a replay is spaced otherwise',
    caughtBy: 'idempotency.replay',
    change: onReplay(({ answer }) => (answer.text = JSON.stringify(answer.json, null, 1)))
  },
  {
    name: 'a replay is a 200, whatever it was',
    caughtBy: 'idempotency.refusal',
    change: onReplay(({ answer }) => (answer.status = 200))
  },
  {
    name: 'a replay is not marked as one',
    caughtBy: 'idempotency.replay',
    change: onReplay(({ answer }) => delete answer.headers['idempotency-replay'])
  },
  {
    name: 'a replay is sent as text',
    caughtBy: 'idempotency.replay',
    change: onReplay(({ answer }) => (answer.headers['content-type'] = 'text/plain'))
  },
  {
    name: 'what has a key is sent as JSON without a charset, and its replay too',
    caughtBy: 'idempotency.replay',
    change: {
      answer: ({ request, answer }) =>
        keyOf(request) ? void Object.assign(answer.headers, { 'content-type': 'application/json' }) : undefined
    }
  },
  {
    name: 'the first answer is marked as a replay',
    caughtBy: 'idempotency.replay',
    change: {
      answer: ({ request, answer }) =>
        keyOf(request) ? void Object.assign(answer.headers, { 'idempotency-replay': 'true' }) : undefined
    }
  },
  {
    name: 'an answer does not repeat its key',
    caughtBy: 'idempotency.replay',
    change: { answer: ({ answer }) => void delete answer.headers['idempotency-key'] }
  },
  {
    name: 'an answer without a key has one',
    caughtBy: 'idempotency.fresh',
    change: {
      answer: ({ request, answer }) =>
        isSetPrimary(request)
          ? void Object.assign(answer, { headers: { 'idempotency-key': 'none', ...answer.headers } })
          : undefined
    }
  },
  {
    name: 'a replay runs the operation again',
    caughtBy: 'idempotency.not-run',
    change: {
      async answer({ request, answer, ask }) {
        if (answer.headers['idempotency-replay'] !== 'true') return
        const { 'idempotency-key': _, ...headers } = request.headers
        await ask(request.path, { headers })
      }
    }
  },
  {
    name: 'another body is not noticed',
    caughtBy: 'idempotency.other-body',
    change: {
      request: ({ request }) => (keyOf(request) ? void Object.assign(request, { body: Buffer.alloc(0) }) : undefined)
    }
  },
  {
    name: 'a refused reuse replaces the answer',
    caughtBy: 'idempotency.other-body',
    change: {
      answer({ request, answer, memory }) {
        const key = keyOf(request) ?? ''
        if (answer.status === 422 && /reused/.test(answer.text)) memory.set(key, answer.text)
        else if (memory.has(key)) {
          answer.status = 422
          answer.text = memory.get(key) as string
        }
      }
    }
  },
  {
    name: 'refusals are not kept',
    caughtBy: 'idempotency.refusal',
    change: {
      async answer({ request, answer, ask }) {
        if (answer.headers['idempotency-replay'] !== 'true' || answer.status < 400) return
        const { 'idempotency-key': _, ...headers } = request.headers
        replace(answer, await ask(request.path, { headers }))
      }
    }
  },
  {
    name: 'a 401 is kept under its key',
    caughtBy: 'idempotency.bounds',
    change: {
      answer(exchange) {
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
    }
  },
  {
    name: 'keys are compared without their case',
    caughtBy: 'idempotency.fresh',
    change: withKey((key) => key.toLowerCase())
  },
  {
    name: 'quotes belong to the key',
    caughtBy: 'idempotency.quotes',
    change: withKey((key) => key.replaceAll('"', '_'))
  },
  {
    name: 'a key is cut off after 64 characters',
    caughtBy: 'idempotency.bounds',
    change: withKey((key) => key.slice(0, 64))
  },
  {
    name: 'any key replays the last answer',
    caughtBy: 'idempotency.fresh',
    change: withKey(() => 'one-for-all')
  },
  {
    name: 'requests with one key at the same time are all answered afresh',
    caughtBy: 'idempotency.in-use',
    change: {
      request: ({ request }) => void delete request.headers['idempotency-key']
    }
  },
  {
    name: 'a 409 has no `Retry-After`',
    caughtBy: 'idempotency.in-use',
    change: {
      async answer({ request, answer, memory }) {
        const key = keyOf(request)
        if (key === undefined || !isSetPrimary(request)) return
        const isFirst = !memory.has(key)
        memory.set(key, true)
        if (isFirst) return
        answer.status = 409
        answer.headers = { 'content-type': answer.headers['content-type'] ?? '' }
      }
    }
  },

  // Rows of the register.
  {
    name: 'a step is in an envelope of another name',
    caughtBy: 'live.envelope',
    change: {
      answer({ request, answer }) {
        if (isStep(request) && answer.status === 200) answer.json = { result: answer.json }
      }
    }
  },
  {
    name: 'a channel that has no primary is not named',
    caughtBy: 'live.primary-channels',
    profile: 'live',
    change: onRefusal(400, (body) => (body.message = 'Bad Request'))
  },
  {
    name: 'an identifier that is none is a 400',
    caughtBy: 'live.integration-lookup',
    change: {
      answer: ({ request, answer }) => (/conformance-none/.test(request.path) ? restatus(answer, 400) : undefined)
    }
  },
  {
    name: 'an integration of another environment is made primary',
    caughtBy: 'live.foreign-integration',
    change: { request: ({ request }) => rewrite(request, /6703aa1c5d2e8b0013b70001/, '66f1c2a47c9b1a0012ad0001') }
  },
  {
    name: 'set-primary answers with a 500, and has done it',
    caughtBy: 'live.credentials',
    change: {
      answer: ({ request, answer }) =>
        isSetPrimary(request) && answer.status === 200 ? restatus(answer, 500) : undefined
    }
  },
  {
    name: 'there is a total of null',
    caughtBy: 'live.total-count',
    change: {
      answer({ answer }) {
        answer.text = answer.text.replace(/"totalCount":\d+/, '"totalCount":null')
      }
    }
  },
  {
    name: 'an unknown channel is a 404',
    caughtBy: 'live.unknown-channel-filter',
    change: onRefusal(422, (_, { request, answer }) => /channel=conf/.test(request.path) && restatus(answer, 404))
  },
  {
    name: 'a malformed context key finds all messages',
    caughtBy: 'live.malformed-context-key',
    change: { request: ({ request }) => rewrite(request, /contextKeys=conformance/, '') }
  },
  {
    name: 'an unknown subscriber finds all messages',
    caughtBy: 'live.unknown-subscriber-filter',
    change: { request: ({ request }) => rewrite(request, /subscriberId=ffffffff\w*/, '') }
  },
  {
    name: 'a limit above the greatest is the greatest',
    caughtBy: 'live.paging-bounds',
    change: { request: ({ request }) => rewrite(request, /limit=1001/, 'limit=1000') }
  },
  {
    name: 'an unknown step is a 200 with null',
    caughtBy: 'live.unknown-step',
    change: {
      answer({ request, answer }) {
        if (!request.path.endsWith('/conformance-none')) return
        answer.status = 200
        answer.text = 'null'
      }
    }
  },
  {
    name: 'an unknown workflow is a 403',
    caughtBy: 'live.unknown-workflow',
    change: onRefusal(404, (body, { answer }) => /^Workflow/.test(body.message) && restatus(answer, 403))
  },
  {
    name: 'an unknown path is a 404 of a web server',
    caughtBy: 'live.unserved-route',
    change: {
      answer({ request, answer }) {
        if (request.path !== '/v1/conformance') return
        answer.status = 404
        answer.text = '<h1>Not found</h1>'
      }
    }
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
  {
    name: 'a key with another path is answered afresh',
    caughtBy: 'live.idempotency-match',
    change: {
      request({ request }) {
        const key = keyOf(request)
        if (key && isSetPrimary(request))
          request.headers['idempotency-key'] = `${key.slice(0, 100)}${request.path.slice(20, 60)}`
      }
    }
  }
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

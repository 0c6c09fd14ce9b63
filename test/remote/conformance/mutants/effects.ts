import { setPrimaryPath } from '../../../../src/remote/paths.js'
import {
  askWithoutKey,
  isSetPrimary,
  type Json,
  keyOf,
  type Mutant,
  onAnswers,
  onIntegration,
  onKeys,
  onListing,
  onPaths,
  onRefusal,
  onReplay,
  onRequests,
  onStep,
  replace,
  restatus
} from './mutant.js'

const SENDGRID = '66f1c2a47c9b1a0012ad0001'
const INACTIVE = '66f1c2a47c9b1a0012ad0003'
const TWILIO = '66f1c2a47c9b1a0012ad0006'

/** Targets whose set-primary or idempotency keys are wrong. */
export const EFFECT_MUTANTS: readonly Mutant[] = [
  ...onIntegration({
    'wire.integration.shape: an integration lacks `identifier`': (integration) =>
      delete integration.identifier,
    'wire.integration.shape: an integration has null for `configurations`': (integration) =>
      (integration.configurations = null),
    'wire.integration.shape: an integration is sent as text': (_, { answer }) =>
      (answer.headers['content-type'] = 'text/plain'),
    'wire.integration.fields: an integration has an internal field': (integration) =>
      (integration.kind = 'delivery'),
    'primary.result: an integration that is not deleted has an empty `deletedAt`': (integration) =>
      (integration.deletedAt = ''),
    'primary.result: set-primary answers with the state before': (integration) =>
      (integration.primary = false),
    'primary.result: set-primary is a 201': (_, { answer }) => (answer.status = 201),
    async 'primary.result: set-primary does nothing, and answers with what is'(
      integration,
      { ask }
    ) {
      await ask(setPrimaryPath(SENDGRID))
      integration.primary = integration._id === SENDGRID
    },
    'primary.result: set-primary of the last one that is named answers with another': async (
      _,
      { request, answer, ask }
    ) => request.path.includes(TWILIO) && replace(answer, await ask(setPrimaryPath(SENDGRID))),
    'primary.activates: a primary integration may be inactive': (integration) =>
      (integration.active = false),
    'primary.activates: a primary integration keeps its conditions': (integration) =>
      (integration.conditions = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }]),
    'primary.again: a second set-primary renames'(integration, { memory }) {
      const count = Number(memory.get(integration._id) ?? 0)
      memory.set(integration._id, count + 1)
      integration.name = `${integration.name} ${count}`
    },
    'primary.again: an integration changes with each promotion'(integration, { memory }) {
      const { _id } = integration
      const promoted = Number(memory.get(_id) ?? 0) + (memory.get('former') === _id ? 0 : 1)
      memory.set('former', _id).set(_id, promoted)
      integration.name = `Promoted ${promoted}`
    },
    'primary.one: set-primary answers as if, and changes nothing': (_, { ask }) =>
      ask(setPrimaryPath(SENDGRID)),
    async 'primary.storm: two at the same time get each the answer of one'(_, { answer, memory }) {
      const running = Number(memory.get('running') ?? 0)
      memory.set('running', running + 1)
      if (running > 0) answer.text = memory.get('text') as string
      memory.set('text', answer.text)
      await new Promise((resolve) => setTimeout(resolve, 20))
      memory.set('running', Number(memory.get('running')) - 1)
    },
    'idempotency.accepted: credentials vanish with a key': (integration, { request }) =>
      keyOf(request) && Object.assign(integration, { credentials: {} }),
    async 'idempotency.not-run: with a key, set-primary is not done'(_, exchange) {
      const { request, memory } = exchange
      if (keyOf(request) === undefined) memory.set('path', request.path)
      else if (memory.has('path')) await askWithoutKey(exchange, memory.get('path') as string)
    },
    'live.credentials: set-primary answers with a 500, and has done it': (_, { answer }) =>
      restatus(answer, 500)
  }),
  ...onRefusal(400)(
    {
      'live.primary-channels: a channel that has no primary is not named': (body) =>
        (body.message = 'Bad Request')
    },
    'live'
  ),
  ...onRefusal(401)(
    {
      'live.auth-scheme-case: the scheme in small letters is a 400': (_, { request, answer }) =>
        /^apikey /.test(request.headers.authorization ?? '') && restatus(answer, 400)
    },
    'live'
  ),
  ...onStep(
    {
      'live.control-values: `controls.values` is another object': ({ data }) =>
        data.controls.values && Object.assign(data.controls, { values: { x: 1 } }),
      'live.vendor-names: both spellings of the origin are there'({ data }, { memory }) {
        data.origin = memory.get('name') === 'novu-cloud' ? 'service-cloud' : 'novu-cloud'
        memory.set('name', data.origin)
      }
    },
    'live'
  ),
  ...onListing({
    'primary.one: a channel has two primaries': ({ data }) =>
      Object.assign(data.find(({ primary }: Json) => !primary) ?? {}, { primary: true })
  }),
  ...onReplay({
    'idempotency.replay: a replay has another body': (body) => (body.replayed = true),
    'idempotency.replay: a replay is spaced otherwise': (body, { answer }) =>
      (answer.text = JSON.stringify(body, null, 1)),
    'idempotency.replay: a replay is not marked as one': (_, { answer }) =>
      delete answer.headers['idempotency-replay'],
    'idempotency.replay: a replay is sent as text': (_, { answer }) =>
      (answer.headers['content-type'] = 'text/plain'),
    'idempotency.refusal: a replay is a 200, whatever it was': (_, { answer }) =>
      (answer.status = 200),
    'idempotency.refusal: refusals are not kept': async (_, exchange) =>
      exchange.answer.status >= 400 && replace(exchange.answer, await askWithoutKey(exchange)),
    'idempotency.not-run: a replay runs the operation again': (_, exchange) =>
      askWithoutKey(exchange)
  }),
  ...onAnswers({
    'primary.one: the primaries of all channels step down'({ request, answer, memory }) {
      const primary = memory.get('primary')
      if (isSetPrimary(request) && answer.status === 200) memory.set('primary', answer.json._id)
      if (request.path !== '/v1/integrations' || !primary) return
      const data = answer.json.data.map((each: Json) => ({
        ...each,
        primary: each._id === primary
      }))
      answer.json = { data }
    },
    'primary.one: other integrations are deactivated'({ request, answer, memory }) {
      const count = Number(memory.get('count') ?? 0)
      if (isSetPrimary(request)) memory.set('count', count + 1)
      if (request.path !== '/v1/integrations') return
      answer.json = {
        data: answer.json.data.map((each: Json) => ({ ...each, active: count % 2 === 0 }))
      }
    },
    'primary.result: an inactive integration is refused': ({ request, answer }) =>
      request.path.includes(INACTIVE) && restatus(answer, 400),
    'primary.result: set-primary is a 500': ({ request, answer }) =>
      isSetPrimary(request) && restatus(answer, 500),
    'primary.body: a body of text is refused': ({ request, answer }) =>
      isSetPrimary(request) &&
      request.headers['content-type']?.startsWith('text/') &&
      restatus(answer, 415),
    'error.body: an unknown integration is a 400': ({ request, answer }) =>
      isSetPrimary(request) && answer.status === 404 && restatus(answer, 400),
    'live.integration-lookup: an identifier that is none is a 400': ({ request, answer }) =>
      /conformance-none/.test(request.path) && restatus(answer, 400),
    'live.idempotency-rejections: a key that is used again is refused with a link, and with errors':
      ({ answer }) =>
        /reused/.test(answer.text) &&
        Object.assign(answer.headers, { link: '<https://x.example>' }),
    'idempotency.replay: what has a key is sent as JSON without a charset, and its replay too': ({
      request,
      answer
    }) => keyOf(request) && Object.assign(answer.headers, { 'content-type': 'application/json' }),
    'idempotency.replay: the first answer is marked as a replay': ({ request, answer }) =>
      keyOf(request) && Object.assign(answer.headers, { 'idempotency-replay': 'true' }),
    'idempotency.replay: an answer does not repeat its key': ({ answer }) =>
      delete answer.headers['idempotency-key'],
    'idempotency.replay: an answer without a key has one': ({ request, answer }) =>
      isSetPrimary(request) &&
      Object.assign(answer, { headers: { 'idempotency-key': 'none', ...answer.headers } }),
    'idempotency.other-body: a refused reuse replaces the answer'({ request, answer, memory }) {
      const key = keyOf(request) ?? ''
      if (answer.status === 422 && /reused/.test(answer.text)) memory.set(key, answer.text)
      else if (memory.has(key)) Object.assign(answer, { status: 422, text: memory.get(key) })
    },
    'idempotency.bounds: a 401 is kept under its key'({ request, answer, memory }) {
      const key = keyOf(request)
      if (key === undefined || !isSetPrimary(request)) return
      if (answer.status === 401) memory.set(key, answer.text)
      else if (memory.has(key)) Object.assign(answer, { status: 401, text: memory.get(key) })
    },
    'idempotency.in-use: a 409 has no `Retry-After`'({ request, answer, memory }) {
      const key = keyOf(request)
      if (key === undefined || !isSetPrimary(request)) return
      if (memory.has(key))
        Object.assign(answer, { status: 409, headers: { 'content-type': 'application/json' } })
      memory.set(key, true)
    }
  }),
  ...onRequests({
    'malformed.body: a malformed body is not noticed': (request) =>
      isSetPrimary(request) &&
      request.body.toString() === '{' &&
      Object.assign(request, { body: Buffer.alloc(0) }),
    'primary.result: a GET makes primary too': (request) =>
      /\/set-primary$/.test(request.path) && Object.assign(request, { method: 'POST' }),
    'idempotency.refusal: keys are ignored': ({ headers }) => delete headers['idempotency-key'],
    'idempotency.other-body: another body is not noticed': (request) =>
      keyOf(request) && Object.assign(request, { body: Buffer.alloc(0) }),
    'idempotency.in-use: requests with one key at the same time are all answered afresh': ({
      headers
    }) => delete headers['idempotency-key']
  }),
  ...onPaths({
    'live.foreign-integration: an integration of another environment is made primary': (path) =>
      path.replace('6703aa1c5d2e8b0013b70001', SENDGRID)
  }),
  ...onKeys({
    'idempotency.replay: keys are compared without their case': (key) => key.toLowerCase(),
    'idempotency.replay: any key replays the last answer': () => 'one-for-all',
    'idempotency.bounds: a key is cut off after 64 characters': (key) => key.slice(0, 64),
    'live.idempotency-quotes: quotes belong to the key': (key) => key.replaceAll('"', '_'),
    'live.idempotency-match: a key with another path is answered afresh': (key, request) =>
      isSetPrimary(request) ? `${key.slice(0, 100)}${request.path.slice(20, 60)}` : key
  })
]

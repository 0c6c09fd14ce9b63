import { setPrimaryPath } from '../../../../src/remote/paths.js'
import {
  isSetPrimary,
  type Json,
  keyOf,
  onError,
  onIntegration,
  onKeys,
  onListing,
  onPaths,
  onReplay,
  onRequests,
  onResponses,
  onStep,
  type PlantedFault,
  replace,
  replaceStatus,
  sendWithoutKey
} from './planted-fault.js'

const SENDGRID = '66f1c2a47c9b1a0012ad0001'
const INACTIVE = '66f1c2a47c9b1a0012ad0003'
const TWILIO = '66f1c2a47c9b1a0012ad0006'

/** Mostly faults in set-primary and in the handling of idempotency keys. */
export const EFFECT_FAULTS: readonly PlantedFault[] = [
  ...onIntegration({
    'wire.integration.shape: an integration lacks `identifier`': (integration) =>
      delete integration.identifier,
    'wire.integration.shape: `configurations` is null': (integration) =>
      (integration.configurations = null),
    'wire.integration.shape: set-primary responds with `text/plain`': (_, { response }) =>
      (response.headers['content-type'] = 'text/plain'),
    'wire.integration.fields: an integration has an internal field': (integration) =>
      (integration.kind = 'delivery'),
    'primary.result: an integration that is not deleted has an empty `deletedAt`': (integration) =>
      (integration.deletedAt = ''),
    'primary.result: set-primary returns the state before the change': (integration) =>
      (integration.primary = false),
    'primary.result: set-primary returns 201 instead of 200': (_, { response }) =>
      (response.status = 201),
    async 'primary.result: set-primary changes nothing and returns the unchanged integration'(
      integration,
      { send }
    ) {
      await send(setPrimaryPath(SENDGRID))
      integration.primary = integration._id === SENDGRID
    },
    'primary.result: set-primary returns an integration that was not requested': async (
      _,
      { request, response, send }
    ) => request.path.includes(TWILIO) && replace(response, await send(setPrimaryPath(SENDGRID))),
    'primary.activates: an integration that becomes primary stays inactive': (integration) =>
      (integration.active = false),
    'primary.activates: an integration that becomes primary keeps its conditions': (integration) =>
      (integration.conditions = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }]),
    'primary.again: repeating set-primary renames the integration'(integration, { memory }) {
      const count = Number(memory.get(integration._id) ?? 0)
      memory.set(integration._id, count + 1)
      integration.name = `${integration.name} ${count}`
    },
    'primary.again: an integration is renamed each time it becomes primary'(
      integration,
      { memory }
    ) {
      const { _id } = integration
      const promoted = Number(memory.get(_id) ?? 0) + (memory.get('former') === _id ? 0 : 1)
      memory.set('former', _id).set(_id, promoted)
      integration.name = `Promoted ${promoted}`
    },
    'primary.one: set-primary reports success but changes nothing': (_, { send }) =>
      send(setPrimaryPath(SENDGRID)),
    async "primary.concurrent: concurrent requests get each other's responses"(
      _,
      { response, memory }
    ) {
      const running = Number(memory.get('running') ?? 0)
      memory.set('running', running + 1)
      if (running > 0) response.text = memory.get('text') as string
      memory.set('text', response.text)
      await new Promise((resolve) => setTimeout(resolve, 20))
      memory.set('running', Number(memory.get('running')) - 1)
    },
    'idempotency.accepted: set-primary with an idempotency key returns no credentials': (
      integration,
      { request }
    ) => keyOf(request) && Object.assign(integration, { credentials: {} }),
    async 'idempotency.not-run: set-primary with an idempotency key changes nothing'(_, exchange) {
      const { request, memory } = exchange
      if (keyOf(request) === undefined) memory.set('path', request.path)
      else if (memory.has('path')) await sendWithoutKey(exchange, memory.get('path') as string)
    },
    'live.credentials: set-primary makes the change but returns 500': (_, { response }) =>
      replaceStatus(response, 500)
  }),
  ...onError(400)(
    {
      'live.primary-channels: the error does not name the channel that cannot have a primary': (
        body
      ) => (body.message = 'Bad Request')
    },
    'live'
  ),
  ...onError(401)(
    {
      'live.auth-scheme-case: a lower-case authentication scheme is rejected with 400': (
        _,
        { request, response }
      ) => /^apikey /.test(request.headers.authorization ?? '') && replaceStatus(response, 400)
    },
    'live'
  ),
  ...onStep(
    {
      'live.control-values: `controls.values` differs from `controlValues`': ({ data }) =>
        data.controls.values && Object.assign(data.controls, { values: { x: 1 } }),
      'live.vendor-names: `origin` of a step alternates between `service-cloud` and `novu-cloud`'(
        { data },
        { memory }
      ) {
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
    'idempotency.replay: a replay has an additional field': (body) => (body.replayed = true),
    'idempotency.replay: a replay has different whitespace': (body, { response }) =>
      (response.text = JSON.stringify(body, null, 1)),
    'idempotency.replay: a replay has no `Idempotency-Replay` header': (_, { response }) =>
      delete response.headers['idempotency-replay'],
    'idempotency.replay: a replay has the content type `text/plain`': (_, { response }) =>
      (response.headers['content-type'] = 'text/plain'),
    'idempotency.errors: a replay of an error returns 200': (_, { response }) =>
      (response.status = 200),
    'idempotency.errors: errors are not stored': async (_, exchange) =>
      exchange.response.status >= 400 && replace(exchange.response, await sendWithoutKey(exchange)),
    'idempotency.not-run: a replay runs the operation again': (_, exchange) =>
      sendWithoutKey(exchange)
  }),
  ...onResponses({
    'primary.one: set-primary also demotes the primaries of other channels'({
      request,
      response,
      memory
    }) {
      const primary = memory.get('primary')
      if (isSetPrimary(request) && response.status === 200) memory.set('primary', response.json._id)
      if (request.path !== '/v1/integrations' || !primary) return
      const data = response.json.data.map((integration: Json) => ({
        ...integration,
        primary: integration._id === primary
      }))
      response.json = { data }
    },
    'primary.one: set-primary deactivates other integrations'({ request, response, memory }) {
      const count = Number(memory.get('count') ?? 0)
      if (isSetPrimary(request)) memory.set('count', count + 1)
      if (request.path !== '/v1/integrations') return
      response.json = {
        data: response.json.data.map((integration: Json) => ({
          ...integration,
          active: count % 2 === 0
        }))
      }
    },
    'primary.result: an inactive integration is rejected': ({ request, response }) =>
      request.path.includes(INACTIVE) && replaceStatus(response, 400),
    'primary.result: set-primary always returns 500': ({ request, response }) =>
      isSetPrimary(request) && replaceStatus(response, 500),
    'primary.body: a text body is rejected': ({ request, response }) =>
      isSetPrimary(request) &&
      request.headers['content-type']?.startsWith('text/') &&
      replaceStatus(response, 415),
    'error.body: set-primary for an unknown integration returns 400': ({ request, response }) =>
      isSetPrimary(request) && response.status === 404 && replaceStatus(response, 400),
    'live.integration-lookup: set-primary for an unknown identifier returns 400': ({
      request,
      response
    }) => /conformance-none/.test(request.path) && replaceStatus(response, 400),
    'live.idempotency-rejections: a reused key is rejected with both a `Link` header and `errors`':
      ({ response }) =>
        /reused/.test(response.text) &&
        Object.assign(response.headers, { link: '<https://x.example>' }),
    'idempotency.replay: responses to requests with a key have no charset': ({
      request,
      response
    }) => keyOf(request) && Object.assign(response.headers, { 'content-type': 'application/json' }),
    'idempotency.replay: the first response has the header `Idempotency-Replay`': ({
      request,
      response
    }) => keyOf(request) && Object.assign(response.headers, { 'idempotency-replay': 'true' }),
    'idempotency.replay: responses lack the header `Idempotency-Key`': ({ response }) =>
      delete response.headers['idempotency-key'],
    'idempotency.replay: a response has an `Idempotency-Key` that its request lacked': ({
      request,
      response
    }) =>
      isSetPrimary(request) &&
      Object.assign(response, { headers: { 'idempotency-key': 'none', ...response.headers } }),
    'idempotency.other-body: the rejection of a reused key replaces the stored response'({
      request,
      response,
      memory
    }) {
      const key = keyOf(request) ?? ''
      if (response.status === 422 && /reused/.test(response.text)) memory.set(key, response.text)
      else if (memory.has(key)) Object.assign(response, { status: 422, text: memory.get(key) })
    },
    'idempotency.bounds: a 401 is stored under the key of its request'({
      request,
      response,
      memory
    }) {
      const key = keyOf(request)
      if (key === undefined || !isSetPrimary(request)) return
      if (response.status === 401) memory.set(key, response.text)
      else if (memory.has(key)) Object.assign(response, { status: 401, text: memory.get(key) })
    },
    'idempotency.in-use: a 409 has no `Retry-After`'({ request, response, memory }) {
      const key = keyOf(request)
      if (key === undefined || !isSetPrimary(request)) return
      if (memory.has(key))
        Object.assign(response, { status: 409, headers: { 'content-type': 'application/json' } })
      memory.set(key, true)
    }
  }),
  ...onRequests({
    'malformed.body: a malformed body is accepted': (request) =>
      isSetPrimary(request) &&
      request.body.toString() === '{' &&
      Object.assign(request, { body: Buffer.alloc(0) }),
    'primary.result: a GET request for the set-primary path makes the integration primary': (
      request
    ) => /\/set-primary$/.test(request.path) && Object.assign(request, { method: 'POST' }),
    'idempotency.errors: idempotency keys are ignored': ({ headers }) =>
      delete headers['idempotency-key'],
    'idempotency.other-body: a reused key with another body is accepted': (request) =>
      keyOf(request) && Object.assign(request, { body: Buffer.alloc(0) }),
    'idempotency.in-use: concurrent requests with the same key all run the operation': ({
      headers
    }) => delete headers['idempotency-key']
  }),
  ...onPaths({
    'live.foreign-integration: set-primary accepts an integration of another environment': (path) =>
      path.replace('6703aa1c5d2e8b0013b70001', SENDGRID)
  }),
  ...onKeys({
    'idempotency.replay: keys are compared case-insensitively': (key) => key.toLowerCase(),
    'idempotency.replay: every key replays the same response': () => 'one-for-all',
    'idempotency.bounds: a key is truncated to 64 characters': (key) => key.slice(0, 64),
    'live.idempotency-quotes: quotes in a key are replaced by underscores': (key) =>
      key.replaceAll('"', '_'),
    'live.idempotency-match: reusing a key with another path runs the operation': (key, request) =>
      isSetPrimary(request) ? `${key.slice(0, 100)}${request.path.slice(20, 60)}` : key
  })
]

import { EMBEDDED_FIELDS } from '../../../../src/messages/schemas.js'
import {
  eachMessage,
  isSetPrimary,
  isStep,
  type Json,
  onAnyError,
  onError,
  onPage,
  onPaths,
  onRequests,
  onResponses,
  onStep,
  type PlantedFault,
  replace,
  replaceStatus,
  withDefaultKey
} from './planted-fault.js'

const NOBODY = 'ffffffffffffffffffffffff'

/** Faults in fields, errors, steps and authentication. */
export const SHAPE_FAULTS: readonly PlantedFault[] = [
  ...onPage({
    'wire.list.shape: the list lacks `hasMore`': (page) => delete page.hasMore,
    'wire.list.shape: the list is wrapped in an envelope': (page, { response }) =>
      (response.json = { data: page }),
    'wire.list.shape: `data` is an object': (page) => (page.data = { ...page.data }),
    'wire.list.shape: `totalCount` is a string': (page) =>
      (page.totalCount = String(page.totalCount)),
    'wire.list.shape: a message lacks `transactionId`': eachMessage(
      (message) => delete message.transactionId
    ),
    'wire.list.shape: a message lacks `cta`': eachMessage((message) => delete message.cta),
    'wire.list.shape: `subject` is null in messages without a subject': eachMessage(
      (message) => (message.subject ??= null)
    ),
    'wire.list.shape: `channel` is in upper case': eachMessage(
      (message) => (message.channel = message.channel.toUpperCase())
    ),
    'wire.list.shape: `status` is `delivered`, which is not an allowed value': eachMessage(
      (message) => (message.status = 'delivered')
    ),
    'wire.list.shape: `read` is 0 or 1': eachMessage(
      (message) => (message.read = Number(message.read))
    ),
    'wire.list.shape: `deliveredAt` is a string': eachMessage(
      (message) => (message.deliveredAt = message.createdAt)
    ),
    'wire.list.shape: `content` is an object': eachMessage(
      (message) => (message.content = { html: message.content })
    ),
    'wire.list.shape: a subscriber lacks `updatedAt`': eachMessage(
      ({ subscriber }) => delete subscriber?.updatedAt
    ),
    'wire.list.shape: the list has the content type `text/plain`': (_, { response }) =>
      (response.headers['content-type'] = 'text/plain'),
    'wire.list.fields: messages have an internal field': eachMessage(
      (message) => (message._jobId = message._id)
    ),
    'wire.list.records: two messages have the same `_id`': ({ data }) =>
      Object.assign(data[1] ?? {}, { _id: data[0]?._id }),
    'wire.list.records: one message belongs to another environment': ({ data }) =>
      Object.assign(data[1] ?? {}, { _environmentId: NOBODY }),
    'wire.list.records: messages contain the wrong subscriber': eachMessage(({ subscriber }) =>
      Object.assign(subscriber ?? {}, { _id: NOBODY })
    ),
    'wire.list.records: context keys lack the type before the colon': eachMessage(
      (message) =>
        (message.contextKeys = message.contextKeys?.map((key: string) => key.replace(/^.*?:/, '')))
    ),
    'live.message-extras: messages have `updatedAt`, but neither `id` nor `__v`': eachMessage(
      (message) => (message.updatedAt = message.createdAt)
    ),
    'live.embedded-subscriber: embedded subscribers lack `email` and `data`': eachMessage(
      ({ subscriber }) => {
        for (const name of Object.keys(subscriber ?? {}))
          if (!EMBEDDED_FIELDS.includes(name)) delete subscriber[name]
      }
    ),
    'wire.list.times: `createdAt` is a string with milliseconds since 1970': eachMessage(
      (message) => (message.createdAt = String(Date.parse(message.createdAt)))
    )
  }),
  ...onStep({
    'wire.step.shape: a step lacks `variables`': (step) => delete step.variables,
    'wire.step.shape: `issues` is null in steps without issues': (step) => (step.issues ??= null),
    'wire.step.shape: `origin` is `cloud`, which is not an allowed value': (step) =>
      (step.origin = 'cloud'),
    'wire.step.shape: `uiSchema.group` is in lower case': ({ controls: { uiSchema } }) =>
      Object.assign(uiSchema ?? {}, { group: 'sms' }),
    'wire.step.shape: a step has the content type `text/html`': (_, { response }) =>
      (response.headers['content-type'] = 'text/html'),
    'wire.step.shape: `variables` is not a JSON Schema': (step) => (step.variables = { names: [] }),
    'wire.step.fields: a step has an internal field': (step) => (step.patchData = {}),
    'wire.step.slug: the slug of a step ends with the `_id` in hex': (step) =>
      (step.slug = `step_st_${step._id}`),
    'live.envelope: a step is wrapped in `result` instead of `data`': (step, { response }) =>
      (response.json = { result: step }),
    'step.named: `workflowId` is the `_id` of the workflow': (step) =>
      (step.workflowId = step.workflowDatabaseId),
    'step.named: all steps have the same `_id`': (step) =>
      Object.assign(step, { _id: NOBODY, slug: 'x_st_vVXHHNKfCJVnOtj1' }),
    'step.named: the name of a step differs in every response': (step) =>
      (step.name = `${step.name} ${performance.now()}`),
    'step.forms: `workflowId` is copied from the path of the request': (step, { request }) =>
      (step.workflowId = decodeURIComponent(request.path.split('/')[3] ?? ''))
  }),
  ...onAnyError({
    'error.body: an error has the content type `application/problem+json`': (_, { response }) =>
      (response.headers['content-type'] = 'application/problem+json'),
    'error.body: an error lacks `statusCode`': (body) => delete body.statusCode,
    'error.body: `statusCode` is a string': (body) => (body.statusCode = String(body.statusCode)),
    'error.body: `error` is a code instead of the name of the status': (body) =>
      (body.error = 'ERR_REFUSED'),
    'error.body: `message` is an array': (body) => (body.message = [body.message]),
    'error.body: `timestamp` is a number': (body) => (body.timestamp = Date.now()),
    'error.body: `path` lacks the query string': (body) => (body.path = body.path.split('?')[0]),
    'error.body: `path` includes the host': (body) =>
      (body.path = `http://api.example${body.path}`),
    'error.body: `ctx` is null': (body) => (body.ctx = null),
    'error.body: `errors` is null if no field is invalid': (body) => (body.errors ??= null),
    'error.body: an error is an HTML page': (_, { response }) => (response.text = '<h1>Error</h1>'),
    'auth.unauthorized: a 401 has no `WWW-Authenticate`': (_, { response }) =>
      delete response.headers['www-authenticate']
  }),
  ...onError(401)({
    'auth.unauthorized: a missing key is rejected with 403 instead of 401': (_, { response }) =>
      replaceStatus(response, 403),
    'auth.unauthorized: the query is checked before the key': (_, { request, response }) =>
      /page=-1/.test(request.path) && replaceStatus(response, 422),
    'auth.unauthorized: an authentication scheme without a key is reported as a missing header': (
      body
    ) => (body.message = 'Missing authorization header'),
    'auth.unauthorized: a 401 contains the key of the request': (body, { request }) =>
      (body.ctx = { header: request.headers.authorization }),
    async 'auth.required: the authentication scheme `Bearer` is accepted'(
      _,
      { request, response, send }
    ) {
      const headers = { ...request.headers, authorization: 'ApiKey development-key' }
      if (/^Bearer/.test(request.headers.authorization ?? ''))
        replace(response, await send(request.path, { headers }))
    },
    'live.error-context: `ctx` only contains the path': (body, { request }) =>
      (body.ctx = { path: request.path })
  }),
  ...onError(422)({
    'live.paging-bounds: an invalid parameter is rejected with 400': (_, { response }) =>
      replaceStatus(response, 400),
    'live.paging-bounds: a validation error only names the first invalid field': (body) =>
      (body.errors = Object.fromEntries(Object.entries(body.errors).slice(0, 1))),
    'live.paging-bounds: a validation error does not contain the invalid value': (body) =>
      Object.values<Json>(body.errors).map((field) => delete field.value),
    'live.unknown-channel-filter: an unknown channel is rejected with 404': (
      _,
      { request, response }
    ) => /channel=conf/.test(request.path) && replaceStatus(response, 404)
  }),
  ...onError(404)({
    'step.unknown-workflow: the step is looked up before the workflow': (body) =>
      (body.message = body.message.replace('Workflow', 'Step')),
    'live.unknown-workflow: a step of an unknown workflow returns 403': (body, { response }) =>
      /^Workflow/.test(body.message) && replaceStatus(response, 403),
    async 'step.own: a step is also found in other workflows'(_, { request, response, send }) {
      if (!/\/steps\/[0-9a-f]{24}$/.test(request.path)) return
      for (const workflow of ['sign-in-code', 'order-shipped']) {
        const other = await send(request.path.replace(/workflows\/[^/]+/, `workflows/${workflow}`))
        if (other.status === 200) replace(response, other)
      }
    }
  }),
  ...onResponses({
    'malformed.query: a query string that cannot be decoded returns 500': ({ request, response }) =>
      /%zz/.test(request.path) && response.status === 400 && replaceStatus(response, 500),
    'malformed.path: a path that cannot be decoded returns 404': ({ request, response }) =>
      /\/%zz\//.test(request.path) && replaceStatus(response, 404),
    'live.unknown-step: an unknown step returns 200 and `null`': ({ request, response }) =>
      request.path.endsWith('/conformance-none') &&
      Object.assign(response, { status: 200, text: 'null' }),
    'live.unserved-route: an unknown path returns an HTML page with 404': ({ request, response }) =>
      request.path === '/v1/conformance' &&
      Object.assign(response, { status: 404, text: '<h1>Not found</h1>' }),
    'live.cors: `Access-Control-Allow-Origin` contains a different origin': ({ response }) => {
      if (response.headers['access-control-allow-origin'])
        response.headers['access-control-allow-origin'] = 'https://other.example'
    },
    'live.total-count: `totalCount` is null': ({ response }) => {
      response.text = response.text.replace(/"totalCount":\d+/, '"totalCount":null')
    }
  }),
  ...onPaths({
    'live.path-form: paths are case-sensitive, but a trailing slash is ignored': (path) =>
      path.replace(/^(\/v1\/messages)\/(?=\?|$)/, '$1'),
    'step.forms: a workflow is only found by its identifier': (path) =>
      path.replace(/(workflows\/)[0-9a-f]{24}(?=\/)/, '$1none'),
    'step.forms: a step is not found by its slug': (path) =>
      path.replace(/(steps\/).*_st_.*/, '$1none'),
    'step.forms: a step is not found by a slug that has another name before the id': (path) =>
      path.replace(/(steps\/)another-name_st_.*/, '$1none'),
    'live.step-lookup: the `_id` of a step is case-sensitive': (path) =>
      path.replace(/(steps\/)[0-9A-F]*[A-F][0-9A-F]*$/, '$1none'),
    'live.step-lookup: extra characters after a slug are ignored': (path) =>
      path.replace(/(_st_[0-9A-Za-z]{16}).+/, '$1'),
    'step.named: every request for a step returns the first step of the workflow': (path) =>
      path.replace(/steps\/(sms|push|chat)-step$/, 'steps/email-step'),
    'step.named: a request for the email step returns the push step': (path) =>
      path.replace(/order-shipped\/steps\/email-step$/, 'order-shipped/steps/push-step')
  }),
  ...onRequests({
    'auth.required: a request without a key is accepted': (request) => withDefaultKey(request),
    'auth.required: a request with an unknown key is accepted': (request) =>
      request.headers.authorization && withDefaultKey(request, true),
    'auth.required: an `idempotency-key` is accepted instead of an API key': (request) =>
      request.headers['idempotency-key'] && withDefaultKey(request),
    'auth.required: steps can be retrieved without a key': (request) =>
      isStep(request) && withDefaultKey(request),
    'auth.required: steps can be retrieved with an unknown key': (request) =>
      isStep(request) && request.headers.authorization && withDefaultKey(request, true),
    'auth.required: set-primary is accepted without a key': (request) =>
      isSetPrimary(request) && withDefaultKey(request)
  })
]

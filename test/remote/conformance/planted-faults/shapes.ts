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

/** Targets with wrong fields, errors, steps or authentication. */
export const SHAPE_FAULTS: readonly PlantedFault[] = [
  ...onPage({
    'wire.list.shape: the list lacks `hasMore`': (page) => delete page.hasMore,
    'wire.list.shape: the list is in an envelope': (page, { response }) =>
      (response.json = { data: page }),
    'wire.list.shape: `data` is an object': (page) => (page.data = { ...page.data }),
    'wire.list.shape: `totalCount` is a string': (page) =>
      (page.totalCount = String(page.totalCount)),
    'wire.list.shape: a message lacks `transactionId`': eachMessage(
      (message) => delete message.transactionId
    ),
    'wire.list.shape: a message lacks `cta`': eachMessage((message) => delete message.cta),
    'wire.list.shape: a missing `subject` is null': eachMessage(
      (message) => (message.subject ??= null)
    ),
    'wire.list.shape: `channel` is spelled `IN_APP`': eachMessage(
      (message) => (message.channel = message.channel.toUpperCase())
    ),
    'wire.list.shape: `status` is `delivered`': eachMessage(
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
    'wire.list.shape: the list is sent as text': (_, { response }) =>
      (response.headers['content-type'] = 'text/plain'),
    'wire.list.fields: messages have an internal field': eachMessage(
      (message) => (message.__v = 0)
    ),
    'wire.list.records: two messages have the same `_id`': ({ data }) =>
      Object.assign(data[1] ?? {}, { _id: data[0]?._id }),
    'wire.list.records: one message belongs to another environment': ({ data }) =>
      Object.assign(data[1] ?? {}, { _environmentId: NOBODY }),
    'wire.list.records: the wrong subscriber is embedded': eachMessage(({ subscriber }) =>
      Object.assign(subscriber ?? {}, { _id: NOBODY })
    ),
    'wire.list.records: context keys lack their type': eachMessage(
      (message) =>
        (message.contextKeys = message.contextKeys?.map((key: string) => key.replace(/^.*?:/, '')))
    ),
    'live.embedded-subscriber: the embedded subscriber lacks its email and data': eachMessage(
      ({ subscriber }) => {
        for (const name of Object.keys(subscriber ?? {}))
          if (!EMBEDDED_FIELDS.includes(name)) delete subscriber[name]
      }
    ),
    'wire.list.times: timestamps are strings of milliseconds': eachMessage(
      (message) => (message.createdAt = String(Date.parse(message.createdAt)))
    )
  }),
  ...onStep({
    'wire.step.shape: a step lacks `variables`': (step) => delete step.variables,
    'wire.step.shape: missing `issues` are null': (step) => (step.issues ??= null),
    'wire.step.shape: a step has the origin `cloud`': (step) => (step.origin = 'cloud'),
    'wire.step.shape: an editor component is in lower case': ({ controls: { uiSchema } }) =>
      Object.assign(uiSchema ?? {}, { group: 'sms' }),
    'wire.step.shape: a step is sent as text': (_, { response }) =>
      (response.headers['content-type'] = 'text/html'),
    'wire.step.shape: `variables` is a list of names': (step) => (step.variables = { names: [] }),
    'wire.step.fields: a step has an internal field': (step) => (step.patchData = {}),
    'wire.step.slug: a slug ends with the `_id` in hex': (step) =>
      (step.slug = `step_st_${step._id}`),
    'live.envelope: the envelope of a step has another name': (step, { response }) =>
      (response.json = { result: step }),
    'step.named: `workflowId` is the `_id` of the workflow': (step) =>
      (step.workflowId = step.workflowDatabaseId),
    'step.named: all steps have the same `_id`': (step) =>
      Object.assign(step, { _id: NOBODY, slug: 'x_st_vVXHHNKfCJVnOtj1' }),
    'step.named: a step has a field that changes': (step) =>
      (step.name = `${step.name} ${performance.now()}`),
    'step.forms: `workflowId` repeats the name in the request': (step, { request }) =>
      (step.workflowId = decodeURIComponent(request.path.split('/')[3] ?? ''))
  }),
  ...onAnyError({
    'error.body: an error is `application/problem+json`': (_, { response }) =>
      (response.headers['content-type'] = 'application/problem+json'),
    'error.body: an error lacks `statusCode`': (body) => delete body.statusCode,
    'error.body: `statusCode` is a string': (body) => (body.statusCode = String(body.statusCode)),
    'error.body: `error` is a code': (body) => (body.error = 'ERR_REFUSED'),
    'error.body: `message` is a list': (body) => (body.message = [body.message]),
    'error.body: `timestamp` is a number': (body) => (body.timestamp = Date.now()),
    'error.body: `path` lacks the query string': (body) => (body.path = body.path.split('?')[0]),
    'error.body: `path` includes the host': (body) =>
      (body.path = `http://api.example${body.path}`),
    'error.body: `ctx` is null': (body) => (body.ctx = null),
    'error.body: missing `errors` are null': (body) => (body.errors ??= null),
    'error.body: an error is HTML': (_, { response }) => (response.text = '<h1>Error</h1>'),
    'auth.unauthorized: a 401 has no `WWW-Authenticate`': (_, { response }) =>
      delete response.headers['www-authenticate']
  }),
  ...onError(401)({
    'auth.unauthorized: a missing key is a 403': (_, { response }) => replaceStatus(response, 403),
    'auth.unauthorized: the query is checked before the key': (_, { request, response }) =>
      /page=-1/.test(request.path) && replaceStatus(response, 422),
    'auth.unauthorized: a scheme without a key is a missing header': (body) =>
      (body.message = 'Missing authorization header'),
    'auth.unauthorized: an error repeats the key': (body, { request }) =>
      (body.ctx = { header: request.headers.authorization }),
    async 'auth.required: any scheme is accepted'(_, { request, response, send }) {
      const headers = { ...request.headers, authorization: 'ApiKey development-key' }
      if (/^Bearer/.test(request.headers.authorization ?? ''))
        replace(response, await send(request.path, { headers }))
    },
    'live.error-context: `ctx` contains the path': (body, { request }) =>
      (body.ctx = { path: request.path })
  }),
  ...onError(422)({
    'live.paging-bounds: an invalid value is a 400': (_, { response }) =>
      replaceStatus(response, 400),
    'live.paging-bounds: a validation error only names the first field': (body) =>
      (body.errors = Object.fromEntries(Object.entries(body.errors).slice(0, 1))),
    'live.paging-bounds: a validation error lacks the value': (body) =>
      Object.values<Json>(body.errors).map((field) => delete field.value),
    'live.unknown-channel-filter: an unknown channel is a 404': (_, { request, response }) =>
      /channel=conf/.test(request.path) && replaceStatus(response, 404)
  }),
  ...onError(404)({
    'step.unknown-workflow: the step is looked up before the workflow': (body) =>
      (body.message = body.message.replace('Workflow', 'Step')),
    'live.unknown-workflow: an unknown workflow is a 403': (body, { response }) =>
      /^Workflow/.test(body.message) && replaceStatus(response, 403),
    async 'step.own: a step is found in any workflow'(_, { request, response, send }) {
      if (!/\/steps\/[0-9a-f]{24}$/.test(request.path)) return
      for (const workflow of ['sign-in-code', 'order-shipped']) {
        const found = await send(request.path.replace(/workflows\/[^/]+/, `workflows/${workflow}`))
        if (found.status === 200) replace(response, found)
      }
    }
  }),
  ...onResponses({
    'malformed.query: a query that cannot be decoded is a 500': ({ request, response }) =>
      /%zz/.test(request.path) && response.status === 400 && replaceStatus(response, 500),
    'malformed.path: a path that cannot be decoded is a 404': ({ request, response }) =>
      /\/%zz\//.test(request.path) && replaceStatus(response, 404),
    'live.unknown-step: an unknown step is a 200 with null': ({ request, response }) =>
      request.path.endsWith('/conformance-none') &&
      Object.assign(response, { status: 200, text: 'null' }),
    'live.unserved-route: an unknown path is an HTML 404': ({ request, response }) =>
      request.path === '/v1/conformance' &&
      Object.assign(response, { status: 404, text: '<h1>Not found</h1>' }),
    'live.total-count: `totalCount` is null': ({ response }) => {
      response.text = response.text.replace(/"totalCount":\d+/, '"totalCount":null')
    }
  }),
  ...onPaths({
    'step.forms: a workflow is only found by its identifier': (path) =>
      path.replace(/(workflows\/)[0-9a-f]{24}(?=\/)/, '$1none'),
    'step.forms: a step is not found by its slug': (path) =>
      path.replace(/(steps\/).*_st_.*/, '$1none'),
    'step.forms: a slug must have the right name': (path) =>
      path.replace(/(steps\/)another-name_st_.*/, '$1none'),
    'live.step-lookup: ids are compared case-sensitively': (path) =>
      path.replace(/(steps\/)[0-9A-F]*[A-F][0-9A-F]*$/, '$1none'),
    'live.step-lookup: extra characters after a slug are ignored': (path) =>
      path.replace(/(_st_[0-9A-Za-z]{16}).+/, '$1'),
    'step.named: every step is the first of its workflow': (path) =>
      path.replace(/steps\/(sms|push|chat)-step$/, 'steps/email-step'),
    'step.named: one step is returned for another': (path) =>
      path.replace(/order-shipped\/steps\/email-step$/, 'order-shipped/steps/push-step')
  }),
  ...onRequests({
    'auth.required: a request without a key is accepted': (request) => withDefaultKey(request),
    'auth.required: any key is accepted': (request) =>
      request.headers.authorization && withDefaultKey(request, true),
    'auth.required: an `idempotency-key` counts as an API key': (request) =>
      request.headers['idempotency-key'] && withDefaultKey(request),
    'auth.required: steps require no key': (request) => isStep(request) && withDefaultKey(request),
    'auth.required: any key is accepted for steps': (request) =>
      isStep(request) && request.headers.authorization && withDefaultKey(request, true),
    'auth.required: set-primary requires no key': (request) =>
      isSetPrimary(request) && withDefaultKey(request)
  })
]

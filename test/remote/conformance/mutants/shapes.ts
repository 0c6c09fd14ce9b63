import { EMBEDDED_FIELDS } from '../../../../src/messages/schemas.js'
import {
  each,
  isSetPrimary,
  isStep,
  type Json,
  type Mutant,
  onAnswers,
  onAnyRefusal,
  onPage,
  onPaths,
  onRefusal,
  onRequests,
  onStep,
  replace,
  restatus,
  withDefaultKey
} from './mutant.js'

const NOBODY = 'ffffffffffffffffffffffff'

/** Targets whose answers have other fields, whose refusals are others, and whose steps and keys are mistaken. */
export const SHAPE_MUTANTS: readonly Mutant[] = [
  ...onPage({
    'wire.list.shape: the list lacks `hasMore`': (page) => delete page.hasMore,
    'wire.list.shape: the list is in an envelope': (page, { answer }) =>
      (answer.json = { data: page }),
    'wire.list.shape: `data` is an object': (page) => (page.data = { ...page.data }),
    'wire.list.shape: `totalCount` is a text': (page) =>
      (page.totalCount = String(page.totalCount)),
    'wire.list.shape: a message lacks `transactionId`': each(
      (message) => delete message.transactionId
    ),
    'wire.list.shape: a message lacks `cta`': each((message) => delete message.cta),
    'wire.list.shape: `subject` is null where there is none': each(
      (message) => (message.subject ??= null)
    ),
    'wire.list.shape: `channel` is spelled `IN_APP`': each(
      (message) => (message.channel = message.channel.toUpperCase())
    ),
    'wire.list.shape: `status` is `delivered`': each((message) => (message.status = 'delivered')),
    'wire.list.shape: `read` is 0 or 1': each((message) => (message.read = Number(message.read))),
    'wire.list.shape: `deliveredAt` is one text': each(
      (message) => (message.deliveredAt = message.createdAt)
    ),
    'wire.list.shape: `content` is an object': each(
      (message) => (message.content = { html: message.content })
    ),
    'wire.list.shape: a subscriber lacks `updatedAt`': each(
      ({ subscriber }) => delete subscriber?.updatedAt
    ),
    'wire.list.shape: the list is sent as text': (_, { answer }) =>
      (answer.headers['content-type'] = 'text/plain'),
    'wire.list.fields: messages have an internal field': each((message) => (message.__v = 0)),
    'wire.list.records: two messages have one `_id`': ({ data }) =>
      Object.assign(data[1] ?? {}, { _id: data[0]?._id }),
    'wire.list.records: a message of another environment is among them': ({ data }) =>
      Object.assign(data[1] ?? {}, { _environmentId: NOBODY }),
    'wire.list.records: the wrong subscriber is embedded': each(({ subscriber }) =>
      Object.assign(subscriber ?? {}, { _id: NOBODY })
    ),
    'wire.list.records: context keys lack their type': each(
      (message) =>
        (message.contextKeys = message.contextKeys?.map((key: string) => key.replace(/^.*?:/, '')))
    ),
    'live.embedded-subscriber: a subscriber is embedded without its address and its data': each(
      ({ subscriber }) => {
        for (const name of Object.keys(subscriber ?? {}))
          if (!EMBEDDED_FIELDS.includes(name)) delete subscriber[name]
      }
    ),
    'wire.list.times: times are milliseconds since 1970, in a text': each(
      (message) => (message.createdAt = String(Date.parse(message.createdAt)))
    )
  }),
  ...onStep({
    'wire.step.shape: a step lacks `variables`': (step) => delete step.variables,
    'wire.step.shape: a step has null for `issues` where there are none': (step) =>
      (step.issues ??= null),
    'wire.step.shape: a step has the origin `cloud`': (step) => (step.origin = 'cloud'),
    'wire.step.shape: a component of the editor is spelled in small letters': ({
      controls: { uiSchema }
    }) => Object.assign(uiSchema ?? {}, { group: 'sms' }),
    'wire.step.shape: a step is sent as text': (_, { answer }) =>
      (answer.headers['content-type'] = 'text/html'),
    'wire.step.shape: `variables` is a list of names': (step) => (step.variables = { names: [] }),
    'wire.step.fields: a step has an internal field': (step) => (step.patchData = {}),
    'wire.step.slug: a slug ends with the `_id` in hex': (step) =>
      (step.slug = `step_st_${step._id}`),
    'live.envelope: a step is in an envelope of another name': (step, { answer }) =>
      (answer.json = { result: step }),
    'step.named: a step names its workflow by the `_id`': (step) =>
      (step.workflowId = step.workflowDatabaseId),
    'step.named: all steps have one `_id`': (step) =>
      Object.assign(step, { _id: NOBODY, slug: 'x_st_vVXHHNKfCJVnOtj1' }),
    'step.named: a step has a field that changes': (step) =>
      (step.name = `${step.name} ${performance.now()}`),
    'step.forms: a step repeats the form of `workflowId` that was asked by': (step, { request }) =>
      (step.workflowId = decodeURIComponent(request.path.split('/')[3] ?? ''))
  }),
  ...onAnyRefusal({
    'error.body: a refusal is `application/problem+json`': (_, { answer }) =>
      (answer.headers['content-type'] = 'application/problem+json'),
    'error.body: a refusal lacks `statusCode`': (body) => delete body.statusCode,
    'error.body: a refusal has its status as a text': (body) =>
      (body.statusCode = String(body.statusCode)),
    'error.body: the `error` of a refusal is a code': (body) => (body.error = 'ERR_REFUSED'),
    'error.body: the `message` of a refusal is a list': (body) => (body.message = [body.message]),
    'error.body: the `timestamp` of a refusal is a number': (body) => (body.timestamp = Date.now()),
    'error.body: the `path` of a refusal lacks the query string': (body) =>
      (body.path = body.path.split('?')[0]),
    'error.body: the `path` of a refusal has the host': (body) =>
      (body.path = `http://api.example${body.path}`),
    'error.body: the `ctx` of a refusal is null': (body) => (body.ctx = null),
    'error.body: `errors` is null where there are none': (body) => (body.errors ??= null),
    'error.body: a refusal is HTML': (_, { answer }) => (answer.text = '<h1>Error</h1>'),
    'auth.words: a 401 has no `WWW-Authenticate`': (_, { answer }) =>
      delete answer.headers['www-authenticate']
  }),
  ...onRefusal(401)({
    'auth.words: a missing key is a 403': (_, { answer }) => restatus(answer, 403),
    'auth.words: the query is checked before the key': (_, { request, answer }) =>
      /page=-1/.test(request.path) && restatus(answer, 422),
    'auth.words: a scheme without a key is a missing header': (body) =>
      (body.message = 'Missing authorization header'),
    'auth.words: a refusal repeats the key': (body, { request }) =>
      (body.ctx = { header: request.headers.authorization }),
    async 'auth.required: any scheme is good'(_, { request, answer, ask }) {
      const headers = { ...request.headers, authorization: 'ApiKey development-key' }
      if (/^Bearer/.test(request.headers.authorization ?? ''))
        replace(answer, await ask(request.path, { headers }))
    },
    'live.error-context: the `ctx` of a refusal holds the path': (body, { request }) =>
      (body.ctx = { path: request.path })
  }),
  ...onRefusal(422)({
    'live.paging-bounds: an invalid value is a 400': (_, { answer }) => restatus(answer, 400),
    'live.paging-bounds: a validation error names the first field only': (body) =>
      (body.errors = Object.fromEntries(Object.entries(body.errors).slice(0, 1))),
    'live.paging-bounds: a validation error lacks the value': (body) =>
      Object.values<Json>(body.errors).map((field) => delete field.value),
    'live.unknown-channel-filter: an unknown channel is a 404': (_, { request, answer }) =>
      /channel=conf/.test(request.path) && restatus(answer, 404)
  }),
  ...onRefusal(404)({
    'step.unknown-workflow: the step is looked up before the workflow': (body) =>
      (body.message = body.message.replace('Workflow', 'Step')),
    'live.unknown-workflow: an unknown workflow is a 403': (body, { answer }) =>
      /^Workflow/.test(body.message) && restatus(answer, 403),
    async 'step.own: a step is found in any workflow'(_, { request, answer, ask }) {
      if (!/\/steps\/[0-9a-f]{24}$/.test(request.path)) return
      for (const workflow of ['sign-in-code', 'order-shipped']) {
        const found = await ask(request.path.replace(/workflows\/[^/]+/, `workflows/${workflow}`))
        if (found.status === 200) replace(answer, found)
      }
    }
  }),
  ...onAnswers({
    'malformed.query: a query that can not be decoded is a 500': ({ request, answer }) =>
      /%zz/.test(request.path) && answer.status === 400 && restatus(answer, 500),
    'malformed.path: a path that can not be decoded is a 404': ({ request, answer }) =>
      /\/%zz\//.test(request.path) && restatus(answer, 404),
    'live.unknown-step: an unknown step is a 200 with null': ({ request, answer }) =>
      request.path.endsWith('/conformance-none') &&
      Object.assign(answer, { status: 200, text: 'null' }),
    'live.unserved-route: an unknown path is a 404 of a web server': ({ request, answer }) =>
      request.path === '/v1/conformance' &&
      Object.assign(answer, { status: 404, text: '<h1>Not found</h1>' }),
    'live.total-count: there is a total of null': ({ answer }) => {
      answer.text = answer.text.replace(/"totalCount":\d+/, '"totalCount":null')
    }
  }),
  ...onPaths({
    'step.forms: a workflow is found by its identifier only': (path) =>
      path.replace(/(workflows\/)[0-9a-f]{24}(?=\/)/, '$1none'),
    'step.forms: a step is not found by its slug': (path) =>
      path.replace(/(steps\/).*_st_.*/, '$1none'),
    'step.forms: the name in a slug must be right': (path) =>
      path.replace(/(steps\/)another-name_st_.*/, '$1none'),
    'live.step-lookup: ids are compared with their case': (path) =>
      path.replace(/(steps\/)[0-9A-F]*[A-F][0-9A-F]*$/, '$1none'),
    'live.step-lookup: a slug may have anything at its end': (path) =>
      path.replace(/(_st_[0-9A-Za-z]{16}).+/, '$1'),
    'step.named: any step is the first of its workflow': (path) =>
      path.replace(/steps\/(sms|push|chat)-step$/, 'steps/email-step'),
    'step.named: a step is another one than was asked for': (path) =>
      path.replace(/order-shipped\/steps\/email-step$/, 'order-shipped/steps/push-step')
  }),
  ...onRequests({
    'auth.required: a request without a key is answered': (request) => withDefaultKey(request),
    'auth.required: any key is good': (request) =>
      request.headers.authorization && withDefaultKey(request, true),
    'auth.required: an `idempotency-key` is taken for a key': (request) =>
      request.headers['idempotency-key'] && withDefaultKey(request),
    'auth.required: steps need no key': (request) => isStep(request) && withDefaultKey(request),
    'auth.required: any key is good for steps': (request) =>
      isStep(request) && request.headers.authorization && withDefaultKey(request, true),
    'auth.required: set-primary needs no key': (request) =>
      isSetPrimary(request) && withDefaultKey(request)
  })
]

import { EMBEDDED_FIELDS } from '../../../src/messages/schemas.js'
import {
  asIfKey,
  each,
  isSetPrimary,
  isStep,
  type Json,
  type Mutant,
  onAnswers,
  onAnyRefusal,
  onPage,
  onRefusal,
  onRequests,
  onStep,
  replace,
  restatus,
  rewrite,
  withChanges,
  withDefaultKey
} from './mutant.js'

export const SHAPE_MUTANTS: readonly Mutant[] = [
  // Shapes.
  ...onPage({
    'the list lacks `hasMore`': ['wire.list.shape', (page) => delete page.hasMore],
    'the list is in an envelope': ['wire.list.shape', (page, { answer }) => (answer.json = { data: page })],
    '`data` is an object': ['wire.list.shape', (page) => (page.data = { ...page.data })],
    '`totalCount` is a text': ['wire.list.shape', (page) => (page.totalCount = String(page.totalCount))],
    'a message lacks `transactionId`': ['wire.list.shape', each((message) => delete message.transactionId)],
    'a message lacks `cta`': ['wire.list.shape', each((message) => delete message.cta)],
    '`subject` is null where there is none': ['wire.list.shape', each((message) => (message.subject ??= null))],
    '`channel` is spelled `IN_APP`': [
      'wire.list.shape',
      each((message) => (message.channel = message.channel.toUpperCase()))
    ],
    '`status` is `delivered`': ['wire.list.shape', each((message) => (message.status = 'delivered'))],
    '`read` is 0 or 1': ['wire.list.shape', each((message) => (message.read = Number(message.read)))],
    '`deliveredAt` is one text': ['wire.list.shape', each((message) => (message.deliveredAt = message.createdAt))],
    '`content` is an object': ['wire.list.shape', each((message) => (message.content = { html: message.content }))],
    'a subscriber lacks `updatedAt`': ['wire.list.shape', each(({ subscriber }) => delete subscriber?.updatedAt)],
    'messages have an internal field': ['wire.list.fields', each((message) => (message.__v = 0))],
    'two messages have one `_id`': [
      'wire.list.records',
      ({ data }) => Object.assign(data[1] ?? {}, { _id: data[0]?._id })
    ],
    'a message of another environment is among them': [
      'wire.list.records',
      ({ data }) => Object.assign(data[1] ?? {}, { _environmentId: 'ffffffffffffffffffffffff' })
    ],
    'a subscriber is embedded without its address and its data': [
      'live.embedded-subscriber',
      each(({ subscriber }) => {
        for (const name of Object.keys(subscriber ?? {})) if (!EMBEDDED_FIELDS.includes(name)) delete subscriber[name]
      })
    ],
    'the wrong subscriber is embedded': [
      'wire.list.records',
      each(({ subscriber }) => Object.assign(subscriber ?? {}, { _id: 'ffffffffffffffffffffffff' }))
    ],
    'times are milliseconds since 1970, in a text': [
      'wire.list.times',
      each((message) => (message.createdAt = String(Date.parse(message.createdAt))))
    ],
    'context keys lack their type': [
      'wire.list.records',
      each((message) => (message.contextKeys = message.contextKeys?.map((key: string) => key.replace(/^.*?:/, ''))))
    ],
    'the list is sent as text': ['wire.list.shape', (_, { answer }) => (answer.headers['content-type'] = 'text/plain')]
  }),
  ...onStep({
    'a step lacks `variables`': ['wire.step.shape', (step) => delete step.variables],
    'a step has null for `issues` where there are none': ['wire.step.shape', (step) => (step.issues ??= null)],
    'a step has the origin `cloud`': ['wire.step.shape', (step) => (step.origin = 'cloud')],
    'a component of the editor is spelled in small letters': [
      'wire.step.shape',
      ({ controls: { uiSchema } }) => Object.assign(uiSchema ?? {}, { group: 'sms' })
    ],
    'a step has an internal field': ['wire.step.fields', (step) => (step.patchData = {})],
    'a step is sent as text': ['wire.step.shape', (_, { answer }) => (answer.headers['content-type'] = 'text/html')],
    'a slug ends with the `_id` in hex': ['wire.step.slug', (step) => (step.slug = `step_st_${step._id}`)],
    'a step names its workflow by the `_id`': ['step.named', (step) => (step.workflowId = step.workflowDatabaseId)],
    'a step repeats the form of `workflowId` that was asked by': [
      'step.forms',
      (step, { request }) => (step.workflowId = decodeURIComponent(request.path.split('/')[3] ?? ''))
    ],
    'all steps have one `_id`': [
      'step.named',
      (step) => Object.assign(step, { _id: 'ffffffffffffffffffffffff', slug: 'x_st_vVXHHNKfCJVnOtj1' })
    ],
    '`variables` is a list of names': ['wire.step.shape', (step) => (step.variables = { names: [] })],
    'a step has a field that changes': ['step.named', (step) => (step.name = `${step.name} ${performance.now()}`)]
  }),

  // Refusals.
  ...onAnyRefusal({
    'a refusal is `application/problem+json`': [
      'error.body',
      (_, { answer }) => (answer.headers['content-type'] = 'application/problem+json')
    ],
    'a refusal lacks `statusCode`': ['error.body', (body) => delete body.statusCode],
    'a refusal has its status as a text': ['error.body', (body) => (body.statusCode = String(body.statusCode))],
    'the `error` of a refusal is a code': ['error.body', (body) => (body.error = 'ERR_REFUSED')],
    'the `message` of a refusal is a list': ['error.body', (body) => (body.message = [body.message])],
    'the `timestamp` of a refusal is a number': ['error.body', (body) => (body.timestamp = Date.now())],
    'the `path` of a refusal lacks the query string': ['error.body', (body) => (body.path = body.path.split('?')[0])],
    'the `path` of a refusal has the host': ['error.body', (body) => (body.path = `http://api.example${body.path}`)],
    'the `ctx` of a refusal is null': ['error.body', (body) => (body.ctx = null)],
    '`errors` is null where there are none': ['error.body', (body) => (body.errors ??= null)],
    'a 401 has no `WWW-Authenticate`': ['auth.words', (_, { answer }) => delete answer.headers['www-authenticate']],
    'a refusal is HTML': ['error.body', (_, { answer }) => (answer.text = '<h1>Error</h1>')]
  }),
  ...onAnswers({
    'a step is found in any workflow': [
      'step.own',
      async ({ request, answer, ask }) => {
        if (!/\/steps\/[0-9a-f]{24}$/.test(request.path) || answer.status !== 404) return
        const other = request.path.replace(/workflows\/[^/]+/, 'workflows/sign-in-code')
        for (const path of [other, other.replace('sign-in-code', 'order-shipped')]) {
          const found = await ask(path)
          if (found.status === 200) return replace(answer, found)
        }
      }
    ],
    'an invalid value is a 400': [
      'live.paging-bounds',
      ({ answer }) => (answer.status === 422 ? restatus(answer, 400) : undefined)
    ],
    'a query that can not be decoded is a 500': [
      'malformed.query',
      ({ request, answer }) => (/%zz/.test(request.path) && answer.status === 400 ? restatus(answer, 500) : undefined)
    ],
    'a missing key is a 403': [
      'auth.words',
      ({ answer }) => (answer.status === 401 ? restatus(answer, 403) : undefined)
    ],
    'any scheme is good': ['auth.required', ({ request, answer, ask }) => asIfKey(/^Bearer/, request, answer, ask)],
    'a path that can not be decoded is a 404': [
      'malformed.path',
      ({ request, answer }) => (/\/%zz\//.test(request.path) ? restatus(answer, 404) : undefined)
    ],
    'the query is checked before the key': [
      'auth.words',
      ({ request, answer }) =>
        answer.status === 401 && /page=-1/.test(request.path) ? restatus(answer, 422) : undefined
    ]
  }),
  ...onRequests({
    'a workflow is found by its identifier only': [
      'step.forms',
      ({ request }) => rewrite(request, /(workflows\/)[0-9a-f]{24}(?=\/)/, '$1none')
    ],
    'a step is not found by its slug': ['step.forms', ({ request }) => rewrite(request, /(steps\/).*_st_.*/, '$1none')],
    'the name in a slug must be right': [
      'step.forms',
      ({ request }) => rewrite(request, /(steps\/)another-name_st_.*/, '$1none')
    ],
    'ids are compared with their case': [
      'live.step-lookup',
      ({ request }) => rewrite(request, /(steps\/)[0-9A-F]*[A-F][0-9A-F]*$/, '$1none')
    ],
    'a slug may have anything at its end': [
      'live.step-lookup',
      ({ request }) => rewrite(request, /(_st_[0-9A-Za-z]{16}).+/, '$1')
    ],
    'a request without a key is answered': ['auth.required', ({ request }) => withDefaultKey(request)],
    'any key is good': [
      'auth.required',
      ({ request }) => (request.headers.authorization ? withDefaultKey(request, true) : undefined)
    ],
    'an `idempotency-key` is taken for a key': [
      'auth.required',
      ({ request }) => (request.headers['idempotency-key'] ? withDefaultKey(request) : undefined)
    ],
    'any step is the first of its workflow': [
      'step.named',
      ({ request }) => rewrite(request, /steps\/(sms|push|chat)-step$/, 'steps/email-step')
    ],
    'a step is another one than was asked for': [
      'step.named',
      ({ request }) => rewrite(request, /order-shipped\/steps\/email-step$/, 'order-shipped/steps/push-step')
    ],
    'steps need no key': ['auth.required', ({ request }) => (isStep(request) ? withDefaultKey(request) : undefined)],
    'any key is good for steps': [
      'auth.required',
      ({ request }) => (isStep(request) && request.headers.authorization ? withDefaultKey(request, true) : undefined)
    ],
    'set-primary needs no key': [
      'auth.required',
      ({ request }) => (isSetPrimary(request) ? withDefaultKey(request) : undefined)
    ]
  }),
  ...withChanges({
    'the step is looked up before the workflow': [
      'step.unknown-workflow',
      onRefusal(404, (body) => (body.message = body.message.replace('Workflow', 'Step')))
    ],
    'a validation error names the first field only': [
      'live.paging-bounds',
      onRefusal(422, (body) => (body.errors = Object.fromEntries(Object.entries(body.errors).slice(0, 1))))
    ],
    'a validation error lacks the value': [
      'live.paging-bounds',
      onRefusal(422, (body) => Object.values<Json>(body.errors).map((field) => delete field.value))
    ],
    'a scheme without a key is a missing header': [
      'auth.words',
      onRefusal(401, (body) => Object.assign(body, { message: 'Missing authorization header' }))
    ],
    'a refusal repeats the key': [
      'auth.words',
      onRefusal(401, (body, { request }) => (body.ctx = { header: request.headers.authorization }))
    ]
  })
]

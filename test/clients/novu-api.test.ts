import { Novu } from '@novu/api'
import { HTTPClient } from '@novu/api/lib/http.js'
import * as errors from '@novu/api/models/errors/index.js'
import type { MessagesControllerGetMessagesRequest } from '@novu/api/models/operations/index.js'
import { describe, expect, test } from 'vitest'
import { withoutExtras } from '../../src/messages/schemas.js'
import { useMock } from '../support/mock.js'

const PROFILES = ['document', 'live'] as const
type Profile = (typeof PROFILES)[number]
const MAIL = '66f1c2a47c9b1a0012ad0001'
const OTHER_MAIL = '66f1c2a47c9b1a0012ad0002'
const CHAT = '66f1c2a47c9b1a0012ad0003'
const IN_SIBLING = '66f1c2a47c9b1a0012ad0004'
const NOWHERE = '66f1c2a47c9b1a0012adffff'

/**
 * Creates a server with two environments in one organization, and an official client that doesn't
 * retry requests.
 */
async function createClient(profile: Profile, shop: object = {}) {
  const environments = [
    { name: 'Shop', apiKeys: ['shop-key'], ...shop },
    { name: 'Sibling', integrations: [{ _id: IN_SIBLING, providerId: 'ses', channel: 'email' }] }
  ]
  const mock = await useMock({ profile, seed: { environments } })
  const sent: Request[] = []
  const clientOf = (secretKey: string | undefined) =>
    new Novu({
      ...(secretKey !== undefined && { secretKey }),
      serverURL: mock.url,
      retryConfig: { strategy: 'none' },
      httpClient: new HTTPClient({
        fetcher: (input, init) => {
          const request = new Request(input, init)
          sent.push(request)
          return fetch(request)
        }
      })
    })
  const storedKeys = () =>
    mock.db.client.prepare('SELECT key FROM idempotency_keys').pluck().all() as string[]
  return { mock, novu: clientOf('shop-key'), clientOf, sent, storedKeys }
}

const INTEGRATIONS = [
  { _id: MAIL, identifier: 'mail', name: 'Mail', providerId: 'sendgrid', channel: 'email' },
  { _id: OTHER_MAIL, identifier: 'other-mail', providerId: 'ses', channel: 'email', primary: true },
  { _id: CHAT, identifier: 'chat', providerId: 'slack', channel: 'chat' }
]

describe.each(PROFILES)('set-primary in %s', (profile) => {
  test('replays the response to a repeated idempotency key, and marks the replay', async () => {
    const { novu, storedKeys } = await createClient(profile, { integrations: INTEGRATIONS })
    const first = await novu.integrations.setAsPrimary(MAIL, 'my-key')
    expect(first.result).toMatchObject({
      id: MAIL,
      identifier: 'mail',
      channel: 'email',
      primary: true,
      active: true
    })
    expect(first.headers['idempotency-key']).toEqual(['my-key'])
    expect(first.headers).not.toHaveProperty('idempotency-replay')

    const replay = await novu.integrations.setAsPrimary(MAIL, 'my-key')
    expect(replay.result).toEqual(first.result)
    expect(replay.headers).toMatchObject({
      'idempotency-key': ['my-key'],
      'idempotency-replay': ['true']
    })
    expect(storedKeys()).toEqual(['my-key'])
  })

  test('throws if the idempotency key was used with a different body', async () => {
    const { mock, novu } = await createClient(profile, { integrations: INTEGRATIONS })
    const path = `/v1/integrations/${MAIL}/set-primary`
    await mock.post(path, { headers: { 'idempotency-key': 'my-key' }, body: 'another' })
    const error = await thrownBy(novu.integrations.setAsPrimary(MAIL, 'my-key'))
    const message = 'Request with key "my-key" is being reused for a different body'
    // In `live`, as in Novu, the body has no `errors`, so the client can't parse it.
    const { document, live } = {
      document: errors.ValidationErrorDto,
      live: errors.ResponseValidationError
    }
    expect(error).toBeInstanceOf(profile === 'document' ? document : live)
    expect(error).toMatchObject({
      statusCode: 422,
      body: expect.stringContaining(JSON.stringify(message))
    })
    expect(headersOf(error).get('idempotency-key')).toBe('my-key')
  })

  test('stores the new idempotency key that the client generates for each call', async () => {
    const { novu, storedKeys } = await createClient(profile, { integrations: INTEGRATIONS })
    const calls = [
      await novu.integrations.setAsPrimary(MAIL),
      await novu.integrations.setAsPrimary(MAIL)
    ]
    const keys = calls.map(({ headers }) => headers['idempotency-key']?.[0])
    for (const key of keys) expect(key).toMatch(/^\d{13}[0-9a-z]+$/)
    expect(storedKeys().sort()).toEqual([...keys].sort())
  })

  test('throws an ErrorDto with status 409 while the idempotency key is in use', async () => {
    const { mock, novu } = await createClient(profile, { integrations: INTEGRATIONS })
    const shop = mock.services.environments.findByApiKey('shop-key')
    if (!shop) throw new Error('the environment Shop is missing')
    mock.services.idempotency.begin(shop, 'busy')
    const error = await thrownBy(novu.integrations.setAsPrimary(MAIL, 'busy'))
    expect(error).toBeInstanceOf(errors.ErrorDto)
    expect(error).toMatchObject({
      statusCode: 409,
      message: expect.stringContaining('currently being processed')
    })
    const link = { document: null, live: 'https://docs.novu.co/additional-resources/idempotency' }[
      profile
    ]
    expect(['retry-after', 'link'].map((name) => headersOf(error).get(name))).toEqual(['1', link])
  })
})

const { ErrorDto, SDKError, ValidationErrorDto } = errors
const primary =
  (id: string) =>
  ({ integrations }: Novu) =>
    integrations.setAsPrimary(id)
const list =
  (query: MessagesControllerGetMessagesRequest) =>
  ({ messages }: Novu) =>
    messages.retrieve(query)
const step =
  (workflow: string, id: string) =>
  ({ workflows }: Novu) =>
    workflows.steps.retrieve(workflow, id)

const BAD_QUERY = { limit: 0, page: 1.5, contextKeys: ['acme'] }
const messages = [expect.any(String)]
const BAD_FIELDS = {
  limit: { messages, value: '0' },
  page: { messages, value: '1.5' },
  contextKeys: { messages, value: 'acme' }
}
const BAD_ID = {
  integrationId: { messages: ['integrationId must be a mongodb id'], value: 'mail' }
}

test.each([
  // The client's types declare no body for this 404, so the client throws an SDKError with the raw
  // body.
  ['document', primary(NOWHERE), SDKError, 404, `Integration with id ${NOWHERE} not found`, {}],
  ['live', primary(NOWHERE), SDKError, 404, `Integration with id ${NOWHERE} not found`, {}],
  ['live', primary('mail'), ValidationErrorDto, 422, 'Validation Error', { errors: BAD_ID }],
  ['live', primary(CHAT), ErrorDto, 400, 'Channel chat does not support primary', {}],
  ['live', primary(IN_SIBLING), ErrorDto, 403, expect.stringContaining('single environment'), {}],
  [
    'document',
    list(BAD_QUERY),
    ValidationErrorDto,
    422,
    'Validation Error',
    { errors: BAD_FIELDS }
  ],
  [
    'live',
    list({ subscriberId: 'nobody' }),
    ErrorDto,
    404,
    'Subscriber not found for id nobody',
    {}
  ],
  ['live', list({ limit: 1001 }), ErrorDto, 400, 'Limit can not be larger then 1000', {}],
  ['document', step('gone', 's'), ErrorDto, 404, 'Workflow with id gone not found', { ctx: {} }],
  [
    'live',
    step('gone', 's'),
    ErrorDto,
    404,
    'Workflow cannot be found',
    { ctx: { workflowId: 'gone' } }
  ],
  ['document', step('w', 'gone'), ErrorDto, 404, 'Step with id gone not found', {}],
  ['live', step('w', 'gone'), ErrorDto, 400, 'No step found', {}]
] as const)(
  'in %s, %s throws %s with status %i: %s',
  async (profile, call, type, statusCode, message, details) => {
    const { novu } = await createClient(profile, {
      integrations: INTEGRATIONS,
      workflows: [{ identifier: 'w' }]
    })
    const error = await thrownBy(call(novu))
    expect(error).toBeInstanceOf(type)
    expect(JSON.parse((error as errors.NovuError).body)).toMatchObject({
      statusCode,
      message,
      ...details
    })
    if (type !== SDKError) expect(error).toMatchObject({ statusCode, message, ...details })
  }
)

const MESSAGES = [
  { subject: 'plain', channel: 'sms' },
  { subject: 'of a person', channel: 'push', subscriberId: 'sub 1/ü' },
  { subject: 'of tx-a', channel: 'chat', transactionId: 'tx-a' },
  { subject: 'of tx,b', channel: 'chat', transactionId: 'tx,b' },
  {
    subject: 'in two contexts',
    channel: 'in_app',
    contextKeys: ['region:us east&1', 'tenant:org-123']
  },
  ...['tx-a', 'tx,b'].map((transactionId) => ({
    subject: `all, ${transactionId}`,
    channel: 'email',
    subscriberId: 'sub 1/ü',
    transactionId,
    contextKeys: ['tenant:org-123', 'region:us east&1']
  }))
]

describe.each(PROFILES)('messages in %s', (profile) => {
  const shop = {
    subscribers: [{ subscriberId: 'sub 1/ü' }, { subscriberId: 'quiet' }],
    messages: MESSAGES
  }
  const hasTotalCount = profile === 'document'

  test.each<[string, MessagesControllerGetMessagesRequest, string[]]>([
    ['no filter', {}, MESSAGES.map(({ subject }) => subject)],
    ['channel', { channel: 'chat' }, ['of tx-a', 'of tx,b']],
    ['subscriberId', { subscriberId: 'sub 1/ü' }, ['of a person', 'all, tx-a', 'all, tx,b']],
    ['an empty subscriberId', { subscriberId: '' }, MESSAGES.map(({ subject }) => subject)],
    ['one transactionId', { transactionId: ['tx,b'] }, ['of tx,b', 'all, tx,b']],
    [
      'several transactionIds',
      { transactionId: ['tx-a', 'tx,b'] },
      ['of tx-a', 'of tx,b', 'all, tx-a', 'all, tx,b']
    ],
    [
      'contextKeys',
      { contextKeys: ['tenant:org-123', 'region:us east&1'] },
      ['in two contexts', 'all, tx-a', 'all, tx,b']
    ],
    ['empty lists', { transactionId: [], contextKeys: [] }, MESSAGES.map(({ subject }) => subject)],
    ['page and limit', { page: 1, limit: 2 }, ['of tx-a', 'of tx,b']],
    ['an idempotencyKey', { idempotencyKey: 'mine', limit: 1 }, ['plain']],
    [
      'all filters together',
      {
        channel: 'email',
        subscriberId: 'sub 1/ü',
        transactionId: ['tx-a', 'tx,b'],
        contextKeys: ['region:us east&1', 'tenant:org-123'],
        page: 1,
        limit: 1,
        idempotencyKey: 'mine'
      },
      ['all, tx,b']
    ],
    ['a subscriber without messages', { subscriberId: 'quiet' }, []]
  ])('returns the right messages for %s', async (_filter, filters, subjects) => {
    const { novu } = await createClient(profile, shop)
    const { result } = await novu.messages.retrieve(filters)
    expect(result.data.map(({ subject }) => subject)).toEqual(subjects)
    expect(result).toMatchObject({ page: filters.page ?? 0, pageSize: filters.limit ?? 10 })
    expect(result.totalCount === undefined).toBe(!hasTotalCount)
  })

  test('embedded subscribers contain an email in `document`, but not in `live`', async () => {
    const ada = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' }
    const shop = { subscribers: [ada], messages: [{ channel: 'email', subscriberId: 'ada' }] }
    const { novu } = await createClient(profile, shop)
    const [message] = (await novu.messages.retrieve({})).result.data
    expect(message?.subscriber).toMatchObject({
      subscriberId: 'ada',
      firstName: 'Ada',
      deleted: false
    })
    expect(message?.subscriber?.email).toBe({ document: ada.email, live: undefined }[profile])
  })
})

test.each(PROFILES)('finds steps whose ids contain special characters, in %s', async (profile) => {
  const identifier = 'a/b c%é:+'
  const stepId = 's/1?x#y'
  const { novu } = await createClient(profile, {
    workflows: [{ identifier, steps: [{ stepId, type: 'sms' }] }]
  })
  const { result } = await novu.workflows.steps.retrieve(identifier, stepId)
  expect(result).toMatchObject({ workflowId: identifier, stepId })
})

test('the client rejects the documented names `service-cloud` and `service-slack`', async () => {
  const step = { stepId: 's', type: 'sms' }
  const channels = [{ providerId: 'service-slack', credentials: {}, _integrationId: CHAT }]
  const { novu } = await createClient('document', {
    workflows: [{ identifier: 'w', origin: 'service-cloud', steps: [step] }],
    subscribers: [{ subscriberId: 'ada', channels }],
    messages: [{ channel: 'chat', subscriberId: 'ada' }]
  })
  for (const call of [novu.workflows.steps.retrieve('w', 's'), novu.messages.retrieve({})]) {
    expect(await thrownBy(call)).toBeInstanceOf(errors.ResponseValidationError)
  }
})

describe.each(PROFILES)('every operation in %s', (profile) => {
  const shop = {
    integrations: INTEGRATIONS,
    workflows: [{ identifier: 'w', steps: [{ stepId: 's', type: 'sms' }] }]
  }

  test('throws an ErrorDto with status 401 for an unknown or missing API key', async () => {
    const { clientOf } = await createClient(profile, shop)
    const rejections = [
      ['wrong-key', 'API Key not found'] as const,
      [undefined, 'Missing authorization header'] as const
    ]
    for (const [key, message] of rejections) {
      for (const call of [primary(MAIL), list({}), step('w', 's')]) {
        const error = await thrownBy(call(clientOf(key)))
        expect(error).toBeInstanceOf(ErrorDto)
        expect(error).toMatchObject({ statusCode: 401, message })
        expect(headersOf(error).get('www-authenticate')).toBe('ApiKey')
      }
    }
  })

  test('ignores the idempotency key that the client sends with a GET request', async () => {
    const { novu, sent, storedKeys } = await createClient(profile, shop)
    const responses = [
      await novu.messages.retrieve({}),
      await novu.messages.retrieve({ idempotencyKey: 'mine' }),
      await novu.workflows.steps.retrieve('w', 's'),
      await novu.workflows.steps.retrieve('w', 's', 'mine')
    ]
    for (const { headers } of sent)
      expect(headers.get('idempotency-key')).toMatch(/^(mine|\d{13}[0-9a-z]+)$/)
    for (const { headers } of responses) {
      expect(Object.keys(headers).filter((name) => name.startsWith('idempotency'))).toEqual([])
    }
    expect(storedKeys()).toEqual([])
  })
})

const thrownBy = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.fail('the request was not rejected'),
    (error: unknown) => error
  )

const headersOf = (error: unknown): Headers => (error as errors.NovuError).headers

const SEEDS = ['default', 'everything', 'steps'].flatMap((seed) =>
  PROFILES.map((profile) => [seed, profile] as const)
)

/** Path prefixes of the fields that the client renames or drops. */
const RENAMED_OR_DROPPED = [
  ...['template.preferenceSettings.in_app', 'template.preferenceSettings.inApp', 'template.data'],
  ...[
    'template.steps.template',
    'template.steps.variants.template',
    'template.workflowIntegrationStatus'
  ],
  ...[
    'controls.values',
    'credentials.tlsOptions',
    'credentials.AppIOBaseUrl',
    'credentials.appIOBaseUrl'
  ]
]

// In these seeds, each field of the API reference is set in some records and absent in others.
test.each(SEEDS)('the client reads all fields in the seed %s, in %s', async (seed, profile) => {
  const mock = await useMock({ profile, seeds: [seed] })
  const novu = new Novu({
    secretKey: 'development-key',
    serverURL: mock.url,
    retryConfig: { strategy: 'none' }
  })
  const differing = new Set<string>()
  const compare = (sent: object, shown: object) => {
    for (const path of differences(sent, shown))
      if (!RENAMED_OR_DROPPED.some((prefix) => path.startsWith(prefix))) differing.add(path)
  }
  for (const { _id: id } of (await mock.get('/_mock/integrations')).json.integrations) {
    const { status, json } = await mock.post(`/v1/integrations/${id}/set-primary`)
    if (status === 200)
      compare(json.data ?? json, (await novu.integrations.setAsPrimary(id)).result)
  }
  if (profile === 'live') {
    const { data } = (await mock.get('/v1/messages?limit=1000')).json
    const { result } = await novu.messages.retrieve({ limit: 1000 })
    // The client drops fields that the API reference doesn't list.
    compare(data.map(withoutExtras), result.data)
    for (const { identifier, steps } of (await mock.get('/_mock/workflows')).json.workflows) {
      for (const { stepId } of steps) {
        const [workflow, step] = [identifier, stepId].map(encodeURIComponent)
        const { json } = await mock.get(`/v2/workflows/${workflow}/steps/${step}`)
        compare(json.data ?? json, (await novu.workflows.steps.retrieve(identifier, stepId)).result)
      }
    }
  }
  expect([...differing]).toEqual([])
})

/**
 * Returns the paths of the fields that differ, without array indexes. Ignores leading underscores
 * in names, because the client drops them.
 */
function differences(sent: unknown, shown: unknown, path = ''): string[] {
  if (typeof sent !== 'object' || typeof shown !== 'object' || !sent || !shown)
    return sent === shown ? [] : [path]
  const [one, other] = [sent, shown].map((value) =>
    Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name.replace(/^_+/, ''), field])
    )
  )
  const at = (name: string) => (Array.isArray(sent) ? path : [path, name].filter(Boolean).join('.'))
  const names = new Set([one, other].flatMap((value) => Object.keys(value ?? {})))
  return [...names].flatMap((name) => differences(one?.[name], other?.[name], at(name)))
}

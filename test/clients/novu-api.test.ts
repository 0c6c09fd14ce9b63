import { Novu } from '@novu/api'
import { HTTPClient } from '@novu/api/lib/http.js'
import * as errors from '@novu/api/models/errors/index.js'
import type { MessagesControllerGetMessagesRequest } from '@novu/api/models/operations/index.js'
import { describe, expect, test } from 'vitest'
import { CHANNELS, CHAT_PUSH_PROVIDERS, STEP_TYPES } from '../../src/core/enums.js'
import { type GivenMock, givenMock } from '../support/mock.js'

const PROFILES = ['document', 'live'] as const
const MAIL = '66f1c2a47c9b1a0012ad0001'
const OTHER_MAIL = '66f1c2a47c9b1a0012ad0002'
const CHAT = '66f1c2a47c9b1a0012ad0003'
const ONLY_THERE = '66f1c2a47c9b1a0012ad0004'
const NOWHERE = '66f1c2a47c9b1a0012adffff'

interface GivenClient {
  mock: GivenMock
  novu: Novu
  /** The client of another key, or of none. */
  clientOf(secretKey: string | undefined): Novu
  /** What the client has sent. */
  sent: Request[]
  storedKeys(): string[]
}

/** With what the deployed service does not send of a subscriber, which the client can read nevertheless. */
const WHOLE = { 'embedded-subscriber': 'whole' }

/** The official client, without its repeating of 409, 429 and 5xx, on a server with one shop and a sibling of it. */
async function givenClient(
  profile: (typeof PROFILES)[number],
  shop: object = {},
  assumptions: Record<string, string> = {}
): Promise<GivenClient> {
  const environments = [
    { name: 'Shop', apiKeys: ['shop-key'], ...shop },
    { name: 'Sibling', integrations: [{ _id: ONLY_THERE, providerId: 'ses', channel: 'email' }] }
  ]
  const mock = await givenMock({ profile, assumptions, seed: { environments } })
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
  const storedKeys = () => mock.db.client.prepare('SELECT key FROM idempotency_keys').pluck().all() as string[]
  return { mock, novu: clientOf('shop-key'), clientOf, sent, storedKeys }
}

const MAIL_INTEGRATION = { _id: MAIL, identifier: 'mail', name: 'Mail', providerId: 'sendgrid', channel: 'email' }
const INTEGRATIONS = [
  MAIL_INTEGRATION,
  { _id: OTHER_MAIL, identifier: 'other-mail', providerId: 'ses', channel: 'email', primary: true },
  { _id: CHAT, identifier: 'chat', providerId: 'slack', channel: 'chat' }
]

describe.each(PROFILES)('set-primary in %s', (profile) => {
  test('is done, and answers with the integration', async () => {
    const { novu } = await givenClient(profile, { integrations: INTEGRATIONS })
    const { result } = await novu.integrations.setAsPrimary(MAIL)
    expect(result).toMatchObject({ id: MAIL, identifier: 'mail', channel: 'email', primary: true, active: true })
  })

  test('shows an integration with every field', async () => {
    const filter = { isNegated: true, type: 'MULTI_LIST', value: 'OR' }
    const conditions = [
      { ...filter, children: [{ field: 'plan', value: 'pro', operator: 'ANY_IN', on: 'subscriber' }] },
      { ...filter, children: [] }
    ]
    const full = {
      ...MAIL_INTEGRATION,
      primary: true,
      active: true,
      deleted: false,
      credentials: CREDENTIALS,
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'whsec' },
      conditions
    }
    const { novu } = await givenClient(profile, { integrations: [full] })
    const { result } = await novu.integrations.setAsPrimary(MAIL)
    const { _id, ...fields } = full
    const { AppIOBaseUrl, ...credentials } = CREDENTIALS
    const shown = {
      document: { credentials: { ...credentials, tlsOptions: {}, appIOBaseUrl: AppIOBaseUrl } },
      live: { credentials: {}, configurations: { inboundWebhookEnabled: true } }
    }[profile]
    expect(result).toEqual({
      ...fields,
      id: _id,
      environmentId: expect.stringMatching(/^[0-9a-f]{24}$/),
      organizationId: expect.stringMatching(/^[0-9a-f]{24}$/),
      ...shown
    })
  })

  test('runs once for a key of ones own, and is replayed, as the headers say', async () => {
    const { novu, storedKeys } = await givenClient(profile, { integrations: INTEGRATIONS })
    const first = await novu.integrations.setAsPrimary(MAIL, 'my-key')
    expect(first.headers['idempotency-key']).toEqual(['my-key'])
    expect(first.headers).not.toHaveProperty('idempotency-replay')

    const replay = await novu.integrations.setAsPrimary(MAIL, 'my-key')
    expect(replay.result).toEqual(first.result)
    expect(replay.headers).toMatchObject({ 'idempotency-key': ['my-key'], 'idempotency-replay': ['true'] })
    expect(storedKeys()).toEqual(['my-key'])
  })

  test('throws for a key that was used with another body, in `document` a ValidationErrorDto', async () => {
    const { mock, novu } = await givenClient(profile, { integrations: INTEGRATIONS })
    const path = `/v1/integrations/${MAIL}/set-primary`
    await mock.post(path, { headers: { 'idempotency-key': 'my-key' }, body: 'another' })
    const error = await thrownBy(novu.integrations.setAsPrimary(MAIL, 'my-key'))
    const message = 'Request with key "my-key" is being reused for a different body'
    if (profile === 'document') {
      expect(error).toBeInstanceOf(errors.ValidationErrorDto)
      expect(error).toMatchObject({ statusCode: 422, message, errors: {} })
    } else {
      // It can't read that answer of the deployed service, which lacks `errors`.
      expect(error).toBeInstanceOf(errors.ResponseValidationError)
      expect(error).toMatchObject({ statusCode: 422, body: expect.stringContaining(JSON.stringify(message)) })
    }
    expect(headersOf(error).get('idempotency-key')).toBe('my-key')
  })

  test('has a fresh key of the client itself each time, which is kept as any other', async () => {
    const { novu, storedKeys } = await givenClient(profile, { integrations: INTEGRATIONS })
    const calls = [await novu.integrations.setAsPrimary(MAIL), await novu.integrations.setAsPrimary(MAIL)]
    const keys = calls.map(({ headers }) => headers['idempotency-key']?.[0])
    for (const key of keys) expect(key).toMatch(/^\d{13}[0-9a-z]+$/)
    for (const { headers } of calls) expect(headers).not.toHaveProperty('idempotency-replay')
    expect(storedKeys().sort()).toEqual([...keys].sort())
  })

  test('throws an SDKError for 404: the client expects no body there, but keeps it', async () => {
    const { novu } = await givenClient(profile, { integrations: INTEGRATIONS })
    const error = await thrownBy(novu.integrations.setAsPrimary(NOWHERE))
    expect(error).toBeInstanceOf(errors.SDKError)
    expect(error).toMatchObject({ statusCode: 404, contentType: 'application/json; charset=utf-8' })
    expect(JSON.parse((error as errors.SDKError).body).message).toBe(`Integration with id ${NOWHERE} not found`)
  })

  test('throws an ErrorDto for 409 while the key is in use, with a Retry-After', async () => {
    const { mock, novu } = await givenClient(profile, { integrations: INTEGRATIONS })
    const shop = mock.services.environments.resolve('shop-key')
    if (!shop) throw new Error('there is no shop')
    mock.services.idempotency.begin(shop, 'busy')
    const error = await thrownBy(novu.integrations.setAsPrimary(MAIL, 'busy'))
    expect(error).toBeInstanceOf(errors.ErrorDto)
    expect(error).toMatchObject({ statusCode: 409, message: expect.stringContaining('currently being processed') })
    expect(headersOf(error).get('retry-after')).toBe('1')
    const link = { document: null, live: 'https://docs.novu.co/additional-resources/idempotency' }[profile]
    expect(headersOf(error).get('link')).toBe(link)
  })
})

describe('what only the profile `live` refuses of set-primary', () => {
  test('throws a ValidationErrorDto for what is no id', async () => {
    const { novu } = await givenClient('live', { integrations: INTEGRATIONS })
    const error = await thrownBy(novu.integrations.setAsPrimary('mail'))
    expect(error).toBeInstanceOf(errors.ValidationErrorDto)
    expect(error).toMatchObject({
      statusCode: 422,
      message: 'Validation Error',
      errors: { integrationId: { messages: ['integrationId must be a mongodb id'], value: 'mail' } }
    })
  })

  test('throws an ErrorDto for 400 and 403', async () => {
    const { novu } = await givenClient('live', { integrations: INTEGRATIONS })
    const noPrimary = await thrownBy(novu.integrations.setAsPrimary(CHAT))
    expect(noPrimary).toBeInstanceOf(errors.ErrorDto)
    expect(noPrimary).toMatchObject({ statusCode: 400, message: 'Channel chat does not support primary' })
    const foreign = await thrownBy(novu.integrations.setAsPrimary(ONLY_THERE))
    expect(foreign).toBeInstanceOf(errors.ErrorDto)
    expect(foreign).toMatchObject({ statusCode: 403, message: expect.stringContaining('single environment') })
  })
})

const MESSAGES = [
  { subject: 'plain', channel: 'sms' },
  { subject: 'of a person', channel: 'push', subscriberId: 'sub 1/ü' },
  { subject: 'of tx-a', channel: 'chat', transactionId: 'tx-a' },
  { subject: 'of tx,b', channel: 'chat', transactionId: 'tx,b' },
  { subject: 'in two contexts', channel: 'in_app', contextKeys: ['region:us east&1', 'tenant:org-123'] },
  ...['tx-a', 'tx,b'].map((transactionId) => ({
    subject: `all, ${transactionId}`,
    channel: 'email',
    subscriberId: 'sub 1/ü',
    transactionId,
    contextKeys: ['tenant:org-123', 'region:us east&1']
  }))
]

describe.each(PROFILES)('messages in %s', (profile) => {
  const shop = { subscribers: [{ subscriberId: 'sub 1/ü' }, { subscriberId: 'quiet' }], messages: MESSAGES }
  const counted = profile === 'document'

  test.each<[string, MessagesControllerGetMessagesRequest, string[]]>([
    ['none', {}, MESSAGES.map(({ subject }) => subject)],
    ['channel', { channel: 'chat' }, ['of tx-a', 'of tx,b']],
    ['subscriberId', { subscriberId: 'sub 1/ü' }, ['of a person', 'all, tx-a', 'all, tx,b']],
    ['an empty subscriberId', { subscriberId: '' }, MESSAGES.map(({ subject }) => subject)],
    ['one transactionId', { transactionId: ['tx,b'] }, ['of tx,b', 'all, tx,b']],
    ['several transactionIds', { transactionId: ['tx-a', 'tx,b'] }, ['of tx-a', 'of tx,b', 'all, tx-a', 'all, tx,b']],
    [
      'contextKeys',
      { contextKeys: ['tenant:org-123', 'region:us east&1'] },
      ['in two contexts', 'all, tx-a', 'all, tx,b']
    ],
    ['empty lists', { transactionId: [], contextKeys: [] }, MESSAGES.map(({ subject }) => subject)],
    ['page and limit', { page: 1, limit: 2 }, ['of tx-a', 'of tx,b']],
    ['an idempotencyKey', { idempotencyKey: 'mine', limit: 1 }, ['plain']],
    [
      'all of them',
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
    ['one that nothing passes', { subscriberId: 'quiet' }, []]
  ])('filtered by %s', async (_filter, filters, subjects) => {
    const { novu } = await givenClient(profile, shop)
    const { result } = await novu.messages.retrieve(filters)
    expect(result.data.map(({ subject }) => subject)).toEqual(subjects)
    expect(result).toMatchObject({ page: filters.page ?? 0, pageSize: filters.limit ?? 10 })
    expect(result.totalCount === undefined).toBe(!counted)
  })

  test('are paged to the end by hasMore', async () => {
    const { novu } = await givenClient(profile, shop)
    const seen: (string | undefined)[] = []
    for (let page = 0, more = true; more; page++) {
      const { result } = await novu.messages.retrieve({ page, limit: 3 })
      seen.push(...result.data.map(({ subject }) => subject))
      more = result.hasMore
    }
    expect(seen).toEqual(MESSAGES.map(({ subject }) => subject))
  })

  test('show every optional field, an email in blocks, the whole template and a subscriber with channels', async () => {
    const shop = {
      subscribers: [{ ...ADA, _id: '66e0b7d17c9b1a0012ac0001' }],
      messages: [{ ...FULL_MESSAGE, subscriberId: 'ada' }]
    }
    const { novu } = await givenClient(profile, shop, WHOLE)
    const [message] = (await novu.messages.retrieve({})).result.data
    const { subscriber, template, ...fields } = message ?? {}
    const {
      _templateId,
      _messageTemplateId,
      _notificationId,
      _subscriberId,
      _feedId,
      template: whole,
      ...same
    } = FULL_MESSAGE
    expect(fields).toEqual({
      ...same,
      id: expect.any(String),
      environmentId: expect.any(String),
      organizationId: expect.any(String),
      templateId: _templateId,
      messageTemplateId: _messageTemplateId,
      notificationId: _notificationId,
      subscriberId: _subscriberId,
      feedId: _feedId
    })
    const { __v, channels, ...person } = ADA
    expect(subscriber).toMatchObject({ ...person, v: __v, id: '66e0b7d17c9b1a0012ac0001' })
    expect(subscriber?.channels?.map(({ providerId }) => providerId)).toEqual(channels.map((each) => each.providerId))
    expect(template).toMatchObject({
      name: whole.name,
      deletedAt: '',
      triggers: whole.triggers,
      notificationGroup: { id: whole.notificationGroup._id, name: 'General' }
    })
    expect(template?.steps.map(({ metadata }) => metadata)).toEqual(whole.steps.map(({ metadata }) => metadata))
    expect(template?.steps[0]?.variants).toMatchObject([{ name: 'Variant' }])
  })

  test('have a subscriber with an address in `document`, and without one in `live`', async () => {
    const shop = { subscribers: [ADA], messages: [{ channel: 'email', subscriberId: 'ada' }] }
    const { novu } = await givenClient(profile, shop)
    const [message] = (await novu.messages.retrieve({})).result.data
    expect(message?.subscriber).toMatchObject({ subscriberId: 'ada', firstName: ADA.firstName, deleted: false })
    expect(message?.subscriber?.email).toBe({ document: ADA.email, live: undefined }[profile])
  })

  test('show null where the contract says "or null", and text as content', async () => {
    const nulls = Object.fromEntries(NULLABLE.map((field) => [field, null]))
    const shop = {
      subscribers: [{ subscriberId: 'ada', ...nulls }],
      messages: [
        { channel: 'sms', subscriberId: 'ada', _templateId: null, _messageTemplateId: null, _feedId: null, content: '' }
      ]
    }
    const { novu } = await givenClient(profile, shop, WHOLE)
    const [message] = (await novu.messages.retrieve({})).result.data
    expect(message).toMatchObject({ templateId: null, messageTemplateId: null, feedId: null, content: '' })
    expect(message?.subscriber).toMatchObject(nulls)
  })

  test.each(CHANNELS)('with nothing but the channel %s are complete', async (channel) => {
    const { novu } = await givenClient(profile, { messages: [{ channel }] })
    const { result } = await novu.messages.retrieve({ channel })
    expect(result.data).toMatchObject([{ channel, status: 'sent', cta: {} }])
  })
})

describe('what is refused of messages', () => {
  test('in `document` throws a ValidationErrorDto, all bad fields at once', async () => {
    const { novu } = await givenClient('document')
    const error = await thrownBy(novu.messages.retrieve({ limit: 0, page: 1.5, contextKeys: ['acme'] }))
    expect(error).toBeInstanceOf(errors.ValidationErrorDto)
    const { statusCode, errors: fields } = error as errors.ValidationErrorDto
    expect(statusCode).toBe(422)
    expect(fields).toEqual({
      limit: { messages: [expect.any(String)], value: '0' },
      page: { messages: [expect.any(String)], value: '1.5' },
      contextKeys: { messages: [expect.any(String)], value: 'acme' }
    })
  })

  test('in `live` throws an ErrorDto for a subscriber that nobody has and for too large a limit', async () => {
    const { novu } = await givenClient('live')
    const unknown = await thrownBy(novu.messages.retrieve({ subscriberId: 'nobody' }))
    expect(unknown).toBeInstanceOf(errors.ErrorDto)
    expect(unknown).toMatchObject({ statusCode: 404, message: 'Subscriber not found for id nobody' })
    const large = await thrownBy(novu.messages.retrieve({ limit: 1001 }))
    expect(large).toBeInstanceOf(errors.ErrorDto)
    expect(large).toMatchObject({ statusCode: 400, message: 'Limit can not be larger then 1000' })
  })
})

describe.each(PROFILES)('steps in %s', (profile) => {
  test.each(STEP_TYPES)('of type %s are complete', async (type) => {
    const { novu } = await givenClient(profile, { workflows: [{ identifier: 'w', steps: [{ stepId: 's', type }] }] })
    const { result } = await novu.workflows.steps.retrieve('w', 's')
    expect(result).toMatchObject({ type, stepId: 's', workflowId: 'w', origin: 'external', slug: expect.any(String) })
  })

  test('show every field', async () => {
    const step = {
      stepId: 's',
      name: 'Step',
      slug: 'step_st_f5VFlcRWmt1PF4uV',
      type: 'email',
      controls: {
        dataSchema: { type: 'object', properties: { a: {} } },
        uiSchema: {
          group: 'EMAIL',
          properties: {
            a: { component: 'EMAIL_RENDERER_SELECT', placeholder: [1, 'two', true, { three: 3 }] },
            b: { component: 'URL_TEXT_BOX', placeholder: '', properties: { c: { component: 'DATA', placeholder: 0 } } }
          }
        }
      },
      controlValues: { subject: 'Hello', nested: { list: [null, 1] } },
      variables: { type: 'object', additionalProperties: false },
      issues: {
        controls: {
          subject: [{ issueType: 'MISSING_VALUE', variableName: 'subject', message: 'Subject is required' }]
        },
        integration: { email: [{ issueType: 'MISSING_INTEGRATION', message: 'Missing active  integration provider' }] }
      }
    }
    const { novu } = await givenClient(profile, { workflows: [{ identifier: 'w', steps: [step] }] })
    const { result } = await novu.workflows.steps.retrieve('w', 's')
    expect(result).toMatchObject(step)
  })

  test('are found by ids that need encoding', async () => {
    const [identifier, stepId] = ['a/b c%é:+', 's/1?x#y']
    const { novu } = await givenClient(profile, { workflows: [{ identifier, steps: [{ stepId, type: 'sms' }] }] })
    const { result } = await novu.workflows.steps.retrieve(identifier, stepId)
    expect(result).toMatchObject({ workflowId: identifier, stepId })
  })

  test('that are not there throw an ErrorDto', async () => {
    const { novu } = await givenClient(profile, { workflows: [{ identifier: 'w' }] })
    const noWorkflow = await thrownBy(novu.workflows.steps.retrieve('gone', 's'))
    expect(noWorkflow).toBeInstanceOf(errors.ErrorDto)
    expect(noWorkflow).toMatchObject({
      statusCode: 404,
      message: { document: 'Workflow with id gone not found', live: 'Workflow cannot be found' }[profile],
      ctx: { document: {}, live: { workflowId: 'gone' } }[profile]
    })
    const noStep = await thrownBy(novu.workflows.steps.retrieve('w', 'gone'))
    expect(noStep).toBeInstanceOf(errors.ErrorDto)
    expect(noStep).toMatchObject({
      statusCode: { document: 404, live: 400 }[profile],
      message: { document: 'Step with id gone not found', live: 'No step found' }[profile]
    })
  })
})

describe('the names that the contract and the client spell differently', () => {
  const shop = {
    workflows: ['service-cloud', 'service-cloud-v1'].map((origin) => ({
      identifier: origin,
      origin,
      steps: [{ stepId: 's', type: 'sms' }]
    })),
    subscribers: [
      {
        subscriberId: 'ada',
        channels: CHAT_PUSH_PROVIDERS.map((providerId) => ({ providerId, credentials: {}, _integrationId: CHAT }))
      }
    ],
    messages: [{ channel: 'chat', subscriberId: 'ada' }]
  }

  test('are those of the client in `live`', async () => {
    const { novu } = await givenClient('live', shop, WHOLE)
    expect((await novu.workflows.steps.retrieve('service-cloud', 's')).result.origin).toBe('novu-cloud')
    expect((await novu.workflows.steps.retrieve('service-cloud-v1', 's')).result.origin).toBe('novu-cloud-v1')
    const [message] = (await novu.messages.retrieve({})).result.data
    expect(message?.subscriber?.channels?.map(({ providerId }) => providerId)).toEqual(
      CHAT_PUSH_PROVIDERS.map((providerId) => (providerId === 'service-slack' ? 'novu-slack' : providerId))
    )
  })

  test('are those of the contract in `document`, which the client does not take', async () => {
    const { novu } = await givenClient('document', shop)
    for (const call of [novu.workflows.steps.retrieve('service-cloud', 's'), novu.messages.retrieve({})]) {
      expect(await thrownBy(call)).toBeInstanceOf(errors.ResponseValidationError)
    }
  })
})

describe.each(PROFILES)('in %s', (profile) => {
  const shop = { integrations: INTEGRATIONS, workflows: [{ identifier: 'w', steps: [{ stepId: 's', type: 'sms' }] }] }

  test('a key that is not known throws an ErrorDto for 401 from all three, and so does none', async () => {
    const { clientOf } = await givenClient(profile, shop)
    for (const [key, message] of [
      ['wrong-key', 'API Key not found'],
      [undefined, 'Missing authorization header']
    ]) {
      const novu = clientOf(key)
      const calls = [
        novu.integrations.setAsPrimary(MAIL),
        novu.messages.retrieve({}),
        novu.workflows.steps.retrieve('w', 's')
      ]
      for (const error of await Promise.all(calls.map(thrownBy))) {
        expect(error).toBeInstanceOf(errors.ErrorDto)
        expect(error).toMatchObject({ statusCode: 401, message })
        expect(headersOf(error).get('www-authenticate')).toBe('ApiKey')
      }
    }
  })

  test('the key that the client sends with every GET is not kept, and not answered with', async () => {
    const { novu, sent, storedKeys } = await givenClient(profile, shop)
    const answers = [
      await novu.messages.retrieve({}),
      await novu.messages.retrieve({ idempotencyKey: 'mine' }),
      await novu.workflows.steps.retrieve('w', 's'),
      await novu.workflows.steps.retrieve('w', 's', 'mine')
    ]
    for (const { headers } of sent) expect(headers.get('idempotency-key')).toMatch(/^(mine|\d{13}[0-9a-z]+)$/)
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('idempotency'))).toEqual([])
    }
    expect(storedKeys()).toEqual([])
  })
})

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('it was not refused'),
    (error: unknown) => error
  )
}

function headersOf(error: unknown): Headers {
  return (error as errors.NovuError).headers
}

const CREDENTIALS = {
  apiKey: 'a',
  user: 'b',
  secretKey: 'c',
  domain: 'd',
  password: 'e',
  host: 'f',
  port: '587',
  region: 'g',
  accountSid: 'h',
  messageProfileId: 'i',
  token: 'j',
  from: 'k',
  senderName: 'l',
  projectName: 'm',
  applicationId: 'n',
  clientId: 'o',
  baseUrl: 'p',
  webhookUrl: 'q',
  redirectUrl: 'r',
  serviceAccount: 's',
  ipPoolName: 't',
  apiKeyRequestHeader: 'u',
  secretKeyRequestHeader: 'v',
  idPath: 'w',
  datePath: 'x',
  apiToken: 'y',
  authenticationTokenKey: 'z',
  instanceId: 'A',
  alertUid: 'B',
  title: 'C',
  imageUrl: 'D',
  state: 'E',
  externalLink: 'F',
  channelId: 'G',
  phoneNumberIdentification: 'H',
  accessKey: 'I',
  appSid: 'J',
  senderId: 'K',
  tenantId: 'L',
  AppIOBaseUrl: 'M',
  secure: true,
  requireTls: false,
  ignoreTls: true,
  hmac: false,
  authenticateByToken: true,
  // What is inside, the client drops.
  tlsOptions: { rejectUnauthorized: false }
}

const NULLABLE = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'avatar',
  'locale',
  'isOnline',
  'lastOnlineAt',
  'data',
  'timezone'
]

const ADA = {
  subscriberId: 'ada',
  firstName: 'Ada',
  lastName: 'Byron',
  email: 'ada@example.com',
  phone: '+15550100',
  avatar: 'https://example.com/ada.png',
  locale: 'en-GB',
  topics: ['news'],
  isOnline: true,
  lastOnlineAt: '2026-02-17T18:30:00.000Z',
  __v: 3,
  data: { plan: { name: 'business' } },
  timezone: 'Europe/London',
  deleted: false,
  createdAt: '2025-09-10T08:00:01.000Z',
  updatedAt: '2026-01-02T08:00:01.000Z',
  channels: CHAT_PUSH_PROVIDERS.filter((providerId) => providerId !== 'service-slack').map((providerId) => ({
    providerId,
    integrationIdentifier: 'i',
    credentials: {
      webhookUrl: 'https://example.com/hook',
      channel: '#orders',
      deviceTokens: ['token'],
      alertUid: 'a',
      title: 't',
      imageUrl: 'i',
      state: 's',
      externalUrl: 'e'
    },
    _integrationId: CHAT
  }))
}

const TEMPLATE = {
  _id: '67a0f1c03a1e4f0013cf0001',
  name: 'Order shipped',
  description: 'Tells that an order is on its way',
  active: true,
  draft: false,
  preferenceSettings: { email: true, sms: false, in_app: true, chat: false, push: true },
  critical: false,
  tags: ['orders'],
  steps: [
    {
      _id: '1',
      uuid: '2',
      name: 'Digest',
      _templateId: '3',
      active: true,
      shouldStopOnFail: false,
      template: { anything: 'goes' },
      filters: [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }],
      _parentId: '4',
      metadata: { type: 'backoff', amount: 5, unit: 'minutes', digestKey: 'id', backoff: true, updateMode: false },
      replyCallback: { active: true, url: 'https://example.com' },
      variants: [{ name: 'Variant', active: true }]
    },
    {
      metadata: {
        type: 'timed',
        amount: 1,
        unit: 'weeks',
        digestKey: 'id',
        timed: { atTime: '09:00', weekDays: ['monday'], ordinal: 'last', ordinalValue: 'weekday', monthlyType: 'on' }
      }
    },
    { metadata: { type: 'regular', amount: 1, unit: 'hours' } },
    { metadata: { type: 'scheduled', delayPath: 'payload.at' } }
  ],
  _creatorId: '5',
  triggers: [
    {
      type: 'event',
      identifier: 'order-shipped',
      variables: [{ name: 'id' }],
      subscriberVariables: [{ name: 'email' }]
    }
  ],
  _notificationGroupId: '6',
  _parentId: '7',
  deleted: false,
  deletedAt: '',
  deletedBy: '',
  notificationGroup: { _id: '6', name: 'General', _parentId: '8' },
  data: { team: 'orders' },
  workflowIntegrationStatus: { hasActiveIntegrations: true }
}

const FULL_MESSAGE = {
  _templateId: '67a0f1c03a1e4f0013cf0001',
  _messageTemplateId: '67a0f1c03a1e4f0013cf0011',
  _notificationId: '67b45c0e3a1e4f0013d0a0f0',
  _subscriberId: '66e0b7d17c9b1a0012ac0001',
  template: TEMPLATE,
  templateIdentifier: 'order-shipped',
  createdAt: '2026-02-18T10:07:11.402Z',
  deliveredAt: ['2026-02-18T10:07:13.000Z', '2026-02-19T10:07:13.000Z'],
  lastSeenDate: '2026-02-18T11:00:00.000Z',
  lastReadDate: '2026-02-18T12:00:00.000Z',
  content: [
    { type: 'text', content: 'On its way', styles: { textAlign: 'center' } },
    { type: 'button', content: 'Track', url: 'https://example.com/track' }
  ],
  transactionId: 'order-4711',
  subject: 'Your order',
  channel: 'email',
  read: true,
  seen: true,
  snoozedUntil: '2026-02-20T10:00:00.000Z',
  email: 'ada@example.com',
  phone: '+15550100',
  directWebhookUrl: 'https://example.com/hook',
  providerId: 'sendgrid',
  deviceTokens: ['token'],
  title: 'Shipped',
  cta: {
    type: 'redirect',
    data: { url: '/orders/4711' },
    action: {
      status: 'done',
      buttons: [{ type: 'primary', content: 'Track', resultContent: 'Tracked' }],
      result: { payload: { pressed: true }, type: 'primary' }
    }
  },
  _feedId: '67b45c0e3a1e4f0013d0a0f9',
  status: 'error',
  errorId: 'mail_unexpected_error',
  errorText: 'the provider refused it',
  payload: { orderId: '4711', nested: { list: [1, null] } },
  overrides: { email: { replyTo: 'shop@example.com' } },
  contextKeys: ['tenant:acme']
}

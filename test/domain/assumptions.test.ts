import { describe, expect, test } from 'vitest'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Assumptions,
  assume,
  describeAssumption,
  overridesOf,
  PROFILES,
  type Profile,
  valuesOf
} from '../../src/domain/assumptions.js'
import { StartError } from '../../src/domain/errors.js'
import { encodeBase62 } from '../../src/domain/ids.js'
import { type TestMock, type TestRequest, type TestResponse, useMock } from '../support/mock.js'

const MAIL = '66f1c2a47c9b1a0012ad0001'
const OTHER_MAIL = '66f1c2a47c9b1a0012ad0002'
const ONLY_THERE = '66f1c2a47c9b1a0012ad0009'
const NOWHERE = '66f1c2a47c9b1a0012adffff'
const CHANNEL_IDS = {
  email: MAIL,
  sms: '66f1c2a47c9b1a0012ad0003',
  chat: '66f1c2a47c9b1a0012ad0004',
  push: '66f1c2a47c9b1a0012ad0005',
  in_app: '66f1c2a47c9b1a0012ad0006'
}

/**
 * A client for one environment. `siblingKey` is the key of another environment with the same
 * organization, profile and assumptions.
 */
interface Client {
  get(path: string, call?: TestRequest): Promise<TestResponse>
  post(path: string, call?: TestRequest): Promise<TestResponse>
  key: string
  siblingKey: string
}

/**
 * Checks the effect of one value of an assumption. The check passes regardless of the values of all
 * other assumptions.
 */
type Case = (client: Client) => Promise<void>

const CASES: { [Id in AssumptionId]: { [Value in Assumptions[Id]]: Case } } = {
  envelope: {
    bare: (client) => expectEnvelope(client, false),
    data: (client) => expectEnvelope(client, true)
  },
  'vendor-names': {
    documented: (client) =>
      expectNames(client, ['service-cloud', 'service-cloud-v1', 'service-slack']),
    vendor: (client) => expectNames(client, ['novu-cloud', 'novu-cloud-v1', 'novu-slack'])
  },
  'primary-channels': {
    async all(client) {
      for (const id of Object.values(CHANNEL_IDS)) {
        expect(object(await setPrimary(client, id))).toMatchObject({
          _id: id,
          primary: true,
          active: true
        })
      }
    },
    async 'email-and-sms'(client) {
      for (const channel of ['email', 'sms'] as const) {
        expect(object(await setPrimary(client, CHANNEL_IDS[channel]))).toMatchObject({
          channel,
          primary: true
        })
      }
      for (const channel of ['chat', 'push', 'in_app'] as const) {
        const response = await setPrimary(client, CHANNEL_IDS[channel])
        expectRejection(response, 400, `Channel ${channel} does not support primary`)
      }
    }
  },
  'integration-lookup': {
    async 'id-or-identifier'(client) {
      expect(object(await setPrimary(client, MAIL))).toMatchObject({ _id: MAIL })
      expect(object(await setPrimary(client, 'other-mail'))).toMatchObject({ _id: OTHER_MAIL })
      for (const unknown of [NOWHERE, 'nobody']) {
        expectRejection(
          await setPrimary(client, unknown),
          404,
          `Integration with id ${unknown} not found`
        )
      }
    },
    async id(client) {
      expect(object(await setPrimary(client, MAIL))).toMatchObject({ _id: MAIL })
      expect((await setPrimary(client, NOWHERE)).status).toBe(404)
      const { errors } = expectRejection(
        await setPrimary(client, 'other-mail'),
        422,
        'Validation Error'
      )
      expect(errors.integrationId).toEqual({
        messages: ['integrationId must be a mongodb id'],
        value: 'other-mail'
      })
    }
  },
  'foreign-integration': {
    async 'not-found'(client) {
      expectRejection(
        await setPrimary(client, ONLY_THERE),
        404,
        `Integration with id ${ONLY_THERE} not found`
      )
    },
    async forbidden(client) {
      const message =
        "API key authentication is scoped to a single environment and cannot set as primary an integration that belongs to a different environment. Use an API key from the integration's environment, or authenticate with a session token."
      expectRejection(await setPrimary(client, ONLY_THERE), 403, message)
    }
  },
  credentials: {
    async stored(client) {
      expect(object(await setPrimary(client, MAIL))).toMatchObject({
        credentials: { apiKey: 'SG.secret', tlsOptions: { servername: 'mail' } },
        configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'whsec' }
      })
    },
    async hidden(client) {
      const shown = object(await setPrimary(client, MAIL))
      expect(shown.credentials).toEqual({})
      expect(shown.configurations).toEqual({ inboundWebhookEnabled: true })
      expect(object(await setPrimary(client, OTHER_MAIL)).credentials).toEqual({})
      expect(object(await setPrimary(client, OTHER_MAIL))).not.toHaveProperty('configurations')
    }
  },
  'unknown-channel-filter': {
    reject: (client) => expectInvalid(client, 'channel=fax'),
    'empty-page': (client) =>
      expectEmptyPage(
        client,
        'channel=fax',
        'no message matches channel (4 are in the environment)'
      )
  },
  'unknown-subscriber-filter': {
    'empty-page': (client) =>
      expectEmptyPage(
        client,
        'subscriberId=nobody',
        'no message matches subscriberId (4 are in the environment); ' +
          'no subscriber has this subscriberId'
      ),
    async 'not-found'(client) {
      const response = await client.get('/v1/messages?subscriberId=nobody')
      expectRejection(response, 404, 'Subscriber not found for id nobody')
      expect(await client.get('/v1/messages?subscriberId=quiet')).toMatchObject({
        status: 200,
        json: { data: [] }
      })
    }
  },
  'malformed-context-key': {
    reject: (client) => expectInvalid(client, 'contextKeys=tenant'),
    'empty-page': (client) =>
      expectEmptyPage(
        client,
        'contextKeys=tenant',
        'no message matches contextKeys (4 are in the environment); no message has tenant'
      )
  },
  'paging-bounds': {
    async strict(client) {
      await expectInvalid(client, 'limit=0', 'limit=', 'limit=1001', ...NEVER_A_PAGE)
      expect((await client.get('/v1/messages?limit=1000')).json.pageSize).toBe(1000)
    },
    async lenient(client) {
      await expectInvalid(client, 'limit=-1', 'limit=1.5', 'page=-1', 'page=0.5')
      for (const query of ['limit=x', 'page=x', 'page=1,5&limit=1001', 'page[a]=1']) {
        const { status, json } = await client.get(`/v1/messages?${query}`)
        const messages = [
          `${query.split(/[=[]/)[0]} must be a number conforming to the specified constraints`
        ]
        expect({ status, errors: json.errors }, query).toEqual({
          status: 422,
          errors: { general: { messages, value: 'No Value Recorded' } }
        })
      }
      const both = await client.get('/v1/messages?page=x&limit=y')
      expect(both.json.errors.general.messages).toHaveLength(2)
      for (const query of ['limit=0', 'limit=', 'limit=10']) {
        expect((await client.get(`/v1/messages?${query}`)).json.pageSize).toBe(10)
      }
      expect((await client.get('/v1/messages?limit=1000')).json.pageSize).toBe(1000)
      expect(await client.get('/v1/messages?limit=1001')).toMatchObject({
        status: 400,
        json: { message: 'Limit can not be larger then 1000' }
      })
    }
  },
  'total-count': {
    async present(client) {
      expect((await client.get('/v1/messages?limit=2&page=0')).json).toMatchObject({
        totalCount: 4,
        hasMore: true
      })
      expect((await client.get('/v1/messages?limit=2&page=1')).json).toMatchObject({
        totalCount: 4,
        hasMore: false
      })
      expect((await client.get('/v1/messages?channel=sms')).json).toMatchObject({
        totalCount: 1,
        hasMore: false
      })
    },
    async absent(client) {
      for (const [query, hasMore] of Object.entries({
        'limit=2&page=1': true,
        'limit=3&page=1': false
      })) {
        const { json } = await client.get(`/v1/messages?${query}`)
        expect(json).toMatchObject({ hasMore })
        expect(json).not.toHaveProperty('totalCount')
      }
    }
  },
  'unknown-step': {
    async 'not-found'(client) {
      const response = await client.get('/v2/workflows/external/steps/gone')
      expect(expectRejection(response, 404, 'Step with id gone not found')).not.toHaveProperty(
        'stepId'
      )
    },
    async 'bad-request'(client) {
      const facts = { stepId: 'gone', workflowId: 'external' }
      const response = await client.get('/v2/workflows/external/steps/gone')
      expect(expectRejection(response, 400, 'No step found', facts)).toMatchObject(facts)
    }
  },
  'unknown-workflow': {
    async named(client) {
      const response = await client.get('/v2/workflows/gone/steps/email-step')
      expect(expectRejection(response, 404, 'Workflow with id gone not found')).not.toHaveProperty(
        'workflowId'
      )
    },
    async 'with-facts'(client) {
      const facts = { workflowId: 'gone' }
      const response = await client.get('/v2/workflows/gone/steps/email-step')
      expect(expectRejection(response, 404, 'Workflow cannot be found', facts)).toMatchObject(facts)
    }
  },
  'control-values': {
    async once(client) {
      const { controls, controlValues } = object(await someStep(client))
      expect(controlValues).toEqual({ subject: 'Hello', origin: 'service-cloud' })
      expect(controls).not.toHaveProperty('values')
      expect(object(await client.get('/v2/workflows/external/steps/sms-step'))).not.toHaveProperty(
        'controlValues'
      )
    },
    async twice(client) {
      const { controls, controlValues } = object(await someStep(client))
      expect(controlValues).toEqual({ subject: 'Hello', origin: 'service-cloud' })
      expect(controls.values).toEqual(controlValues)
      const empty = object(await client.get('/v2/workflows/external/steps/sms-step'))
      expect(empty).toMatchObject({ controlValues: {}, controls: { values: {} } })
    }
  },
  'idempotency-match': {
    async request(client) {
      const first = await setPrimary(client, MAIL, KEYED)
      expect(first.headers.get('idempotency-replay')).toBeNull()
      expectReplay(await setPrimary(client, MAIL, KEYED), first)
      await expectReused(client, OTHER_MAIL)
      await expectReused(client, MAIL, 'another body')
      const sibling = await setPrimary(client, MAIL, { ...KEYED, key: client.siblingKey })
      expect(sibling.headers.get('idempotency-replay')).toBeNull()
      expect(object(sibling)._environmentId).not.toBe(object(first)._environmentId)
    },
    async body(client) {
      const first = await setPrimary(client, MAIL, KEYED)
      expect(first.headers.get('idempotency-replay')).toBeNull()
      for (const [id, key] of [[MAIL], [OTHER_MAIL], [MAIL, client.siblingKey]] as const) {
        expectReplay(await setPrimary(client, id, { ...KEYED, ...(key && { key }) }), first)
      }
      await expectReused(client, MAIL, 'another body')
    }
  },
  'embedded-subscriber': {
    async whole(client) {
      const [{ subscriber }] = (await client.get('/v1/messages?channel=chat')).json.data
      expect(subscriber).toMatchObject({ ...ADA, channels: [expect.any(Object)] })
      expect(subscriber).toMatchObject(EMBEDDED)
    },
    async 'ten-fields'(client) {
      const [{ subscriber, email }] = (await client.get('/v1/messages?channel=chat')).json.data
      expect(subscriber).toEqual(EMBEDDED)
      // This `email` is a field of the message, not of the subscriber, so it stays.
      expect(email).toBe('ada@example.com')
    }
  },
  'step-lookup': {
    async 'by-kind'(client) {
      const { _id, workflowDatabaseId } = object(await someStep(client))
      const upper = await client.get(
        `/v2/workflows/${workflowDatabaseId.toUpperCase()}/steps/${_id.toUpperCase()}`
      )
      expect(object(upper)._id).toBe(_id)
      const digits = encodeBase62(_id)
      const found = [`x_st_${digits}`, `_st_${digits}`]
      const unknown = ['wf', 'env', 'lt', 'stp', 'other'].map((kind) => `x_${kind}_${digits}`)
      expect(await filterFoundSteps(client, [...found, ...unknown])).toEqual(found)
    },
    async 'any-kind'(client) {
      const { _id, workflowDatabaseId } = object(await someStep(client))
      expect((await client.get(`/v2/workflows/${workflowDatabaseId}/steps/${_id}`)).status).toBe(
        200
      )
      expect(
        (await client.get(`/v2/workflows/${workflowDatabaseId.toUpperCase()}/steps/${_id}`)).status
      ).toBe(404)
      const digits = encodeBase62(_id)
      const found = ['wf', 'env', 'lt', 'stp', 'st'].map((kind) => `x_${kind}_${digits}`)
      const unknown = [
        _id.toUpperCase(),
        `x_other_${digits}`,
        `_st_${digits}`,
        `x_st_${digits.slice(1)}`,
        digits
      ]
      expect(await filterFoundSteps(client, [...found, ...unknown])).toEqual(found)
      const workflow = `x_st_${encodeBase62(workflowDatabaseId)}`
      expect((await client.get(`/v2/workflows/${workflow}/steps/${_id}`)).status).toBe(200)
    }
  },
  'idempotency-quotes': {
    async stripped(client) {
      const first = await setPrimary(client, MAIL, { headers: { 'idempotency-key': '"one"' } })
      expect(first.headers.get('idempotency-key')).toBe('one')
      expectReplay(await setPrimary(client, MAIL, { headers: { 'idempotency-key': 'one' } }), first)
    },
    async kept(client) {
      const first = await setPrimary(client, MAIL, { headers: { 'idempotency-key': '"one"' } })
      expect(first.headers.get('idempotency-key')).toBe('"one"')
      const bare = await setPrimary(client, MAIL, { headers: { 'idempotency-key': 'one' } })
      expect(bare.headers.get('idempotency-replay')).toBeNull()
      expectReplay(
        await setPrimary(client, MAIL, { headers: { 'idempotency-key': '"one"' } }),
        first
      )
      const quotes = { 'idempotency-key': '""' }
      expect(
        (await setPrimary(client, MAIL, { headers: quotes })).headers.get('idempotency-key')
      ).toBe('""')
    }
  },
  'idempotency-rejections': {
    async plain(client) {
      const { headers, json } = await reusedKey(client)
      expect(json.errors).toEqual({})
      expect(headers.get('link')).toBeNull()
    },
    async linked(client) {
      const { headers, json } = await reusedKey(client)
      expect(json).not.toHaveProperty('errors')
      expect(headers.get('link')).toBe('https://docs.novu.co/additional-resources/idempotency')
      // A replay has no `Link` header.
      const replay = await setPrimary(client, MAIL, { headers: { 'idempotency-key': 'again' } })
      expect(replay.headers.get('link')).toBeNull()
    }
  },
  'error-context': {
    empty: (client) => expectContext(client, () => ({})),
    exception: (client) => expectContext(client, (statusCode, error) => ({ error, statusCode }))
  },
  'unserved-route': {
    async 'not-mocked'(client) {
      const unmocked = await client.get('/v1/topics?page=1')
      expectRejection(unmocked, 404, 'GET /v1/topics is not mocked')
      const wrongMethod = await client.get('/v1/messages', { method: 'DELETE' })
      expect(wrongMethod.status).toBe(405)
      expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD')
    },
    async 'not-found'(client) {
      const unmocked = await client.get('/v1/topics?page=1')
      expectRejection(unmocked, 404, 'GET /v1/topics is not mocked')
      const wrongMethod = await client.get('/v1/messages', { method: 'DELETE' })
      expectRejection(wrongMethod, 404, 'Cannot DELETE /v1/messages')
      expect(wrongMethod.headers.get('allow')).toBeNull()
    },
    async 'not-implemented'(client) {
      const unmocked = await client.get('/v1/topics?page=1')
      expectRejection(unmocked, 501, 'GET /v1/topics is not mocked')
      const wrongMethod = await client.get('/v1/messages', { method: 'DELETE' })
      expect(wrongMethod.status).toBe(405)
    }
  },
  'auth-scheme-case': {
    async any(client) {
      for (const scheme of ['apikey', 'APIKEY']) {
        const headers = { authorization: `${scheme} ${client.key}` }
        expect((await client.get('/v1/messages', { headers })).status, scheme).toBe(200)
      }
    },
    async exact(client) {
      expect((await client.get('/v1/messages')).status).toBe(200)
      for (const scheme of ['apikey', 'APIKEY']) {
        const headers = { authorization: `${scheme} ${client.key}` }
        const response = await client.get('/v1/messages', { headers })
        expectRejection(response, 401, `Invalid authentication scheme: "${scheme}"`)
      }
    }
  },
  'message-extras': {
    async absent(client) {
      const { data } = (await client.get('/v1/messages?channel=chat')).json
      for (const name of ['id', 'updatedAt', '__v']) expect(data[0]).not.toHaveProperty(name)
    },
    async present(client) {
      const { data } = (await client.get('/v1/messages?channel=chat')).json
      const { _id, createdAt } = data[0]
      expect(data[0]).toMatchObject({ id: _id, updatedAt: createdAt, __v: 0 })
    }
  },
  'path-form': {
    async strict(client) {
      for (const path of OTHER_FORMS) expect((await client.get(path)).status, path).toBe(404)
    },
    async lenient(client) {
      for (const path of OTHER_FORMS) expect((await client.get(path)).status, path).toBe(200)
    }
  },
  cors: {
    async allowed(client) {
      expect(await allowedOrigin(client, '/v1/messages')).toBe(PAGE)
      expect(await allowedOrigin(client, '/v1/topics')).toBe(PAGE)
      expect((await client.get('/v1/messages', { method: 'OPTIONS' })).status).toBe(204)
    },
    async absent(client) {
      expect(await allowedOrigin(client, '/v1/messages')).toBeNull()
      expect(await allowedOrigin(client, '/v1/topics')).toBeNull()
      expect(await allowedOrigin(client, '/_mock/state')).toBe(PAGE)
      const preflight = await client.get('/v1/messages', { method: 'OPTIONS' })
      expectRejection(preflight, 404, 'Cannot OPTIONS /v1/messages')
    }
  }
}

const OTHER_FORMS = ['/v1/messages/', '/V1/Messages', '/V1/MESSAGES/?limit=1']

const PAGE = 'http://localhost:3000'

async function allowedOrigin(client: Client, path: string): Promise<string | null> {
  const { headers } = await client.get(path, { headers: { origin: PAGE } })
  return headers.get('access-control-allow-origin')
}

const NAMED = {
  subscriberId: 'ada',
  firstName: 'Ada',
  lastName: 'Byron',
  avatar: 'https://example.com/ada.png'
}
const CONTACTS = { email: 'ada@example.com', phone: '+15550100', locale: 'en', timezone: 'UTC' }
const ADA = { ...NAMED, ...CONTACTS, data: { plan: 'pro' } }
/** The ten subscriber fields of every message, whichever value `embedded-subscriber` has. */
const EMBEDDED = {
  ...NAMED,
  _id: expect.stringMatching(/^[0-9a-f]{24}$/),
  createdAt: expect.any(String),
  updatedAt: expect.any(String),
  _organizationId: expect.any(String),
  _environmentId: expect.any(String),
  deleted: false
}

test('CASES has a case for each value of every assumption', () => {
  expect(Object.keys(CASES).sort()).toEqual([...ASSUMPTION_IDS].sort())
  for (const id of ASSUMPTION_IDS)
    expect(Object.keys(CASES[id]).sort(), id).toEqual(valuesOf(id).sort())
})

describe('an environment in a seed', () => {
  test.each(ASSUMPTION_IDS)(
    'can have its own value of %s, independent of the server and other environments',
    async (id) => {
      const environments = valuesOf(id).flatMap((value) => {
        return seedWithSibling(value, {
          profile: profileElsewhere(id, value),
          assumptions: { [id]: value }
        })
      })
      const server = valuesOf(id).at(-1) ?? ''
      const mock = await useMock({ assumptions: { [id]: server }, seed: { environments } })
      for (const value of valuesOf(id)) await caseOf(id, value)(clientOf(mock, value))
    }
  )

  test("uses its own assumptions first, then the server's, then its profile's", async () => {
    const environments = [
      ...seedWithSibling('plain'),
      ...seedWithSibling('live', { profile: 'live' }),
      ...seedWithSibling('own', {
        profile: 'live',
        assumptions: { 'total-count': 'present', 'control-values': 'once' }
      })
    ]
    const mock = await useMock({
      assumptions: { 'total-count': 'absent', envelope: 'bare' },
      seed: { environments }
    })
    const expected = {
      plain: {
        envelope: 'bare',
        'vendor-names': 'documented',
        'control-values': 'once',
        'total-count': 'absent'
      },
      live: {
        envelope: 'bare',
        'vendor-names': 'vendor',
        'control-values': 'twice',
        'total-count': 'absent'
      },
      own: {
        envelope: 'bare',
        'vendor-names': 'vendor',
        'control-values': 'once',
        'total-count': 'present'
      }
    } as const
    for (const [name, values] of Object.entries(expected)) {
      for (const [id, value] of Object.entries(values)) {
        await caseOf(id as AssumptionId, value)(clientOf(mock, name))
      }
    }
  })
})

test.each(PROFILES)(
  "GET /_mock/assumptions lists every assumption with the server's value in the profile %s",
  async (profile) => {
    const mock = await useMock({
      profile,
      assumptions: { envelope: 'bare' },
      seed: { environments: [] }
    })
    const { json } = await mock.get('/_mock/assumptions', { key: null })
    expect(json.assumptions).toEqual(
      ASSUMPTION_IDS.map((id) => ({
        id,
        ...describeAssumption(id),
        value: id === 'envelope' ? 'bare' : describeAssumption(id)[profile]
      }))
    )
  }
)

test.each([
  [
    'nonsense',
    'x',
    'there is no assumption nonsense; the assumptions are envelope, vendor-names, '
  ],
  ['toString', 'bare', 'there is no assumption toString; the assumptions are envelope, '],
  ['envelope', 'toString', 'assumption envelope must be one of bare, data, not toString']
])('rejects an unknown assumption or value: %s=%s', async (id, value, message) => {
  const start = useMock({ assumptions: { [id]: value } })
  await expect(start).rejects.toThrow(StartError)
  await expect(start).rejects.toThrow(message)
  const seed = { environments: [{ name: 'Shop', assumptions: { [id]: value } }] }
  await expect(useMock({ seed })).rejects.toThrow(
    /environments\[0\]\.assumptions\.\w+: (is not|must be)/
  )
})

test('rejects an unknown profile with a message that lists the profiles', async () => {
  await expect(useMock({ profile: 'real' as Profile })).rejects.toThrow(
    'must be one of document, live, not real'
  )
})

const MAIL_INTEGRATION = {
  _id: MAIL,
  identifier: 'mail',
  name: 'service-slack',
  providerId: 'service-slack',
  channel: 'email',
  active: false,
  credentials: { apiKey: 'SG.secret', tlsOptions: { servername: 'mail' } },
  configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'whsec' }
}

/** The integrations that both environments of `seedWithSibling` have. */
const SHARED_INTEGRATIONS = [
  MAIL_INTEGRATION,
  { _id: OTHER_MAIL, identifier: 'other-mail', providerId: 'ses', channel: 'email' },
  ...Object.entries(CHANNEL_IDS)
    .filter(([channel]) => channel !== 'email')
    .map(([channel, _id]) => ({ _id, identifier: channel, providerId: channel, channel }))
]

const ONLY_THERE_INTEGRATION = {
  _id: ONLY_THERE,
  identifier: 'only-there',
  providerId: 'ses',
  channel: 'email'
}

/** The records, except integrations, that both environments of `seedWithSibling` have. */
const SHARED_RECORDS = {
  subscribers: [
    {
      ...ADA,
      channels: [
        {
          providerId: 'service-slack',
          credentials: { channel: 'service-slack' },
          _integrationId: MAIL
        }
      ]
    },
    { subscriberId: 'quiet' }
  ],
  workflows: [
    { identifier: 'cloud', origin: 'service-cloud', steps: [{ type: 'email' }] },
    { identifier: 'cloud-v1', origin: 'service-cloud-v1', steps: [{ type: 'email' }] },
    {
      identifier: 'external',
      steps: [
        { type: 'email', controlValues: { subject: 'Hello', origin: 'service-cloud' } },
        { type: 'sms' }
      ]
    }
  ],
  messages: [
    {
      channel: 'chat',
      subscriberId: 'ada',
      providerId: 'service-slack',
      email: ADA.email,
      payload: { providerId: 'service-slack' }
    },
    { channel: 'sms', contextKeys: ['tenant:acme'] },
    { channel: 'email' },
    { channel: 'email' }
  ]
}

/**
 * Returns two environments of the organization `name`. They have the same records, except that only
 * the second environment has the integration `ONLY_THERE`.
 */
function seedWithSibling(
  name: string,
  settings: { profile?: Profile; assumptions?: Record<string, string> } = {}
): object[] {
  const createEnvironment = (suffix: string, integrations: object[]) => ({
    name: `${name}-${suffix}`,
    organization: name,
    apiKeys: [`${name}-${suffix}-key`],
    ...settings,
    ...SHARED_RECORDS,
    integrations
  })
  return [
    createEnvironment('here', SHARED_INTEGRATIONS),
    createEnvironment('there', [...SHARED_INTEGRATIONS, ONLY_THERE_INTEGRATION])
  ]
}

function clientOf(mock: TestMock, name: string): Client {
  const [key, siblingKey] = [`${name}-here-key`, `${name}-there-key`]
  return {
    key,
    siblingKey,
    get: (path, call) => mock.get(path, { key, ...call }),
    post: (path, call) => mock.post(path, { key, ...call })
  }
}

/**
 * Returns a profile that sets the assumption to a value other than `value`, so that a test of
 * `value` fails if the override is ignored. Returns `document` if there is no such profile.
 */
function profileElsewhere(id: AssumptionId, value: string): Profile {
  return PROFILES.find((profile) => describeAssumption(id)[profile] !== value) ?? 'document'
}

function caseOf(id: AssumptionId, value: string): Case {
  const caseOfValue = (CASES[id] as Record<string, Case>)[value]
  if (!caseOfValue) throw new Error(`no case for ${id}=${value}`)
  return caseOfValue
}

// biome-ignore lint/suspicious/noExplicitAny: tests read fields of validated responses
function object({ status, text, json }: TestResponse): any {
  expect(status, text).toBe(200)
  return 'data' in json ? json.data : json
}

function setPrimary(client: Client, id: string, call?: TestRequest): Promise<TestResponse> {
  return client.post(`/v1/integrations/${id}/set-primary`, call)
}

function someStep(client: Client): Promise<TestResponse> {
  return client.get('/v2/workflows/external/steps/email-step')
}

/** Requests a step by each id or slug in `names`. Returns the names that find a step. */
async function filterFoundSteps(client: Client, names: string[]): Promise<string[]> {
  const responses = await Promise.all(
    names.map((name) => client.get(`/v2/workflows/external/steps/${name}`))
  )
  return names.filter((_, index) => responses[index]?.status === 200)
}

/** Sends an idempotency key with two different bodies. Returns the second response, a 422. */
async function reusedKey(client: Client): Promise<TestResponse> {
  const headers = { 'idempotency-key': 'again' }
  await setPrimary(client, MAIL, { headers })
  const response = await setPrimary(client, MAIL, { headers, body: 'another' })
  expect(response.status).toBe(422)
  return response
}

/**
 * Checks the `ctx` of various errors, some of which always have an empty `ctx`. For other errors,
 * `of` returns the expected `ctx`.
 */
async function expectContext(
  client: Client,
  of: (status: number, error: string) => object
): Promise<void> {
  const headers = { 'idempotency-key': 'once' }
  const gone = await setPrimary(client, NOWHERE, { headers })
  const replay = await setPrimary(client, NOWHERE, { headers })
  const reused = await reusedKey(client)
  const malformed = await client.get('/v1/messages?x=%')
  const unserved = await client.get('/v1/topics')
  for (const { status, json } of [gone, replay, reused, malformed, unserved]) {
    expect(json.ctx, json.message).toEqual(of(status, json.error))
  }
  // A validation error has the invalid fields in `errors`, and an empty `ctx`.
  expect((await client.get('/v1/messages?page=-1')).json).toMatchObject({
    ctx: {},
    errors: { page: {} }
  })
  // An injected error has the same `ctx` as a real error with its status. A 500 has an empty `ctx`.
  const busy = await client.get('/v1/messages', { headers: { 'x-mock-fault': 'status=503' } })
  expect(busy.json.ctx).toEqual(of(503, 'Service Unavailable'))
  const broken = await client.get('/v1/messages', { headers: { 'x-mock-fault': 'status=500' } })
  expect(broken.json).toMatchObject({ statusCode: 500, ctx: {} })
}

async function expectNames(
  client: Client,
  [cloud, cloudV1, slack]: [string, string, string]
): Promise<void> {
  const origin = async (workflow: string) =>
    object(await client.get(`/v2/workflows/${workflow}/steps/email-step`)).origin
  expect(await origin('cloud')).toBe(cloud)
  expect(await origin('cloud-v1')).toBe(cloudV1)
  expect(await origin('external')).toBe('external')
  expect(object(await someStep(client)).controlValues.origin).toBe('service-cloud')

  expect(object(await setPrimary(client, MAIL))).toMatchObject({
    providerId: slack,
    name: 'service-slack'
  })
  expect(object(await setPrimary(client, OTHER_MAIL)).providerId).toBe('ses')
  const [message] = (await client.get('/v1/messages?channel=chat')).json.data
  expect(message.providerId).toBe(slack)
  const { channels } = message.subscriber
  // The subscriber has no channels if `embedded-subscriber` is `ten-fields`.
  if (channels)
    expect(channels).toMatchObject([
      { providerId: slack, credentials: { channel: 'service-slack' } }
    ])
  expect(message.payload).toEqual({ providerId: 'service-slack' })
}

/** Queries that every value of `paging-bounds` rejects. */
const NEVER_A_PAGE = ['limit=-1', 'limit=1.5', 'page=-1', 'page=x']

const KEYED = { headers: { 'idempotency-key': 'one' } }

function expectRejection(
  { status, json }: TestResponse,
  expected: number,
  message: string,
  facts?: object
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of validated responses
): any {
  expect([status, json.message]).toEqual([expected, message])
  // Without `facts`, accept both values of `ctx` that the assumption `error-context` allows.
  if (facts) expect(json.ctx).toEqual(facts)
  else expect([{}, { error: json.error, statusCode: expected }]).toContainEqual(json.ctx)
  expect(json).not.toHaveProperty('data')
  return json
}

async function expectEnvelope(client: Client, isEnveloped: boolean): Promise<void> {
  for (const { json } of [await setPrimary(client, MAIL), await someStep(client)]) {
    expect(Object.keys(json).includes('data')).toBe(isEnveloped)
    expect(isEnveloped ? Object.keys(json) : ['data']).toEqual(['data'])
    expect(isEnveloped ? json.data : json).toHaveProperty('_id')
  }
  expect((await client.get('/v1/messages')).json).toMatchObject({
    data: expect.any(Array),
    page: 0
  })
  expect((await client.get('/v2/workflows/gone/steps/gone')).json).not.toHaveProperty('data')
}

async function expectEmptyPage(client: Client, query: string, reason: string): Promise<void> {
  const response = await client.get(`/v1/messages?${query}`)
  expect(response).toMatchObject({
    status: 200,
    json: { data: [], hasMore: false, page: 0, pageSize: 10 }
  })
  expect(response.headers.get('x-mock-reason')).toBe(reason)
}

/** Expects a 422 for each query. Each query has one parameter, which `errors` must contain. */
async function expectInvalid(client: Client, ...queries: string[]): Promise<void> {
  for (const query of queries) {
    const [field = '', value] = query.split('=')
    const { errors } = expectRejection(
      await client.get(`/v1/messages?${query}`),
      422,
      'Validation Error'
    )
    expect(errors, query).toEqual({ [field]: { messages: [expect.any(String)], value } })
  }
}

function expectReplay(response: TestResponse, first: TestResponse): void {
  expect(response).toMatchObject({ status: first.status, text: first.text })
  expect(response.headers.get('idempotency-replay')).toBe('true')
}

async function expectReused(client: Client, id: string, body?: string): Promise<void> {
  const response = await setPrimary(client, id, { ...KEYED, ...(body !== undefined && { body }) })
  expectRejection(response, 422, 'Request with key "one" is being reused for a different body')
}

test('overridesOf omits a stored assumption that this version does not know', () => {
  const stored = assume('document', { 'row-of-another-version': 'on', credentials: 'hidden' })
  expect(overridesOf('document', stored)).toEqual({ credentials: 'hidden' })
})

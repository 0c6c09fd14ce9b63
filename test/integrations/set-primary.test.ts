import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../support/any-character.js'
import { type TestMock, type TestResponse, useMock } from '../support/mock.js'
import {
  allRows,
  environmentRows,
  type IntegrationRow,
  integrationRows,
  primaries
} from '../support/rows.js'

const CONDITIONS = [
  {
    isNegated: false,
    type: 'GROUP',
    value: 'AND',
    children: [{ field: 'plan', value: 'pro', operator: 'EQUAL', on: 'payload' }]
  }
]

const FULL = {
  identifier: 'mailgun',
  providerId: 'mailgun',
  name: 'Mailgun',
  channel: 'email',
  credentials: {
    apiKey: 'key-1',
    secure: true,
    tlsOptions: { minVersion: 'TLSv1.2', ca: [1, 2.5, null] }
  },
  configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'whsec' },
  active: false,
  conditions: CONDITIONS
}

/**
 * Integrations that cover the rules of set-primary. Each environment of `seed()` has them by
 * default.
 */
const INTEGRATIONS = [
  {
    ...{
      identifier: 'sendgrid',
      providerId: 'sendgrid',
      channel: 'email',
      primary: true,
      conditions: CONDITIONS
    },
    credentials: { tlsOptions: { primary: true, active: false, conditions: [1] } }
  },
  FULL,
  { identifier: 'ses', providerId: 'ses', channel: 'email' },
  {
    identifier: 'postmark',
    providerId: 'postmark',
    channel: 'email',
    deleted: true,
    deletedAt: '2026-01-01'
  },
  {
    identifier: 'twilio',
    providerId: 'twilio',
    channel: 'sms',
    primary: true,
    active: false,
    conditions: CONDITIONS
  },
  { identifier: 'nexmo', providerId: 'nexmo', channel: 'sms' },
  { identifier: 'slack', providerId: 'slack', channel: 'chat' },
  { identifier: 'fcm', providerId: 'fcm', channel: 'push' },
  { identifier: 'inbox', providerId: 'novu', channel: 'in_app' }
]

const ENVIRONMENT = {
  integrations: INTEGRATIONS,
  subscribers: [{ subscriberId: 'ada', email: 'ada@example.com' }],
  workflows: [{ identifier: 'shipped', steps: [{ type: 'email' }] }],
  messages: [{ channel: 'email', subscriberId: 'ada', workflow: 'shipped' }]
}

/**
 * Returns a seed with three environments: Shop and Staging in one organization, and Rival in
 * another. Tests send requests to Shop. `first` overrides fields of Shop, and `integrations`
 * replaces the integrations of Staging.
 */
function seed(first: object = {}, integrations: object[] = INTEGRATIONS) {
  return {
    environments: [
      { ...ENVIRONMENT, name: 'Shop', organization: 'Acme', ...first },
      { ...ENVIRONMENT, name: 'Staging', organization: 'Acme', integrations },
      { ...ENVIRONMENT, name: 'Rival', organization: 'Rival' }
    ]
  }
}

const LIVE = { profile: 'live' }
const UNKNOWN = '66f1c2a47c9b1a0012ad0001'

describe('200', () => {
  test('promotes one integration, demotes another, and changes nothing else', async () => {
    const mock = await useMock({ seed: seed() })
    const before = environmentRows(mock.db.client)
    const former = rowOf(mock, 'sendgrid').document
    const next = rowOf(mock, 'mailgun').document

    const response = await mock.post('/v1/integrations/mailgun/set-primary')

    expect(response.status).toBe(200)
    expect(response.json).toEqual({
      ...JSON.parse(next),
      primary: true,
      active: true,
      conditions: []
    })
    const demoted = former.replace(
      '"deleted":false,"primary":true',
      '"deleted":false,"primary":false'
    )
    const { integrations, ...others } = environmentRows(mock.db.client)
    expect(integrations).toEqual(
      before.integrations?.map((row) => {
        if (row.environment === 1 && row.identifier === 'sendgrid')
          return { ...row, is_primary: 0, document: demoted }
        if (row.environment !== 1 || row.identifier !== 'mailgun') return row
        return { ...row, is_primary: 1, active: 1, document: response.text }
      })
    )
    expect({ integrations: before.integrations, ...others }).toEqual(before)
  })

  test('demotes a soft-deleted primary integration too', async () => {
    const deleted = {
      identifier: 'old',
      providerId: 'ses',
      channel: 'sms',
      primary: true,
      deleted: true
    }
    const mock = await useMock({ seed: seed({ integrations: [...INTEGRATIONS, deleted] }) })

    await mock.post('/v1/integrations/nexmo/set-primary')

    expect(rowOf(mock, 'old')).toMatchObject({ is_primary: 0, deleted: 1 })
    expect(JSON.parse(rowOf(mock, 'old').document)).toMatchObject({ primary: false, deleted: true })
  })

  test.each(['sendgrid', 'twilio'])(
    'returns %s unchanged, because it is already primary',
    async (identifier) => {
      const mock = await useMock({ seed: seed() })
      const before = allRows(mock.db.client)

      const response = await mock.post(`/v1/integrations/${identifier}/set-primary`)

      expect(response).toMatchObject({ status: 200, text: rowOf(mock, identifier).document })
      expect(response.json.conditions).toEqual(CONDITIONS)
      expect(response.json.active).toBe(identifier === 'sendgrid')
      expect(allRows(mock.db.client)).toEqual(before)
    }
  )

  test('an _id takes precedence over an equal identifier of another integration', async () => {
    const taken = { identifier: UNKNOWN, providerId: 'ses', channel: 'email' }
    const named = { _id: UNKNOWN, identifier: 'named', providerId: 'ses', channel: 'email' }
    const mock = await useMock({ seed: seed({ integrations: [taken, named] }) })
    expect((await mock.post(`/v1/integrations/${UNKNOWN}/set-primary`)).json.identifier).toBe(
      'named'
    )
  })

  test('keeps all bytes of a document except the fields that set-primary changes', async () => {
    const mock = await useMock({ seed: seed() })
    const environment = mock.services.environments.findByApiKey('shop-key')
    if (!environment) throw new Error('the seed has no shop-key')
    const write = mock.db.client.prepare(
      'UPDATE integrations SET document = ? WHERE dataset = (SELECT integrations FROM environments WHERE key = 1) AND identifier = ?'
    )
    const anything = fc.dictionary(
      fc.string({ unit: anyCharacter }),
      fc.jsonValue({ stringUnit: anyCharacter })
    )

    fc.assert(
      fc.property(anything, anything, (former, next) => {
        mock.services.integrations.setPrimary(environment, 'sendgrid')
        const formerText = documentOf(mock, 'sendgrid', former, { active: true, primary: true })
        const nextText = documentOf(mock, 'mailgun', next, { active: false, primary: false })
        write.run(formerText, 'sendgrid')
        write.run(nextText, 'mailgun')

        const { integration } = mock.services.integrations.setPrimary(environment, 'mailgun')

        const promoted = nextText
          .replace('"active":false', '"active":true')
          .replace(OF_PRIMARY, '$1true')
        expect(integration).toBe(promoted.replace(/"conditions":\[.*]}$/s, '"conditions":[]}'))
        expect(rowOf(mock, 'mailgun').document).toBe(integration)
        expect(rowOf(mock, 'sendgrid').document).toBe(formerText.replace(OF_PRIMARY, '$1false'))
      })
    )
  })
})

describe('400', () => {
  test.each([
    ['application/json', '{'],
    ['APPLICATION/JSON ; charset=utf-8', '{} {}'],
    ['application/merge-patch+json', 'primary=true']
  ])('rejects malformed JSON with the content type %s: %s', async (type, body) => {
    const mock = await useMock({ seed: seed() })
    const before = allRows(mock.db.client)
    const response = await mock.post('/v1/integrations/mailgun/set-primary', {
      headers: { 'content-type': type },
      body
    })
    expect(response).toMatchObject({
      status: 400,
      json: { message: 'Malformed JSON in the request body' }
    })
    expect(reasonOf(response)).toBe(
      'the content-type is JSON, but the body is not; ' +
        'omit the body, because this operation ignores it'
    )
    expect(allRows(mock.db.client)).toEqual(before)
  })

  test('live: rejects a chat integration, even if the seed made it primary', async () => {
    const primary = { identifier: 'team', providerId: 'slack', channel: 'chat', primary: true }
    const mock = await useMock({
      seed: seed({ ...LIVE, integrations: [...INTEGRATIONS, primary] })
    })
    const before = allRows(mock.db.client)
    for (const identifier of ['slack', 'team']) {
      const response = await mock.post(`/v1/integrations/${deriveId(mock, identifier)}/set-primary`)
      expect(response).toMatchObject({
        status: 400,
        json: { message: 'Channel chat does not support primary' }
      })
      expect(reasonOf(response)).toBe(
        'only email and sms integrations can be primary in this environment ' +
          '(assumption primary-channels)'
      )
    }
    expect(allRows(mock.db.client)).toEqual(before)
  })
})

describe('403', () => {
  const FORBIDS = { assumptions: { 'foreign-integration': 'forbidden' } }
  const FORBIDDEN =
    "API key authentication is scoped to a single environment and cannot set as primary an integration that belongs to a different environment. Use an API key from the integration's environment, or authenticate with a session token."

  test('live: rejects an integration of another environment in the same organization', async () => {
    const mock = await useMock({ seed: seed(LIVE) })
    const before = allRows(mock.db.client)
    const id = deriveId(mock, 'mailgun', 1)
    expect((await mock.post(`/v1/integrations/${id.toUpperCase()}/set-primary`)).status).toBe(403)
    const response = await mock.post(`/v1/integrations/${id}/set-primary`)
    expect(response).toMatchObject({
      status: 403,
      json: { message: FORBIDDEN, error: 'Forbidden', ctx: {} }
    })
    expect(reasonOf(response)).toBe(
      'environment Staging of the same organization has this integration: ' +
        'use an API key of that environment'
    )
    expect(allRows(mock.db.client)).toEqual(before)
  })

  test("prefers the environment's own integration over another environment's", async () => {
    const integrations = [
      ...INTEGRATIONS,
      { identifier: 'staged', providerId: 'ses', channel: 'email', deleted: true }
    ]
    const mock = await useMock({
      seed: seed({ ...FORBIDS, integrations }, [{ ...FULL, identifier: 'staged' }, FULL])
    })
    expect((await mock.post('/v1/integrations/mailgun/set-primary')).status).toBe(200)
    expect((await mock.post('/v1/integrations/staged/set-primary')).status).toBe(404)
  })
})

describe('404', () => {
  const HERE = (mock: TestMock) => deriveId(mock, 'postmark')
  const DELETED =
    'integration <id> of environment Shop is soft-deleted, so it is treated as missing'
  const NONE = 'environment Shop has no integration with _id or identifier <id>'
  const NO_ID = 'environment Shop has no integration with _id <id>'

  test.each([
    ['document', 'an unknown _id', () => UNKNOWN, NONE],
    ['document', 'a misspelled identifier', () => 'mialgun', `${NONE}; did you mean mailgun?`],
    // Soft-deleted integrations are never suggested.
    ['document', 'a misspelled identifier of a soft-deleted integration', () => 'postmrak', NONE],
    ['document', 'a soft-deleted integration by _id', HERE, DELETED],
    ['document', 'a soft-deleted integration by identifier', () => 'postmark', DELETED],
    [
      'document',
      'an integration of another environment',
      (mock: TestMock) => deriveId(mock, 'mailgun', 1),
      NONE
    ],
    ['live', 'a soft-deleted integration', HERE, DELETED],
    [
      'live',
      'a soft-deleted integration of another environment',
      (mock: TestMock) => deriveId(mock, 'postmark', 1),
      NO_ID
    ],
    [
      'live',
      'an integration of another organization',
      (mock: TestMock) => deriveId(mock, 'mailgun', 2),
      NO_ID
    ]
  ])(
    '%s: reports why %s is not found, and changes nothing',
    async (profile, _, parseId, reason) => {
      const mock = await useMock({ seed: seed({ profile }) })
      const before = allRows(mock.db.client)
      const id = parseId(mock)
      const response = await mock.post(`/v1/integrations/${id}/set-primary`)
      expect(response).toMatchObject({
        status: 404,
        json: { message: `Integration with id ${id} not found`, error: 'Not Found', ctx: {} }
      })
      expect(reasonOf(response)).toBe(reason.replace('<id>', id))
      expect(allRows(mock.db.client)).toEqual(before)
    }
  )

  test('live: does not find an integration that exists only in a snapshot', async () => {
    const mock = await useMock({ seed: seed(LIVE) })
    const id = deriveId(mock, 'mailgun', 1)
    await mock.call(`/_mock/integrations/${id}`, { method: 'DELETE', key: 'staging-key' })
    expect((await mock.post(`/v1/integrations/${id}/set-primary`)).status).toBe(404)
  })

  test('live: finds no integration by an identifier that looks like an _id', async () => {
    const integrations = [{ identifier: UNKNOWN, providerId: 'ses', channel: 'email' }]
    const mock = await useMock({ seed: seed({ ...LIVE, integrations }) })
    expect((await mock.post(`/v1/integrations/${UNKNOWN}/set-primary`)).status).toBe(404)
  })
})

test('keeps the former primary integration if the update fails halfway', async () => {
  const mock = await useMock({ seed: seed() })
  mock.db.client.exec(`
    CREATE TRIGGER refuse BEFORE UPDATE OF is_primary ON integrations WHEN NEW.is_primary = 1
    BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  const before = allRows(mock.db.client)

  expect((await mock.post('/v1/integrations/mailgun/set-primary')).status).toBe(500)

  expect(allRows(mock.db.client)).toEqual(before)
  expect(primaries(mock.db.client, 'email', 1)).toEqual(['sendgrid'])
})

test('a channel has one primary integration after 200 concurrent requests', async () => {
  const integrations = Array.from({ length: 10 }, (_, index) => ({
    ...{ identifier: `email-${index}`, providerId: 'sendgrid', channel: 'email' },
    ...{ primary: index === 0, active: false, conditions: CONDITIONS }
  }))
  const mock = await useMock({ seed: seed({ integrations }) })
  const before = integrationRows(mock.db.client)

  const calls = Array.from({ length: 200 }, (_, index) => `email-${(index * 7) % 10}`)
  const responses = await Promise.all(
    calls.map((name) => mock.post(`/v1/integrations/${name}/set-primary`))
  )

  expect(responses.map(({ status, json }) => [status, json.identifier, json.primary])).toEqual(
    calls.map((name) => [200, name, true])
  )
  const after = integrationRows(mock.db.client)
  expect(primaries(mock.db.client, 'email', 1)).toHaveLength(1)
  expect(after.map((row) => JSON.parse(row.document).primary)).toEqual(
    after.map((row) => row.is_primary === 1)
  )
  expect(after.filter(({ environment }) => environment !== 1)).toEqual(
    before.filter(({ environment }) => environment !== 1)
  )
})

test('the database rejects a second primary integration in a channel', async () => {
  const ofFirst = 'dataset = (SELECT integrations FROM environments WHERE key = 1)'
  const mock = await useMock({ seed: seed() })
  const before = allRows(mock.db.client)
  expect(() =>
    mock.db.client.exec(
      `UPDATE integrations SET is_primary = 1 WHERE ${ofFirst} AND identifier = 'mailgun'`
    )
  ).toThrow('UNIQUE constraint failed: integrations.dataset, integrations.channel')
  expect(() =>
    mock.db.client.exec(`
      INSERT INTO integrations SELECT dataset, 'new', 'new', channel, active, is_primary, deleted, document
      FROM integrations WHERE ${ofFirst} AND identifier = 'sendgrid'`)
  ).toThrow('UNIQUE constraint failed')
  expect(allRows(mock.db.client)).toEqual(before)
})

/**
 * Matches the top-level `primary` in a document from `documentOf`, but not a `primary` in its
 * `name` or `credentials`.
 */
const OF_PRIMARY = /("deleted":false,"primary":)(true|false)/

/** Returns an integration's document with arbitrary JSON in its `name` and `credentials`. */
function documentOf(
  mock: TestMock,
  identifier: string,
  free: object,
  state: { active: boolean; primary: boolean }
) {
  const { credentials: _, ...document } = JSON.parse(rowOf(mock, identifier).document)
  return JSON.stringify({
    _id: document._id,
    name: JSON.stringify(free),
    credentials: { tlsOptions: free },
    active: state.active,
    deleted: false,
    primary: state.primary,
    conditions: CONDITIONS
  })
}

function reasonOf({ headers }: TestResponse): string | null {
  return headers.get('x-mock-reason')
}

function rowOf(mock: TestMock, identifier: string): IntegrationRow {
  const row = integrationRows(mock.db.client).find(
    (each) => each.environment === 1 && each.identifier === identifier
  )
  if (!row) throw new Error(`the seed has no ${identifier}`)
  return row
}

function deriveId(mock: TestMock, identifier: string, environment = 0): string {
  const match = mock.seededEnvironments[environment]?.integrations.find(
    (integration) => integration.identifier === identifier
  )
  if (!match) throw new Error(`the seed has no ${identifier}`)
  return match._id
}

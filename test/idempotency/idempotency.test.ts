import { describe, expect, test } from 'vitest'
import { type TestMock, type TestRequest, type TestResponse, useMock } from '../support/mock.js'
import { startOpenRequest } from '../support/open-request.js'
import { allRows, keyRows, primaries } from '../support/rows.js'

const INTEGRATIONS = [
  { identifier: 'sendgrid', providerId: 'sendgrid', channel: 'email', primary: true },
  { identifier: 'mailgun', providerId: 'mailgun', channel: 'email' },
  { identifier: 'ses', providerId: 'ses', channel: 'email' },
  { identifier: 'slack', providerId: 'slack', channel: 'chat' }
]

/** Returns a seed with two environments in one organization and one environment in another. */
function seed(all: object = {}) {
  const environment = { integrations: INTEGRATIONS, ...all }
  return {
    environments: [
      { ...environment, name: 'Shop', organization: 'Acme' },
      { ...environment, name: 'Staging', organization: 'Acme' },
      { ...environment, name: 'Rival', organization: 'Rival' }
    ]
  }
}

const MAILGUN = '/v1/integrations/mailgun/set-primary'
const SES = '/v1/integrations/ses/set-primary'
const UNKNOWN = '/v1/integrations/nobody/set-primary'
const JSON_TYPE = { 'content-type': 'application/json' }

const START = Date.parse('2026-02-18T10:00:00.000Z')
const DAY = 24 * 60 * 60 * 1000

test('repeating a key replays the response without running the operation again', async () => {
  const mock = await useMock({ seed: seed() })
  const effects = logPrimaries(mock)
  const first = await post(mock, MAILGUN, 'key-1')
  await post(mock, SES, 'key-2')
  const before = allRows(mock.db.client)

  const replay = await post(mock, MAILGUN, 'key-1')

  expect(replay).toMatchObject({
    status: 200,
    text: first.text,
    json: { identifier: 'mailgun', primary: true }
  })
  expect(allRows(mock.db.client)).toEqual(before)
  expect(primaries(mock.db.client, 'email', 1)).toEqual(['ses'])
  expect(effects()).toEqual(['mailgun', 'ses'])

  mock.db.client.exec("DELETE FROM integrations WHERE identifier = 'mailgun'")
  expect(await post(mock, MAILGUN, 'key-1')).toMatchObject({ status: 200, text: first.text })
})

describe('an error that the operation returns', () => {
  const malformed = { headers: JSON_TYPE, body: '{' }
  const byId = { 'integration-lookup': 'id' }

  test.each([
    [404, 'an unknown integration', seed(), UNKNOWN, {}],
    [400, 'malformed JSON', seed(), MAILGUN, malformed],
    [
      422,
      'an invalid id',
      seed({ assumptions: byId }),
      '/v1/integrations/mailgun/set-primary?x=1',
      {}
    ]
  ] as const)(
    'the %i for %s is stored, and is replayed with its original timestamp',
    async (status, _, data, path, call) => {
      let now = START
      const mock = await useMock({ seed: data, clock: () => now })
      const first = await post(mock, path, 'key-1', call)
      expect(first).toMatchObject({ status, json: { timestamp: '2026-02-18T10:00:00.000Z', path } })

      now += 60_000
      const replay = await post(mock, path, 'key-1', call)
      expect(replay).toMatchObject({ status, text: first.text })
      expect(replay.headers.get('idempotency-replay')).toBe('true')
    }
  )
})

test.each(['UPDATE ON integrations', 'INSERT ON idempotency_keys'])(
  'if %s fails, the request gets a 500 and changes nothing, and its key can be used again',
  async (write) => {
    const mock = await useMock({ seed: seed() })
    const { client } = mock.db
    client.exec(
      `CREATE TRIGGER refuse BEFORE ${write} BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`
    )
    const before = allRows(client)

    for (const _ of Array(2)) {
      const response = await post(mock, MAILGUN, 'key-1')
      expect(response.status).toBe(500)
      expect(response.headers.has('idempotency-replay')).toBe(false)
      expect(allRows(client)).toEqual(before)
    }

    client.exec('DROP TRIGGER refuse')
    expectNew(await post(mock, MAILGUN, 'key-1'))
  }
)

describe('a different request with the same key', () => {
  const body = { headers: JSON_TYPE, body: '{"a":1}' }

  test.each([
    ['a different path', SES, {}],
    ['a different body', MAILGUN, body],
    ['an unknown integration', UNKNOWN, {}]
  ])(
    'match=request: a request with %s gets 422, does not run and is not stored',
    async (_, path, call) => {
      const mock = await useMock({ seed: seed() })
      const first = await post(mock, MAILGUN, 'key-1')
      await post(mock, '/v1/integrations/sendgrid/set-primary', 'key-2')
      const before = allRows(mock.db.client)

      const response = await post(mock, path, 'key-1', call)

      expect(response).toMatchObject({
        status: 422,
        json: {
          message: 'Request with key "key-1" is being reused for a different body',
          error: 'Unprocessable Entity'
        }
      })
      expect(response.json.errors).toEqual({})
      expect(response.headers.get('idempotency-key')).toBe('key-1')
      expect(response.headers.has('idempotency-replay')).toBe(false)
      expect(response.headers.get('x-mock-reason')).toBe(
        'this idempotency-key was first used for a different request; ' +
          'send a new key with every new request'
      )
      expect(allRows(mock.db.client)).toEqual(before)
      expect((await post(mock, MAILGUN, 'key-1')).text).toBe(first.text)
    }
  )

  test('match=body: a key stored in another organization or a snapshot counts as new', async () => {
    const mock = await useMock({ seed: seed({ assumptions: { 'idempotency-match': 'body' } }) })
    await post(mock, MAILGUN, 'key-1')
    expectNew(await post(mock, MAILGUN, 'key-1', { key: 'rival-key' }))
    await mock.call('/_mock/snapshots/after', { method: 'PUT' })
    await mock.post('/_mock/reset')
    expectNew(await post(mock, MAILGUN, 'key-1'))
  })

  test.each([
    ['request', 200],
    ['body', 409]
  ])(
    'match=%s: a key in use gets %i in another environment of the same organization',
    async (value, status) => {
      const mock = await useMock({
        seed: seed({ assumptions: { 'idempotency-match': value } })
      })
      const headers = { authorization: 'ApiKey shop-key', 'idempotency-key': 'key-1' }
      const first = await startOpenRequest(mock.url + MAILGUN, headers)
      expect((await post(mock, SES, 'key-1', { key: 'staging-key' })).status).toBe(status)
      expect((await post(mock, SES, 'key-1', { key: 'rival-key' })).status).toBe(200)
      expect((await first.finish()).status).toBe(200)
    }
  )

  const EMPTIES = [
    {},
    { headers: JSON_TYPE },
    { headers: JSON_TYPE, body: '{}' },
    { body: ' {\n} ' }
  ]

  test('a missing body, an empty body and {} count as the same body', async () => {
    const mock = await useMock({ seed: seed() })
    for (const [index, first] of EMPTIES.entries()) {
      const { text: response } = await post(mock, MAILGUN, `key-${index}`, first)
      for (const again of EMPTIES) {
        expect(await post(mock, MAILGUN, `key-${index}`, again)).toMatchObject({
          status: 200,
          text: response
        })
      }
      for (const other of ['[]', '{}{}', '{"a":{}}']) {
        expect((await post(mock, MAILGUN, `key-${index}`, { body: other })).status).toBe(422)
      }
    }
  })
})

describe("a key is stored for 24 hours on its environment's clock", () => {
  test('a key is valid to the last millisecond, and a replay does not renew it', async () => {
    let now = START
    const mock = await useMock({ seed: seed(), clock: () => now })
    const effects = logPrimaries(mock)
    const first = await post(mock, MAILGUN, 'key-1')
    await post(mock, SES, 'key-2')

    now = START + DAY - 1
    expect(await post(mock, MAILGUN, 'key-1')).toMatchObject({ text: first.text })
    expect(effects()).toEqual(['mailgun', 'ses'])

    now = START + DAY
    expectNew(await post(mock, MAILGUN, 'key-1'))
    expect(effects()).toEqual(['mailgun', 'ses', 'mailgun'])

    now = START + DAY + DAY - 1
    expect((await post(mock, MAILGUN, 'key-1')).headers.get('idempotency-replay')).toBe('true')
  })

  test('an expired key can be used again, and is deleted when a new key is stored', async () => {
    let now = START
    const mock = await useMock({
      seed: seed({ assumptions: { 'idempotency-match': 'body' } }),
      clock: () => now
    })
    await post(mock, MAILGUN, 'key-1')
    await post(mock, MAILGUN, 'key-2', { key: 'staging-key' })
    now = START + 1000
    await post(mock, MAILGUN, 'key-3')
    now = START + DAY
    await post(mock, MAILGUN, 'key-4')
    expect(storedKeys(mock)).toEqual(['2 key-2', '1 key-3', '1 key-4'])
    now = START + DAY + 1000

    for (const key of ['key-2', 'key-3']) expectNew(await post(mock, SES, key))
    expect(storedKeys(mock)).toEqual(['2 key-2', '1 key-4', '1 key-2', '1 key-3'])
  })
})

test.each(['request', 'body'])(
  'match=%s: only one of 40 concurrent requests with the same key runs',
  async (value) => {
    const mock = await useMock({ seed: seed({ assumptions: { 'idempotency-match': value } }) })
    const effects = logPrimaries(mock)

    const paths = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? MAILGUN : SES))
    const responses = await Promise.all(paths.map((path) => post(mock, path, 'key-1')))

    const first = responses.filter(
      ({ status, headers }) => status === 200 && !headers.has('idempotency-replay')
    )
    expect(first).toHaveLength(1)
    expect(effects()).toEqual([first[0]?.json.identifier])
    expect(primaries(mock.db.client, 'email', 1)).toEqual(effects())
    for (const response of responses) {
      if (response.status === 200) expect(response.text).toBe(first[0]?.text)
      else expect(response.status).toBeOneOf(value === 'request' ? [409, 422] : [409])
    }
  }
)

function post(
  mock: TestMock,
  path: string,
  idempotencyKey: string,
  { headers, ...call }: TestRequest = {}
) {
  return mock.post(path, { ...call, headers: { ...headers, 'idempotency-key': idempotencyKey } })
}

function expectNew({ status, headers }: TestResponse): void {
  expect([status, headers.has('idempotency-replay')]).toEqual([200, false])
}

/**
 * Uses a database trigger to log the integrations that become primary. Returns a function that
 * reads the logged identifiers.
 */
function logPrimaries({ db: { client } }: TestMock): () => string[] {
  client.exec(`
    CREATE TEMP TABLE effects (identifier TEXT);
    CREATE TEMP TRIGGER effect AFTER UPDATE OF is_primary ON integrations WHEN NEW.is_primary = 1
    BEGIN INSERT INTO effects VALUES (NEW.identifier); END`)
  const all = client.prepare<[], string>('SELECT identifier FROM effects ORDER BY rowid').pluck()
  return () => all.all()
}

/**
 * Returns the stored keys, oldest first. Each key is preceded by its environment's number, as in
 * `2 key-2`.
 */
function storedKeys(mock: TestMock): string[] {
  return keyRows(mock.db.client).map(({ environment, key }) => `${environment} ${key}`)
}

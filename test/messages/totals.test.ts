import { describe, expect, test } from 'vitest'
import { type GivenMock, givenMock } from '../support/mock.js'

/** Two environments of six and of three messages, whose totals have all been asked for and so are remembered. */
async function givenRemembered(): Promise<GivenMock> {
  const messages = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      channel: index % 3 === 0 ? 'email' : 'sms',
      subscriberId: 'ada',
      transactionId: `order-${index % 2}`,
      contextKeys: ['tenant:a']
    }))
  const environment = (name: string, count: number) => ({
    name,
    subscribers: [{ subscriberId: 'ada' }],
    messages: messages(count)
  })
  const mock = await givenMock({ seed: { environments: [environment('Mine', 6), environment('Other', 3)] } })
  expect(await totals(mock, 'mine-key')).toEqual([6, 2, 6, 3, 6, 2])
  expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
  return mock
}

const FILTERS = ['', 'channel=email', 'subscriberId=ada', 'transactionId=order-0', 'contextKeys=tenant:a']
const QUERIES = [...FILTERS, 'channel=email&subscriberId=ada&contextKeys=tenant:a']

/** What each query counts; the page has as many messages, and this is asked of every page. */
async function totals(mock: GivenMock, key: string): Promise<number[]> {
  const counted: number[] = []
  for (const query of QUERIES) {
    const { json } = await mock.get(`/v1/messages?limit=100&${query}`, { key })
    expect(json.data, query).toHaveLength(json.totalCount)
    counted.push(json.totalCount)
  }
  return counted
}

const MINE = `(SELECT messages FROM environments WHERE name = 'Mine' AND snapshot_of IS NULL)`
const OTHERS = MINE.replace('Mine', 'Other')
const COLUMNS = 'dataset, id, created_at, channel, subscriber_id, transaction_id, context, document'
const DOUBLE = `INSERT INTO messages (${COLUMNS})
  SELECT dataset, 'a' || substr(id, 2), created_at, channel, subscriber_id, transaction_id, context, document
  FROM messages WHERE dataset = ${MINE}`

describe('a total that was told once is told anew', () => {
  test('when messages come', async () => {
    const mock = await givenRemembered()
    mock.db.client.exec(DOUBLE)
    expect(await totals(mock, 'mine-key')).toEqual([12, 4, 12, 6, 12, 4])
    expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
  })

  test('when messages go', async () => {
    const mock = await givenRemembered()
    mock.db.client.exec(`DELETE FROM messages WHERE dataset = ${MINE} AND channel = 'email'`)
    expect(await totals(mock, 'mine-key')).toEqual([4, 0, 4, 2, 4, 0])
    expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
  })

  test('when as many go as come, be it the last ones', async () => {
    const mock = await givenRemembered()
    const { client } = mock.db
    client.exec(`CREATE TABLE kept AS SELECT * FROM messages WHERE dataset = ${OTHERS}`)
    client.exec(`DELETE FROM messages WHERE dataset = ${OTHERS}`)
    client.exec(`INSERT INTO messages (${COLUMNS}) SELECT ${COLUMNS.replace('channel', `'push'`)} FROM kept`)
    expect(await totals(mock, 'mine-key')).toEqual([6, 2, 6, 3, 6, 2])
    expect(await totals(mock, 'other-key')).toEqual([3, 0, 3, 2, 3, 0])
  })

  test('when as many come to it as have gone elsewhere', async () => {
    const mock = await givenRemembered()
    mock.db.client.exec(`DELETE FROM messages WHERE dataset = ${OTHERS}`)
    mock.db.client.exec(`${DOUBLE} ORDER BY sequence LIMIT 3`)
    expect(await totals(mock, 'mine-key')).toEqual([9, 3, 9, 5, 9, 3])
    expect(await totals(mock, 'other-key')).toEqual([0, 0, 0, 0, 0, 0])
  })

  test.each([
    [`channel = 'push'`, [6, 0, 6, 3, 6, 0]],
    [`subscriber_id = NULL`, [6, 2, 0, 3, 6, 0]],
    [`transaction_id = 'order-0'`, [6, 2, 6, 6, 6, 2]],
    [`context = '[]'`, [6, 2, 6, 3, 0, 0]]
  ])('when messages change: %s', async (change, expected) => {
    const mock = await givenRemembered()
    mock.db.client.exec(`UPDATE messages SET ${change} WHERE dataset = ${MINE}`)
    expect(await totals(mock, 'mine-key')).toEqual(expected)
    expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
  })

  test('when messages move to another environment', async () => {
    const mock = await givenRemembered()
    mock.db.client.exec(`UPDATE messages SET dataset = ${OTHERS}, id = 'a' || substr(id, 2) WHERE dataset = ${MINE}`)
    expect(await totals(mock, 'mine-key')).toEqual([0, 0, 0, 0, 0, 0])
    expect(await totals(mock, 'other-key')).toEqual([9, 3, 9, 5, 9, 3])
  })

  test('when their dataset goes, and another comes in its place', async () => {
    const mock = await givenRemembered()
    const { client } = mock.db
    client.pragma('foreign_keys = ON')
    client.exec(`CREATE TABLE kept AS SELECT messages AS key FROM environments WHERE name = 'Mine'`)
    client.exec('PRAGMA defer_foreign_keys = ON; BEGIN; PRAGMA defer_foreign_keys = ON')
    client.exec('DELETE FROM datasets WHERE key IN (SELECT key FROM kept)')
    client.exec('INSERT INTO datasets SELECT DISTINCT key FROM kept; COMMIT')
    expect(await totals(mock, 'mine-key')).toEqual([0, 0, 0, 0, 0, 0])
    expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
  })

  test('when a change is rolled back after it was counted', async () => {
    const mock = await givenRemembered()
    const { client } = mock.db
    client.exec(`BEGIN; DELETE FROM messages WHERE dataset = ${MINE}; ${DOUBLE.replace(MINE, OTHERS)}`)
    expect(await totals(mock, 'mine-key')).toEqual([0, 0, 0, 0, 0, 0])
    expect(await totals(mock, 'other-key')).toEqual([6, 2, 6, 4, 6, 2])
    client.exec('ROLLBACK')
    expect(await totals(mock, 'mine-key')).toEqual([6, 2, 6, 3, 6, 2])
    expect(await totals(mock, 'other-key')).toEqual([3, 1, 3, 2, 3, 1])
    client.exec(DOUBLE.replace(MINE, OTHERS).replace(`'a'`, `'b'`))
    expect(await totals(mock, 'other-key')).toEqual([6, 2, 6, 4, 6, 2])
  })
})

describe('a total is told anew when the last messages of another environment went before', () => {
  // A sequence that was given up is given again.
  const swap = (client: GivenMock['db']['client']) => {
    client.exec(`DELETE FROM messages WHERE dataset = ${OTHERS}`)
    client.exec(`${DOUBLE} ORDER BY sequence LIMIT 3`)
  }

  test('and as many come to this one', async () => {
    const mock = await givenRemembered()
    const newest = () => mock.db.client.prepare('SELECT max(sequence) FROM messages').pluck().get()
    const before = newest()
    swap(mock.db.client)
    expect(newest()).toBe(before)
    expect(await totals(mock, 'mine-key')).toEqual([9, 3, 9, 5, 9, 3])
    expect(await totals(mock, 'other-key')).toEqual([0, 0, 0, 0, 0, 0])
  })

  test('and that is rolled back', async () => {
    const mock = await givenRemembered()
    const { client } = mock.db
    client.exec('BEGIN')
    swap(client)
    expect(await totals(mock, 'mine-key')).toEqual([9, 3, 9, 5, 9, 3])
    client.exec('ROLLBACK')
    expect(await totals(mock, 'mine-key')).toEqual([6, 2, 6, 3, 6, 2])
    swap(client)
    expect(await totals(mock, 'mine-key')).toEqual([9, 3, 9, 5, 9, 3])
  })
})

test('a total is not counted again while messages stay as they are, whatever else is written', async () => {
  const mock = await givenRemembered()
  const { client } = mock.db
  client.exec(`UPDATE environments SET name = 'Renamed'`)
  client.exec(`UPDATE messages SET document = json_set(document, '$.subject', 'new')`)
  client.exec(`UPDATE temp.message_lists SET total = total + 1000`)
  expect((await mock.get('/v1/messages')).json.totalCount).toBe(1006)
  expect((await mock.get('/v1/messages?channel=email', { key: 'other-key' })).json.totalCount).toBe(1001)
})

test('what is remembered stays within bounds', async () => {
  const mock = await givenRemembered()
  const filter = (request: number) =>
    Array.from({ length: 200 }, (_, index) => `transactionId=${`${request}-${index}`.padStart(100, 'x')}`).join('&')
  for (let request = 0; request < 120; request++) await mock.get(`/v1/messages?${filter(request)}`)
  const sizes = mock.db.client.prepare('SELECT total(length(conditions)) AS size FROM temp.message_lists').get()
  expect((sizes as { size: number }).size).toBeLessThan(1_100_000)
  expect(await totals(mock, 'mine-key')).toEqual([6, 2, 6, 3, 6, 2])
})

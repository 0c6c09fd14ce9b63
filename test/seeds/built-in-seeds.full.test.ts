import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { CHANNELS } from '../../src/domain/enums.js'
import { type TestMock, useMock } from '../support/mock.js'

const folder = join(import.meta.dirname, '../../seeds')
const names = readdirSync(folder).flatMap((file) =>
  file.endsWith('.yaml') ? [file.slice(0, -'.yaml'.length)] : []
)

describe.each(names.filter((name) => name !== 'default'))('%s', (name) => {
  test('has the environments and API keys of the default seed', async () => {
    const mock = await useMock({ seeds: [name] })
    const defaultMock = await useMock()
    const environmentsOf = ({ seededEnvironments }: TestMock) =>
      seededEnvironments.map(({ id, organizationId, name, apiKeys }) => ({
        id,
        organizationId,
        name,
        apiKeys
      }))
    expect(environmentsOf(mock)).toEqual(environmentsOf(defaultMock))
  })
})

test.each([
  ['empty', 0],
  ['one-page', 7],
  ['many-pages', 137],
  ['busy-inbox', 630]
])('paging through %s returns each of its %i messages once', async (name, count) => {
  const mock = await useMock({ seeds: [name] })
  const ids: string[] = []
  for (let page = 0, more = true; more; page += 1) {
    const { json } = await mock.get(`/v1/messages?page=${page}`)
    ids.push(...json.data.map(({ _id }: { _id: string }) => _id))
    more = json.hasMore
  }
  expect(ids).toHaveLength(count)
  expect(new Set(ids).size).toBe(count)
})

type Message = Record<'transactionId' | 'subscriberId', string>

test('messages of `unicode` can be filtered by each transactionId and subscriberId', async () => {
  const mock = await useMock({ seeds: ['unicode'] })
  const { environments } = parse(readFileSync(join(folder, 'unicode.yaml'), 'utf8'), {
    merge: true
  })
  const { subscribers, messages } = environments[0] as Record<'subscribers' | 'messages', Message[]>
  const filtered = async (filter: string, value: string): Promise<Message[]> =>
    (await mock.get(`/v1/messages?${filter}=${encodeURIComponent(value)}`)).json.data
  for (const { transactionId } of messages) {
    const matches = await filtered('transactionId', transactionId)
    expect(matches.map((message) => message.transactionId)).toEqual([transactionId])
  }
  for (const { subscriberId } of subscribers) {
    const sent = messages.filter((message) => message.subscriberId === subscriberId)
    expect(sent.length, subscriberId).toBeGreaterThan(0)
    expect(await filtered('subscriberId', subscriberId)).toHaveLength(sent.length)
  }
})

test('`busy-inbox` has every channel and status, and both read and unread messages', async () => {
  const mock = await useMock({ seeds: ['busy-inbox'] })
  const { data } = (await mock.get('/v1/messages?limit=1000')).json
  const valuesOf = (field: string) => [
    ...new Set(data.map((message: Record<string, unknown>) => message[field]))
  ]
  expect(valuesOf('channel').sort()).toEqual([...CHANNELS].sort())
  expect(valuesOf('status').sort()).toEqual(['error', 'sent', 'warning'])
  expect(valuesOf('read')).toHaveLength(2)
})

test('`busy-inbox` has emails of up to about 50 KB that contain tables and pictures', async () => {
  const mock = await useMock({ seeds: ['busy-inbox'] })
  const { data } = (await mock.get('/v1/messages?channel=email&limit=1000')).json
  const emails: string[] = data.map(({ content }: { content: string }) => content)
  const long = emails.filter(({ length }) => length > 4_000)
  expect(long.length).toBeGreaterThan(50)
  expect(Math.max(...long.map(({ length }) => length))).toBeGreaterThan(40_000)
  expect(Math.max(...long.map(({ length }) => length))).toBeLessThan(60_000)
  for (const email of long) expect(email).toMatch(/<table.*<img [^>]*src="data:image/s)
})

test.each(names)('the pictures of %s load offline', async (name) => {
  const mock = await useMock({ seeds: [name] })
  const { text } = await mock.get('/v1/messages?limit=1000')
  expect(text.match(/(avatar":"|<img [^>]*src=\\")https?:[^"]*/g) ?? []).toEqual([])
})

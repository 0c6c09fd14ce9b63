import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { CHANNELS } from '../../src/core/enums.js'
import type { WorkflowStep } from '../../src/workflow-steps/schemas.js'
import { type GivenMock, givenMock } from '../support/mock.js'
import { allRows } from '../support/rows.js'

const folder = join(import.meta.dirname, '../../seeds')
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length))
const scenarios = names.filter((name) => name !== 'default')

/** The names of the environments with their keys. */
const KEYS = {
  Development: 'development-key',
  Production: 'production-key',
  'Northlight development': 'other-organization-key'
}

test('there is a scenario for every purpose', () => {
  expect(scenarios.sort()).toEqual(
    ['empty', 'everything', 'failures', 'many-pages', 'one-page', 'steps', 'two-tenants', 'unicode'].sort()
  )
})

describe.each(scenarios)('%s', (name) => {
  test('leads an editor to the schema, then says when to take it', () => {
    expect(textOf(name)).toMatch(/^# yaml-language-server: \$schema=\.\/schema\.json\n\n# Take it (for|to) /)
  })

  test('has the published format', () => {
    const accepts = new Ajv({ allowUnionTypes: true }).compile(
      JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8'))
    )
    expect(accepts(seedOf(name)), JSON.stringify(accepts.errors)).toBe(true)
  })

  test('has the environments of the default seed, under the same keys', async () => {
    const [own, usual] = [await givenMock({ seeds: [name] }), await givenMock()]
    const environmentsOf = ({ seededEnvironments }: GivenMock) =>
      seededEnvironments.map(({ id, organizationId, name, apiKeys }) => ({ id, organizationId, name, apiKeys }))
    expect(environmentsOf(own)).toEqual(environmentsOf(usual))
    expect(own.seededEnvironments.map(({ name, apiKeys }) => [name, ...apiKeys])).toEqual(Object.entries(KEYS))
  })

  test.each(['document', 'live'] as const)('answers with all that it holds, in `%s`', async (profile) => {
    const mock = await givenMock({ seeds: [name], profile })
    for (const { name, messages, steps } of mock.seededEnvironments) {
      const key = KEYS[name as keyof typeof KEYS]
      const page = await mock.get('/v1/messages?limit=1000', { key })
      expect(ids(page.json.data).sort()).toEqual(ids(messages).sort())
      for (const step of steps) expect((await mock.get(pathOf(step), { key })).status).toBe(200)
    }
  })
})

test('empty: the environments have nothing in them', async () => {
  const mock = await givenMock({ seeds: ['empty'] })
  for (const key of Object.values(KEYS)) {
    expect((await mock.get('/v1/messages', { key })).json).toMatchObject({ totalCount: 0, hasMore: false, data: [] })
    expect((await mock.post('/v1/integrations/sendgrid-main/set-primary', { key })).status).toBe(404)
    expect((await mock.get('/v2/workflows/order-shipped/steps/email-step', { key })).status).toBe(404)
  }
  const filled = Object.entries(allRows(mock.db.client)).filter(([, rows]) => rows.length > 0)
  expect(filled.map(([table]) => table)).not.toContainEqual(
    expect.stringMatching(/^(integrations|subscribers|workflows|workflow_steps|messages)$/)
  )
})

test('one-page: 7 messages over all channels are a page, and there is no other', async () => {
  const mock = await givenMock({ seeds: ['one-page'] })
  const { json } = await mock.get('/v1/messages')
  expect(json).toMatchObject({ totalCount: 7, hasMore: false, pageSize: 10, page: 0 })
  expect(json.data).toHaveLength(7)
  expect(new Set(json.data.map(({ channel }: Message) => channel))).toEqual(new Set(CHANNELS))
  expect((await mock.get('/v1/messages?page=1')).json).toMatchObject({ totalCount: 7, hasMore: false, data: [] })
})

describe('many-pages', () => {
  test('is 14 pages by default, the last of 7, that hold each message once', async () => {
    const mock = await givenMock({ seeds: ['many-pages'] })
    const pages = await walk(mock, '/v1/messages?')
    expect(pages.map(({ length }) => length)).toEqual([...Array(13).fill(10), 7])
    expect(new Set(ids(pages.flat())).size).toBe(137)
    expect(ids((await mock.get('/v1/messages?limit=1000')).json.data)).toEqual(ids(pages.flat()))
  })

  test('has 24 messages of one instant, that end page 5, are all of page 6 and begin page 7', async () => {
    const mock = await givenMock({ seeds: ['many-pages'] })
    const pages = await walk(mock, '/v1/messages?')
    const [instant] = pages[6]?.map(({ createdAt }) => createdAt) ?? []
    const rows = pages.map((page) => page.map(({ createdAt }) => (createdAt === instant ? 'x' : '-')).join(''))
    expect(rows.slice(5, 8)).toEqual(['----xxxxxx', 'xxxxxxxxxx', 'xxxxxxxx--'])
    expect(rows.join('').replaceAll('-', '')).toHaveLength(24)
  })
})

describe('two-tenants', () => {
  test('has as many messages in each set of contexts as its comment says, whatever the order', async () => {
    const mock = await givenMock({ seeds: ['two-tenants'] })
    const rows = tableOf('two-tenants')
    expect(rows).toHaveLength(7)
    for (const [query = '', count] of rows) {
      const keys = query.startsWith('(') ? [] : query.split('&')
      for (const order of [keys, keys.toReversed()]) {
        const { json } = await mock.get(`/v1/messages?${order.join('&')}`)
        expect(json.totalCount, query).toBe(Number.parseInt(count ?? '', 10))
      }
    }
  })
})

describe('unicode', () => {
  const { subscribers, messages } = seedOf('unicode').environments[0] as SeedOfTest

  test('every field of every message comes back as it is written, and so does its subscriber', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    const { data } = (await mock.get('/v1/messages?limit=100')).json
    expect(data).toHaveLength(messages.length)
    for (const [index, { subscriberId, workflow, ...fields }] of messages.entries()) {
      expect(data[index]).toMatchObject(fields)
      expect(data[index].subscriber).toMatchObject(subscribers.find((each) => each.subscriberId === subscriberId) ?? {})
    }
  })

  test('every transaction and every subscriber is found by its own name, and by no other', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    for (const { transactionId } of messages) {
      const { json } = await mock.get(`/v1/messages?transactionId=${encodeURIComponent(transactionId)}`)
      expect(json.data.map((each: Message) => each.transactionId)).toEqual([transactionId])
    }
    for (const { subscriberId } of subscribers) {
      const { json } = await mock.get(`/v1/messages?subscriberId=${encodeURIComponent(subscriberId)}`)
      const sent = messages.filter((message) => message.subscriberId === subscriberId)
      expect(sent.length, subscriberId).toBeGreaterThan(0)
      expect(json.data).toHaveLength(sent.length)
    }
  })
})

interface Message {
  _id: string
  channel: string
  createdAt: string
  transactionId: string
}

interface SeedOfTest {
  subscribers: { subscriberId: string }[]
  messages: { transactionId: string; subscriberId: string; workflow?: string }[]
}

function textOf(name: string): string {
  return readFileSync(join(folder, `${name}.yaml`), 'utf8')
}

function seedOf(name: string): { environments: Partial<SeedOfTest>[] } {
  return parse(textOf(name), { merge: true })
}

/** The rows of the table in the comment at the top of a seed, each cut at two or more blanks; without its head. */
function tableOf(name: string): string[][] {
  const comment = textOf(name).split('environments:')[0] ?? ''
  const rows = [...comment.matchAll(/^# {3}(\S.*)$/gm)].map(([, row = '']) => row.split(/ {2,}/))
  return rows.filter(([first]) => first !== 'channel')
}

async function walk(mock: GivenMock, path: string): Promise<Message[][]> {
  const pages: Message[][] = []
  for (let more = true; more; ) {
    const { json } = await mock.get(`${path}&page=${pages.length}`)
    pages.push(json.data)
    more = json.hasMore
  }
  return pages
}

function ids(messages: readonly { _id: string }[]): string[] {
  return messages.map(({ _id }) => _id)
}

function pathOf({ workflowId, stepId }: Pick<WorkflowStep, 'workflowId' | 'stepId'>): string {
  return `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
}

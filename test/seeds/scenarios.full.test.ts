import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type AnySchemaObject } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  CHANNELS,
  CONTENT_ISSUE_TYPES,
  INTEGRATION_ISSUE_TYPES,
  ORIGINS,
  STEP_TYPES,
  UI_COMPONENTS,
  UI_GROUPS
} from '../../src/core/enums.js'
import type { UiSchemaProperty, WorkflowStep } from '../../src/workflow-steps/schemas.js'
import { type GivenMock, givenMock } from '../support/mock.js'
import { allRows } from '../support/rows.js'
import deployed from './resolve/step-control-schemas.json' with { type: 'json' }

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

  test('is listed newest first, by its own order', () => {
    for (const { messages = [] } of seedOf(name).environments) {
      const times = messages.map(({ createdAt }) => createdAt)
      expect(times).toEqual(times.toSorted().reverse())
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

  test('is two pages at a limit of 100', async () => {
    const mock = await givenMock({ seeds: ['many-pages'] })
    const pages = await walk(mock, '/v1/messages?limit=100')
    expect(pages.map(({ length }) => length)).toEqual([100, 37])
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

describe('failures', () => {
  /** What the deployed service writes. Of an error the text is the provider's own. */
  const WRITTEN = [
    ['email', 'warning', 'mail_unexpected_error', 'Subscriber does not have an email address'],
    ['email', 'warning', 'mail_unexpected_error', 'Subscriber does not have an active email integration'],
    ['email', 'error', 'mail_unexpected_error', undefined],
    ['sms', 'warning', 'no_subscriber_phone', 'Subscriber does not have active phone'],
    ['sms', 'warning', 'sms_missing_integration_error', 'Subscriber does not have an active sms integration'],
    ['sms', 'warning', 'no_integration_from_phone', 'Integration does not have from phone configured'],
    ['sms', 'error', 'unexpected_sms_error', undefined],
    ['chat', 'warning', 'no_subscriber_chat_channel_id', 'Subscriber does not have active chat channel id'],
    ['chat', 'warning', 'no_subscriber_chat_phone_number', 'Subscriber does not have phone number specified'],
    ['chat', 'warning', 'chat_missing_integration_error', 'Subscriber does not have an active chat integration'],
    ['chat', 'error', 'unexpected_chat_error', undefined],
    ['push', 'error', 'unexpected_push_error', undefined]
  ]

  async function givenFailures(): Promise<Message[]> {
    const mock = await givenMock({ seeds: ['failures'] })
    return (await mock.get('/v1/messages?limit=100')).json.data
  }

  const failed = (messages: Message[]) => messages.filter(({ status }) => status !== 'sent')

  test('has every error and warning, once each', async () => {
    const found = failed(await givenFailures()).map(({ channel, status, errorId, errorText }) => {
      return [channel, status, errorId, status === 'warning' ? errorText : undefined]
    })
    expect(found.map(String).sort()).toEqual(WRITTEN.map(String).sort())
  })

  test("has words of the provider's own for every error", async () => {
    const errors = (await givenFailures()).filter(({ status }) => status === 'error')
    expect(new Set(errors.map(({ errorText }) => errorText)).size).toBe(4)
    for (const { errorText } of errors) expect(errorText).toMatch(/^(?!Subscriber|Integration)\w+/)
  })

  test('has sent ones among them, on every channel, that carry neither', async () => {
    const messages = await givenFailures()
    const sent = messages.filter(({ status }) => status === 'sent')
    expect(new Set(sent.map(({ channel }) => channel))).toEqual(new Set(CHANNELS))
    for (const message of sent) expect(Object.keys(message)).not.toContainEqual(expect.stringMatching(/^error/))
    expect(messages.map(({ status }) => status).join(' ')).toMatch(/warning.*sent.*error.*sent.*warning.*sent/)
  })

  test('fails for a reason that its subscribers and integrations give', async () => {
    for (const { channel, errorText, email, phone, providerId } of await givenFailures()) {
      if (errorText?.includes('email address')) expect(email).toBeUndefined()
      if (errorText?.includes('active phone')) expect(phone).toBeUndefined()
      if (errorText?.includes(`an active ${channel} integration`)) expect(providerId).toBeUndefined()
      if (errorText?.includes('from phone')) expect(providerId).toBe('nexmo')
    }
  })

  test('tells all of it in its comment', async () => {
    const table = tableOf('failures').map(([channel, status, errorId, transactionId]) => {
      return { channel, status, errorId, transactionId }
    })
    const found = failed(await givenFailures()).map(({ channel, status, errorId, transactionId }) => {
      return { channel, status, errorId, transactionId }
    })
    for (const row of table) expect(found).toContainEqual(row)
    expect(new Set(table.map(({ errorId }) => errorId))).toEqual(new Set(found.map(({ errorId }) => errorId)))
  })
})

describe('steps', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const open = { type: 'object', properties: {}, required: [], additionalProperties: true }
  const defaults: Record<string, AnySchemaObject> = { ...deployed, chat: deployed.sms, custom: open, trigger: open }

  async function givenSteps(): Promise<WorkflowStep[]> {
    const mock = await givenMock({ seeds: ['steps'] })
    const [environment] = mock.seededEnvironments
    const steps: WorkflowStep[] = []
    for (const step of environment?.steps ?? []) steps.push((await mock.get(pathOf(step))).json)
    return steps
  }

  test('has a workflow for each line of its comment', async () => {
    const steps = await givenSteps()
    expect([...new Set(steps.map(({ workflowId }) => workflowId))]).toEqual(tableOf('steps').map(([id]) => id))
  })

  test('has every type, each with the controls that the deployed service gives it, and every origin', async () => {
    const steps = await givenSteps()
    const booked = steps.filter(({ workflowId }) => workflowId === 'class-booked')
    expect(booked.map(({ type }) => type).sort()).toEqual([...STEP_TYPES].sort())
    for (const { type, controls } of booked) expect(controls.dataSchema, type).toEqual(defaults[type])
    expect(new Set(steps.map(({ origin }) => origin))).toEqual(new Set(ORIGINS))
  })

  test('has a step that may use the results of one of every other type', async () => {
    const { steps, payload } = variablesOf(await givenSteps(), 'class-booked')
    expect(Object.keys(steps.properties)).toHaveLength(STEP_TYPES.length - 1)
    expect(steps.properties['digest-step'].properties).toHaveProperty('eventCount')
    expect(Object.keys(payload.properties)).toEqual(['calendarUrl', 'title', 'startsAt'])
  })

  test('has payloads that are inferred with objects and arrays in them, and one that is declared', async () => {
    const steps = await givenSteps()
    const payload = (workflowId: string) => variablesOf(steps, workflowId).payload
    expect(payload('class-reminder').properties).toMatchObject({
      class: { type: 'object' },
      things: { type: 'array' },
      photos: { type: 'array', items: { type: 'object' } }
    })
    expect(payload('class-cancelled')).toMatchObject({ additionalProperties: false, required: ['title'] })
  })

  test.each(['in_app', 'digest', 'delay'])('sets %s in each way that its schema has', async (type) => {
    const values = (await givenSteps())
      .filter((step) => step.type === type && step.workflowId !== 'class-draft' && step.controls.dataSchema)
      .map(({ controlValues }) => controlValues)
    const ways: AnySchemaObject[] = defaults[type]?.anyOf
    for (const way of ways) {
      const others = ways.filter((other) => other !== way)
      const alone = values.filter((each) => ajv.validate(way, each) && !others.some((o) => ajv.validate(o, each)))
      expect(alone, JSON.stringify(way)).not.toEqual([])
    }
  })

  test('sets throttles of both types and emails in both editors', async () => {
    const steps = await givenSteps()
    const words = (type: string, field: string) =>
      new Set(steps.filter((step) => step.type === type).map(({ controlValues }) => controlValues?.[field]))
    expect([...words('throttle', 'type')].sort()).toEqual(['dynamic', 'fixed'])
    expect(words('email', 'editorType')).toEqual(new Set(['html', 'block', undefined]))
  })

  test('has control values that their schema takes, unless an issue says that one is missing', async () => {
    let checked = 0
    for (const { workflowId, stepId, controls, controlValues, issues } of await givenSteps()) {
      if (!controls.dataSchema || !controlValues || workflowId === 'class-bare') continue
      const missing = JSON.stringify(issues ?? {}).includes('MISSING_VALUE')
      expect(ajv.validate(controls.dataSchema, controlValues), `${workflowId} ${stepId}`).toBe(!missing)
      checked += 1
    }
    expect(checked).toBeGreaterThan(25)
  })

  test('has every component, every group and every kind of placeholder', async () => {
    const schemas = (await givenSteps()).flatMap(({ controls }) => controls.uiSchema ?? [])
    const fields = schemas.flatMap(({ properties = {} }) => [...fieldsIn(properties)])
    expect(new Set(fields.map(({ component }) => component))).toEqual(new Set(UI_COMPONENTS))
    expect(new Set(schemas.flatMap(({ group }) => group ?? []))).toEqual(new Set(UI_GROUPS))
    expect(new Set(fields.map(({ placeholder }) => kindOf(placeholder)))).toEqual(
      new Set(['undefined', 'string', 'number', 'boolean', 'object', 'array'])
    )
    expect(fields.flatMap(({ placeholder }) => (Array.isArray(placeholder) ? placeholder.map(kindOf) : []))).toEqual([
      'string',
      'number',
      'boolean',
      'object'
    ])
  })

  test('has controls with one of the two schemas, with both and with neither', async () => {
    const kinds = (await givenSteps()).map(({ controls }) => Object.keys(controls).join())
    expect(new Set(kinds)).toEqual(new Set(['dataSchema', 'uiSchema', 'dataSchema,uiSchema', '']))
  })

  test('has every issue, with and without a variable, several at once, and none', async () => {
    const issues = (await givenSteps()).map((step) => step.issues)
    const content = issues.flatMap((each) => Object.values(each?.controls ?? {}))
    const integration = issues.flatMap((each) => Object.entries(each?.integration ?? {}))
    expect(new Set(content.flat().map(({ issueType }) => issueType))).toEqual(new Set(CONTENT_ISSUE_TYPES))
    expect(new Set(integration.flatMap(([, all]) => all.map(({ issueType }) => issueType)))).toEqual(
      new Set(INTEGRATION_ISSUE_TYPES)
    )
    expect(new Set(integration.map(([channel]) => channel))).toEqual(new Set(CHANNELS))
    for (const all of [content.flat(), integration.flatMap(([, all]) => all)]) {
      expect(new Set(all.map((each) => 'variableName' in each))).toEqual(new Set([true, false]))
    }
    expect(new Set(content.map(({ length }) => length))).toEqual(new Set([0, 1, 2]))
    expect(issues).toContainEqual({})
    expect(issues).toContain(undefined)
  })

  test("says what the deployed service says, in the service's own words", async () => {
    const texts = (await givenSteps()).flatMap(({ issues }) => [
      ...Object.values(issues?.controls ?? {}).flat(),
      ...Object.values(issues?.integration ?? {}).flat()
    ])
    expect(texts.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'Subject or body is required',
        'Subject is required',
        'Invalid URL. Must be a valid full URL, path starting with /, or {{variable}}',
        expect.stringMatching(/^Variable "\S+" /),
        expect.stringMatching(/^Content compilation error: /),
        expect.stringMatching(/^Filter ".+" in "payload\.\w+"$/),
        'Missing active primary integration provider',
        'Missing active  integration provider'
      ])
    )
  })

  test('has bare steps, doubles, names without a slug, and a slug that leads nowhere', async () => {
    const mock = await givenMock({ seeds: ['steps'] })
    const step = async (stepId: string) =>
      (await mock.get(`/v2/workflows/class-bare/steps/${encodeURIComponent(stepId)}`)).json
    expect(await step('email-step')).not.toHaveProperty('controlValues')
    expect((await step('email-step-2')).name).toBe('Email Step')
    expect((await step('sms-step')).slug).toMatch(/^_st_\w{16}$/)
    expect((await step('Room 2/b')).slug).toMatch(/^unicorn-and-friends_st_\w{16}$/)
    expect(await step('own')).toMatchObject({ variables: {}, controlValues: {} })
    expect((await step((await step('own')).slug)).statusCode).toBe(404)
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

  test('leaves no message to two sets, and none to no set', async () => {
    const mock = await givenMock({ seeds: ['two-tenants'] })
    const sets = tableOf('two-tenants').flatMap(([query = '']) => (query.startsWith('(') ? [] : query))
    const found: string[] = []
    for (const query of sets) found.push(...ids((await mock.get(`/v1/messages?limit=100&${query}`)).json.data))
    expect(found.sort()).toEqual(ids((await mock.get('/v1/messages?limit=100')).json.data).sort())
  })

  test('has the same set written in two orders', async () => {
    const mock = await givenMock({ seeds: ['two-tenants'] })
    const { json } = await mock.get('/v1/messages?contextKeys=tenant:acme&contextKeys=app:jira')
    expect(new Set(json.data.map(({ contextKeys }: Message) => contextKeys?.join()))).toEqual(
      new Set(['tenant:acme,app:jira', 'app:jira,tenant:acme'])
    )
  })

  test('has people and a transaction that both tenants share', async () => {
    const mock = await givenMock({ seeds: ['two-tenants'] })
    const of = async (query: string): Promise<Message[]> =>
      (await mock.get(`/v1/messages?limit=100&${query}`)).json.data
    const people = async (query: string) => new Set((await of(query)).map(({ subscriber }) => subscriber?.subscriberId))
    const both = new Set(['user-ada', 'user-grace'])
    expect(await people('contextKeys=tenant:acme')).toEqual(both)
    expect(await people('contextKeys=tenant:globex')).toEqual(both)
    const transaction = await of('transactionId=price-list-2026-03')
    expect(new Set(transaction.map(({ contextKeys }) => contextKeys?.join() ?? ''))).toEqual(
      new Set(['tenant:acme', 'tenant:globex', ''])
    )
    expect(await of('transactionId=price-list-2026-03&contextKeys=tenant:globex')).toHaveLength(2)
  })
})

describe('unicode', () => {
  const { integrations, subscribers, workflows, messages } = seedOf('unicode').environments[0] as SeedOfTest

  test('every field of every message comes back as it is written, and so does its subscriber', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    const { data } = (await mock.get('/v1/messages?limit=100')).json
    expect(data).toHaveLength(messages.length)
    for (const [index, { subscriberId, workflow, ...fields }] of messages.entries()) {
      expect(data[index]).toMatchObject(fields)
      expect(data[index].subscriber).toMatchObject(subscribers.find((each) => each.subscriberId === subscriberId) ?? {})
    }
  })

  test.each([
    ['right to left, with a mark', '"lastName":"\u200f\u05d1\u05df\u05be\u05d3\u05d5\u05d3 \u202b('],
    ['vowel signs', '"firstName":"\u0644\u064e\u064a\u0652\u0644\u064e\u0649"'],
    ['a joined emoji', '"firstName":"\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}"'],
    ['a skin tone', '"subscriberId":"\u{1f469}\u{1f3fd}\u200d\u{1f680}"'],
    ['composed letters', '"transactionId":"caf\u00e9"'],
    ['letters and accents apart', '"transactionId":"cafe\u0301"'],
    ['marks in a pile', '"content":"Z\u0351\u036b\u0343a\u0363'],
    ['a sign beyond the first 65536', '"lastName":"\u{20bb7}\u7530\u3000\uff21'],
    ['syllables in parts', ' \u1112\u1161\u11ab\u1100\u1173\u11af"'],
    ['a long word', '"subject":"Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"'],
    ['a script', String.raw`<script>alert(\"</script><script>alert('xss')</script>\")</script>`],
    ['entities', '&amp; 2 > 1 &lt;sic&gt; &nbsp;&#x1F375;"'],
    ['both apostrophes', '"lastName":"D\u2019Angelo-N\u2019Diaye"'],
    ['a straight one', `"lastName":"O'Brien"`],
    ['lines and tabs', String.raw`"content":"one\ntwo\r\nthree\rfour\ttab \\n is no line`],
    ['separators of lines', 'line\u2028five\u2029six\u0085seven"'],
    ['control characters', String.raw`"controls":"\u0000\u0001\u0002`],
    ['a byte order mark', '\u3000\ufeff "'],
    ['characters that are none', '"last":"\ufffd\ufffe\uffff\u{10ffff}"'],
    ['empty strings', '"subject":""']
  ])('the wire has %s', async (_, written) => {
    const mock = await givenMock({ seeds: ['unicode'] })
    expect((await mock.get('/v1/messages?limit=100')).text).toContain(written)
  })

  test('a word of two hundred letters has no point to break at', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    const [{ content }] = (await mock.get('/v1/messages?transactionId=long-words')).json.data
    expect(content).toMatch(/ https:\/\/track\.example\/[a-z]{200}$/)
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

  test('every set of contexts is found by its keys', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    const sets = messages.flatMap(({ contextKeys }) => (contextKeys ? [contextKeys] : []))
    expect(sets).toHaveLength(5)
    for (const set of sets) {
      const query = set.map((key) => `contextKeys=${encodeURIComponent(key)}`).join('&')
      expect((await mock.get(`/v1/messages?${query}`)).json.data).toEqual([
        expect.objectContaining({ contextKeys: set })
      ])
    }
  })

  test('every integration and every step is reached by its own name, and shows its names as written', async () => {
    const mock = await givenMock({ seeds: ['unicode'] })
    for (const { identifier, name } of integrations) {
      const { json } = await mock.post(`/v1/integrations/${encodeURIComponent(identifier)}/set-primary`)
      expect(json).toMatchObject({ identifier, name, primary: true })
    }
    for (const { identifier, steps } of workflows) {
      for (const { name, stepId, ...fields } of steps) {
        const resolved = mock.seededEnvironments[0]?.steps.find(
          (step) => step.workflowId === identifier && step.name === name
        )
        const { json } = await mock.get(pathOf(resolved as WorkflowStep))
        expect(json).toMatchObject({ ...fields, name, workflowId: identifier, ...(stepId && { stepId }) })
      }
    }
  })

  test('needs escaping in every kind of name', () => {
    const kinds = [
      integrations.map(({ identifier }) => identifier),
      subscribers.map(({ subscriberId }) => subscriberId),
      workflows.map(({ identifier }) => identifier),
      workflows.flatMap(({ steps }) => steps.flatMap(({ stepId }) => stepId ?? [])),
      messages.map(({ transactionId }) => transactionId),
      messages.flatMap(({ contextKeys }) => contextKeys ?? [])
    ]
    for (const names of kinds) expect(names).toContainEqual(expect.stringMatching(/[/%?&]/))
  })
})

interface Message {
  _id: string
  channel: string
  createdAt: string
  transactionId: string
  status: string
  errorId?: string
  errorText?: string
  email?: string
  phone?: string
  providerId?: string
  contextKeys?: string[]
  subscriber?: { subscriberId: string }
}

interface SeedOfTest {
  integrations: { identifier: string; name: string }[]
  subscribers: { subscriberId: string }[]
  workflows: { identifier: string; steps: { stepId?: string; name: string }[] }[]
  messages: {
    transactionId: string
    subscriberId: string
    createdAt: string
    workflow?: string
    contextKeys?: string[]
  }[]
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

/** The schemas of what the workflow's last step may use. */
function variablesOf(steps: readonly WorkflowStep[], workflowId: string): AnySchemaObject {
  const last = steps.filter((step) => step.workflowId === workflowId).at(-1)
  return last?.variables.properties as AnySchemaObject
}

function* fieldsIn(properties: Record<string, UiSchemaProperty>): Generator<UiSchemaProperty> {
  for (const field of Object.values(properties)) {
    yield field
    yield* fieldsIn(field.properties ?? {})
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

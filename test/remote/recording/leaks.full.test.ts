import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useMock, useNewMock } from '../../support/mock.js'
import { createTempFolder, runCommand } from '../../support/process.js'
import { recordFrom } from './recording-target.js'

const MESSAGES = 4000
const SUBSCRIBERS = 300
const STEPS = 20
/**
 * Matches the codes that mark personal values. A recording can keep field names that are plain
 * words, so the codes consist of letters only.
 */
const CODE = /qz[a-p]{5}qz/gi

type People = ReturnType<typeof createPeople>

/** Returns functions that create unique codes, add them to texts, and count them. */
function createPeople() {
  let count = 0
  const code = () => {
    const number = (count++).toString(16).padStart(5, '0')
    const letters = number.replaceAll(/./g, (digit) =>
      'abcdefghijklmnop'.charAt(Number.parseInt(digit, 16))
    )
    return `qz${letters}qz`
  }
  return { code, count: () => count, words: (text: string) => `${text} ${code()}` }
}

function createSeed(people: People) {
  const subscribers = Array.from({ length: SUBSCRIBERS }, (_, index) =>
    createSubscriber(people, index)
  )
  const steps = Array.from({ length: STEPS }, (_, index) => createStep(people, index))
  const messages = Array.from({ length: MESSAGES }, (_, index) =>
    createMessage(people, index, subscribers[index % SUBSCRIBERS] as (typeof subscribers)[0])
  )
  const workflow = { identifier: 'order-shipped', name: people.words('Order'), steps }
  const apiKeys = [`key-${people.code()}`]
  return {
    environments: [{ name: 'Source', apiKeys, subscribers, workflows: [workflow], messages }]
  }
}

function createSubscriber({ code, words }: People, index: number) {
  const credentials = {
    webhookUrl: `https://hooks.example/${code()}`,
    channel: code(),
    deviceTokens: [code()],
    title: code()
  }
  const _integrationId = '66d5a0e97c9b1a0012ab3402'
  return {
    subscriberId: `user-${code()}-${index}`,
    firstName: `Anna${code()}`,
    lastName: code(),
    email: `${code()}@${code()}.example`,
    phone: `+49 170 ${code()}`,
    avatar: `https://pictures.example/${code()}.png`,
    locale: code(),
    timezone: code(),
    topics: [code()],
    data: {
      [`iban ${code()}`]: `DE89 ${code()}`,
      [code()]: { card: `4111 ${code()}`, at: [code()] },
      plan: words('Gold')
    },
    channels: [{ providerId: 'slack', _integrationId, credentials }]
  }
}

function createStep({ code, words }: People, index: number) {
  const schema = { type: 'string', default: code(), title: words('To'), enum: [words('Ann')] }
  const uiProperties = { to: { component: 'EMAIL_BODY', placeholder: words('For') } }
  return {
    stepId: `email-step-${index}`,
    type: 'email',
    name: words('Mail'),
    controls: {
      dataSchema: { type: 'object', properties: { to: schema } },
      uiSchema: { group: 'EMAIL', properties: uiProperties }
    },
    controlValues: {
      subject: words('Hello'),
      body: `<p title="${code()}">Hi {{ payload.x | default: '${code()}' }}</p>`,
      token: code()
    },
    issues: {
      controls: { to: [{ issueType: 'MISSING_VALUE', variableName: 'to', message: words('No') }] }
    }
  }
}

const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push'] as const

function createMessage(
  people: People,
  index: number,
  { subscriberId, firstName }: { subscriberId: string; firstName: string }
) {
  const { code, words } = people
  const hasPlainContent = index % 2 === 0
  const failure = () => ({
    email: `${code()}@x.example`,
    errorText: words('No'),
    errorId: 'mail_unexpected_error',
    status: 'error'
  })
  return {
    subscriberId,
    workflow: 'order-shipped',
    channel: CHANNELS[index % CHANNELS.length],
    transactionId: `order ${code()}`,
    contextKeys: [`tenant:${code()}`],
    subject: words('Your order'),
    content: hasPlainContent
      ? words(`Dear ${firstName} of ${subscriberId},`)
      : [{ type: 'text', content: words('Dear') }],
    cta: {
      data: { url: `https://shop.example/${code()}` },
      action: { buttons: [{ type: 'primary', content: code() }] }
    },
    payload: createPayload(people, subscriberId, firstName),
    overrides: { email: { headers: { Authorization: `Bearer ${code()}` } } },
    ...(hasPlainContent && failure()),
    ...(index % 40 === 0 && { template: createTemplate(people) })
  }
}

/** Creates a payload whose field names include the subscriber's id and name. */
function createPayload({ code }: People, subscriberId: string, firstName: string) {
  return {
    type: code(),
    [subscriberId]: 1,
    [firstName]: 2,
    [`${code()}@x.example`]: code(),
    total: 10,
    list: [{ note: code() }]
  }
}

function createTemplate({ code, words }: People) {
  const step = {
    name: words('Mail'),
    template: { [code()]: code() },
    replyCallback: { url: `https://x.example/${code()}` }
  }
  const variables = [{ name: `to ${code()}` }]
  return {
    name: words('Order'),
    description: words('Of'),
    active: true,
    draft: false,
    preferenceSettings: { email: true },
    critical: false,
    tags: [code()],
    steps: [step],
    _creatorId: '66d5a0e97c9b1a0012ab3402',
    triggers: [{ type: 'event', identifier: 'order-shipped', variables }],
    _notificationGroupId: '66d5a0e97c9b1a0012ab3402',
    deleted: false,
    deletedAt: '',
    deletedBy: code(),
    data: { [code()]: code() }
  }
}

type SourceEnvironment = ReturnType<typeof createSeed>['environments'][0]

const stepIdsOf = ({ workflows }: SourceEnvironment) =>
  workflows.flatMap(({ steps }) => steps.map(({ stepId }) => stepId))

/** Starts a mock with more than 18,000 personal values. */
async function startSource() {
  const people = createPeople()
  const seed = createSeed(people)
  const { url } = await useNewMock({ seed })
  expect(people.count()).toBeGreaterThan(18_000)
  const environment = seed.environments[0] as SourceEnvironment
  const flags = ['--api-key', environment.apiKeys[0] ?? '', '--rate', '10000', '--json']
  return { url, environment, flags }
}

/**
 * Writes a file that requests all pages of messages, all steps, and one filtered list for each
 * filter. Returns the path of the file.
 */
function writeRequests(environment: SourceEnvironment): string {
  const [{ subscriberId, transactionId, contextKeys } = {}] = environment.messages
  const filters = { subscriberId, transactionId, contextKeys: contextKeys?.[0], channel: 'sms' }
  const queries = Object.entries(filters).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`
  )
  const pages = Array.from({ length: MESSAGES / 500 }, (_, page) => `limit=500&page=${page}`)
  const lists = [...queries, ...pages].map((query) => `/v1/messages?${query}`)
  const steps = stepIdsOf(environment).map((id) => `/v2/workflows/order-shipped/steps/${id}`)
  const file = join(createTempFolder(), 'requests.txt')
  writeFileSync(file, [...lists, ...steps].join('\n'))
  return file
}

test('a recording replaces 18,000 personal values, and `compare` finds no difference', async () => {
  const { url, environment, flags } = await startSource()
  const out = join(createTempFolder(), 'seed.yaml')
  const steps = stepIdsOf(environment).flatMap((id) => ['--step', `order-shipped/${id}`])
  const recorded = await runCommand(['record', '--from', url, '--out', out, ...steps, ...flags])
  expect(recorded.code, recorded.stderr).toBe(0)
  expect(JSON.parse(recorded.stdout)).toMatchObject({
    messages: MESSAGES,
    subscribers: SUBSCRIBERS,
    steps: STEPS
  })
  const text = readFileSync(out, 'utf8')
  expect([...new Set(text.match(CODE) ?? [])].slice(0, 20)).toEqual([])
  expect(text).toContain('"total":')

  for (const requests of [[], ['--requests', writeRequests(environment)]]) {
    const compare = ['compare', '--target', url, '--seed', out, '--replaced']
    const { code, stdout, stderr } = await runCommand([...compare, ...requests, ...flags])
    expect(JSON.parse(stdout || '{}').differences?.slice(0, 5), stderr).toEqual([])
    expect(code).toBe(0)
  }
}, 600_000)

/**
 * Matches the names of fields that `createMarker` leaves unchanged. Most of these fields contain
 * ids, timestamps, enum values or identifiers, which a recording keeps.
 */
const UNMARKED = new RegExp(
  [
    '^(_.*|createdAt|updatedAt|deletedAt|deletedBy|deliveredAt|last.*At|last.*Date|snoozedUntil',
    'channel|status|type|identifier|providerId|integrationIdentifier|templateIdentifier|workflow',
    'stepId|uuid|component|group|origin|issueType|operator|on|unit|backoffUnit|atTime|weekDays',
    'monthDays|ordinal|ordinalValue|monthlyType|textAlign|field|variableName|delayPath|digestKey',
    'variables|subscriberVariables|format|required|enum|const|pattern|\\$schema|\\$ref|errorId',
    'slug)$'
  ].join('|')
)

/** Returns a function that adds a code to each string that a recording should replace. */
function createMarker({ code }: People) {
  const ids = new Map<string, string>()
  const codeOfId = (id: string) => ids.get(id) ?? ids.set(id, code()).get(id)
  const markString = (value: string, field: string): string => {
    if (UNMARKED.test(field) || /^(AND|OR)$/.test(value)) return value
    if (field === 'subscriberId') return `${value}@${codeOfId(value)}.example`
    if (field === 'email') return `${code()}@x.example`
    return `${value} <b title='${code()}'>${code()}</b>`
  }
  return function mark(value: unknown, field = ''): unknown {
    if (typeof value === 'string') return markString(value, field)
    if (Array.isArray(value)) return value.map((item) => mark(item, field))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, inner]) => [name, mark(inner, name)])
    return Object.fromEntries(entries)
  }
}

test('a recording replaces all personal data of the seed `everything`', async () => {
  const plain = await useMock({ seeds: ['everything'] })
  const [{ subscribers, workflows, messages }] = (
    await plain.get('/_mock/state', { headers: { accept: 'application/json' } })
  ).json.environments
  const people = createPeople()
  const mark = createMarker(people)
  const apiKeys = [`key-${people.code()}`]
  const records = {
    subscribers: mark(subscribers),
    workflows: mark(workflows),
    messages: mark(messages)
  }
  const source = await useNewMock({
    seed: JSON.stringify({ environments: [{ name: 'Source', apiKeys, ...records }] })
  })
  const out = join(createTempFolder(), 'seed.yaml')
  const steps = workflows.flatMap(
    ({ identifier, steps: all = [] }: { identifier: string; steps?: { stepId: string }[] }) =>
      all.map(({ stepId }) => ({ workflow: identifier, step: stepId }))
  )
  const recording = await recordFrom(source.url, out, { apiKey: apiKeys[0] ?? '', steps })
  expect(recording).toMatchObject({ messages: messages.length, steps: steps.length })
  expect(readFileSync(out, 'utf8').match(CODE) ?? []).toEqual([])
})

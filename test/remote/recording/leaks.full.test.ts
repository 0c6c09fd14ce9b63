import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useMock, useNewMock } from '../../support/mock.js'
import { createTempFolder, runCommand } from '../../support/process.js'
import { recordFrom } from './recording-target.js'

const MESSAGES = 4000
const SUBSCRIBERS = 300
/** A marker in each personal value. It only has letters, as a plain word does. */
const CODE = /qz[a-p]{5}qz/gi

/** Returns a source of personal values that occur once. */
function createPeople() {
  let count = 0
  const code = () => {
    const letters = (count++).toString(16).padStart(5, '0')
    return `qz${letters.replaceAll(/./g, (digit) => 'abcdefghijklmnop'.charAt(Number.parseInt(digit, 16)))}qz`
  }
  return { code, count: () => count, words: (text: string) => `${text} ${code()}` }
}

function seedOf({ code, words }: ReturnType<typeof createPeople>) {
  const subscribers = Array.from({ length: SUBSCRIBERS }, (_, index) => ({
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
    channels: [
      {
        providerId: 'slack',
        _integrationId: '66d5a0e97c9b1a0012ab3402',
        credentials: {
          webhookUrl: `https://hooks.example/${code()}`,
          channel: code(),
          deviceTokens: [code()],
          title: code()
        }
      }
    ]
  }))
  const steps = Array.from({ length: 20 }, (_, index) => ({
    stepId: `email-step-${index}`,
    type: 'email',
    name: words('Mail'),
    controls: {
      dataSchema: {
        type: 'object',
        properties: {
          to: { type: 'string', default: code(), title: words('To'), enum: [words('Ann')] }
        }
      },
      uiSchema: {
        group: 'EMAIL',
        properties: { to: { component: 'EMAIL_BODY', placeholder: words('For') } }
      }
    },
    controlValues: {
      subject: words('Hello'),
      body: `<p title="${code()}">Hi {{ payload.x | default: '${code()}' }}</p>`,
      token: code()
    },
    issues: {
      controls: { to: [{ issueType: 'MISSING_VALUE', variableName: 'to', message: words('No') }] }
    }
  }))
  const messages = Array.from({ length: MESSAGES }, (_, index) => {
    const { subscriberId, firstName } = subscribers[index % SUBSCRIBERS] as (typeof subscribers)[0]
    const isPlain = index % 2 === 0
    return {
      subscriberId,
      workflow: 'order-shipped',
      channel: (['in_app', 'email', 'sms', 'chat', 'push'] as const)[index % 5],
      transactionId: `order ${code()}`,
      contextKeys: [`tenant:${code()}`],
      subject: words('Your order'),
      content: isPlain
        ? words(`Dear ${firstName} of ${subscriberId},`)
        : [{ type: 'text', content: words('Dear') }],
      cta: {
        data: { url: `https://shop.example/${code()}` },
        action: { buttons: [{ type: 'primary', content: code() }] }
      },
      // The same field names in many messages: the id and the name of the person.
      payload: {
        type: code(),
        [subscriberId]: 1,
        [firstName]: 2,
        [`${code()}@x.example`]: code(),
        total: 10,
        list: [{ note: code() }]
      },
      overrides: { email: { headers: { Authorization: `Bearer ${code()}` } } },
      ...(isPlain && {
        email: `${code()}@x.example`,
        errorText: words('No'),
        errorId: 'mail_unexpected_error',
        status: 'error'
      }),
      ...(index % 40 === 0 && { template: templateOf() })
    }
  })
  const workflow = { identifier: 'order-shipped', name: words('Order'), steps }
  return {
    environments: [
      { name: 'Source', apiKeys: [`key-${code()}`], subscribers, workflows: [workflow], messages }
    ]
  }

  function templateOf() {
    return {
      name: words('Order'),
      description: words('Of'),
      active: true,
      draft: false,
      preferenceSettings: { email: true },
      critical: false,
      tags: [code()],
      steps: [
        {
          name: words('Mail'),
          template: { [code()]: code() },
          replyCallback: { url: `https://x.example/${code()}` }
        }
      ],
      _creatorId: '66d5a0e97c9b1a0012ab3402',
      triggers: [
        { type: 'event', identifier: 'order-shipped', variables: [{ name: `to ${code()}` }] }
      ],
      _notificationGroupId: '66d5a0e97c9b1a0012ab3402',
      deleted: false,
      deletedAt: '',
      deletedBy: code(),
      data: { [code()]: code() }
    }
  }
}

test('none of 18,000 personal values is in the seed, and compare finds no difference', async () => {
  const people = createPeople()
  const seed = seedOf(people)
  const source = await useNewMock({ seed })
  expect(people.count()).toBeGreaterThan(18_000)
  const [{ apiKeys, workflows }] = seed.environments as [(typeof seed.environments)[0]]
  const [apiKey = ''] = apiKeys
  const out = join(createTempFolder(), 'seed.yaml')
  const stepIds = workflows.flatMap(({ steps }) => steps.map(({ stepId }) => stepId))
  const steps = stepIds.flatMap((id) => ['--step', `order-shipped/${id}`])
  const flags = ['--api-key', apiKey, '--rate', '10000', '--json']
  const recorded = await runCommand([
    'record',
    '--from',
    source.url,
    '--out',
    out,
    ...steps,
    ...flags
  ])
  expect(recorded.code, recorded.stderr).toBe(0)
  expect(JSON.parse(recorded.stdout)).toMatchObject({
    messages: MESSAGES,
    subscribers: SUBSCRIBERS,
    steps: 20
  })
  const text = readFileSync(out, 'utf8')
  expect([...new Set(text.match(CODE) ?? [])].slice(0, 20)).toEqual([])
  expect(text).toContain('"total":')

  const file = join(createTempFolder(), 'requests.txt')
  const [{ subscriberId, transactionId, contextKeys } = {}] = seed.environments[0]?.messages ?? []
  const filters = { subscriberId, transactionId, contextKeys: contextKeys?.[0], channel: 'sms' }
  const queries = Object.entries(filters).map(
    ([name, value]) => `${name}=${encodeURIComponent(String(value))}`
  )
  const pages = Array.from({ length: MESSAGES / 500 }, (_, page) => `limit=500&page=${page}`)
  const paths = stepIds.map((id) => `/v2/workflows/order-shipped/steps/${id}`)
  writeFileSync(
    file,
    [...[...queries, ...pages].map((query) => `/v1/messages?${query}`), ...paths].join('\n')
  )
  for (const requests of [[], ['--requests', file]]) {
    const args = [
      'compare',
      '--target',
      source.url,
      '--seed',
      out,
      '--replaced',
      ...requests,
      ...flags
    ]
    const { code, stdout, stderr } = await runCommand(args)
    expect(JSON.parse(stdout || '{}').differences?.slice(0, 5), stderr).toEqual([])
    expect(code).toBe(0)
  }
}, 600_000)

/** Fields whose values are ids, timestamps or enum values, or names that programs use. */
const UNMARKED =
  /^(_.*|createdAt|updatedAt|deletedAt|deletedBy|deliveredAt|last.*At|last.*Date|snoozedUntil|channel|status|type|identifier|providerId|integrationIdentifier|templateIdentifier|workflow|stepId|uuid|component|group|origin|issueType|operator|on|unit|backoffUnit|atTime|weekDays|monthDays|ordinal|ordinalValue|monthlyType|textAlign|field|variableName|delayPath|digestKey|variables|subscriberVariables|format|required|enum|const|pattern|\$schema|\$ref|errorId|slug)$/

test('no string of any field of the seed `everything` is in its recording', async () => {
  const plain = await useMock({ seeds: ['everything'] })
  const [{ subscribers, workflows, messages }] = (
    await plain.get('/_mock/state', { headers: { accept: 'application/json' } })
  ).json.environments
  const { code } = createPeople()
  const ids = new Map<string, string>()
  const ofId = (id: string) => ids.get(id) ?? ids.set(id, code()).get(id)
  const markedString = (value: string, field: string): string => {
    if (UNMARKED.test(field) || /^(AND|OR)$/.test(value)) return value
    if (field === 'subscriberId') return `${value}@${ofId(value)}.example`
    if (field === 'email') return `${code()}@x.example`
    return `${value} <b title='${code()}'>${code()}</b>`
  }
  const marked = (value: unknown, field = ''): unknown => {
    if (typeof value === 'string') return markedString(value, field)
    if (Array.isArray(value)) return value.map((item) => marked(item, field))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, marked(inner, name)])
    )
  }
  const apiKeys = [`key-${code()}`]
  const records = {
    subscribers: marked(subscribers),
    workflows: marked(workflows),
    messages: marked(messages)
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

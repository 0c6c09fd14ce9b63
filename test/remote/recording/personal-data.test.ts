import { expect, test } from 'vitest'
import { KeptFieldNames } from '../../../src/remote/recording/kept-field-names.js'
import { type Kept, PersonalDataReplacement } from '../../../src/remote/recording/personal-data.js'

// biome-ignore lint/suspicious/noExplicitAny: the tests use incomplete records
type Json = any

/**
 * Creates a replacement whose methods accept untyped records, so that tests can pass incomplete
 * records.
 */
function replacementBy(apiKey: string, kept: Kept = 'nothing', keeps = (_name: string) => false) {
  const replacement = new PersonalDataReplacement(apiKey, kept, keeps)
  return {
    message: (message: Json): Json => replacement.message(message),
    step: (step: Json): Json => replacement.step(step)
  }
}
const { message: replaceMessage, step: replaceStep } = replacementBy('a-key-1')

const PERSON = {
  subscriberId: 'ada@analytical.example',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@analytical.example',
  phone: '+49 170 90817263',
  avatar: 'https://analytical.example/ada.png',
  locale: 'en-GB',
  timezone: 'Europe/London',
  deleted: false,
  createdAt: '2026-01-02T08:00:01.000Z',
  data: { Ada: 'Ada', plan: 'Gold', born: '1815-12-10', visits: 4711 }
}
const MESSAGE = {
  _id: '67b45c0f3a1e4f0013d0a101',
  transactionId: 'order of Ada',
  channel: 'email',
  status: 'sent',
  subject: 'Hello Ada',
  content: [{ type: 'text', content: 'Dear Ada', styles: { textAlign: 'left' } }],
  templateIdentifier: 'order-shipped',
  email: 'ada@analytical.example',
  cta: { data: { url: 'https://analytical.example/ada' } },
  contextKeys: ['tenant:ada'],
  payload: { type: 'Ada', channel: 'Ada' },
  subscriber: PERSON
}

test('a replacement depends only on the value and the API key', () => {
  const replaced = replaceMessage(MESSAGE)
  expect(replacementBy('a-key-1').message(MESSAGE)).toEqual(replaced)
  expect(replacementBy('a-key-2').message(MESSAGE).subject).not.toBe(replaced.subject)
  expect(replaced.email).toBe(replaced.subscriber?.email)
  expect(replaced.subscriber?.subscriberId).toBe(replaced.email)
})

test('keeps ids, enum values, locales and timestamps, and replaces personal data', () => {
  const { subscriber, ...message } = replaceMessage(MESSAGE)
  const { _id, channel, status, templateIdentifier } = MESSAGE
  expect(message).toMatchObject({ _id, channel, status, templateIdentifier })
  expect(message.content).toMatchObject([{ type: 'text', styles: { textAlign: 'left' } }])
  expect(message.contextKeys).toEqual([expect.stringMatching(/^tenant:tenant-[\da-f]{16}$/)])
  const { locale, timezone, deleted, createdAt } = PERSON
  expect(subscriber).toMatchObject({ locale, timezone, deleted, createdAt })
  expect(JSON.stringify([message, subscriber])).not.toMatch(
    /ada\b|lovelace|analytical|90817263|gold|1815|4711/i
  )
})

test('texts keep their length; dates, numbers, email addresses and URLs keep their format', () => {
  const values = {
    day: '1990-02-03',
    at: '1990-02-03T10:00:00Z',
    amount: 4711.25,
    below: -12,
    id: '0815'
  }
  const { message } = replacementBy('a-key-1', 'nothing', () => true)
  const { subject, content, payload, subscriber } = message({ ...MESSAGE, payload: values })
  expect(subject).toHaveLength('Hello Ada'.length)
  expect(content[0].content).toHaveLength('Dear Ada'.length)
  expect(payload.day).toMatch(/^20\d\d-[01]\d-[0-3]\d$/)
  expect(Date.parse(payload.at)).not.toBeNaN()
  expect(String(payload.amount)).toMatch(/^\d{4}\.\d{1,2}$/)
  expect(payload.below).toBeLessThan(0)
  expect(payload.id).toMatch(/^0\d{3}$/)
  expect(subscriber.email).toMatch(/^\w+\.\w+\.[\da-f]{16}@example\.com$/)
  expect(subscriber.avatar).toMatch(/^https:\/\/example\.com\//)
})

test('different phone numbers and email addresses have different replacements', () => {
  const all = Array.from({ length: 2000 }, (_, at) =>
    replaceMessage({ phone: `+49170${1_000_000 + at}`, email: `a${at}@b.c` })
  )
  expect(new Set(all.map(({ phone }) => phone)).size).toBe(all.length)
  expect(new Set(all.map(({ email }) => email)).size).toBe(all.length)
})

test('payloads keep common field names, but not field names that identify a subscriber', () => {
  const names = new KeptFieldNames()
  const person = { subscriberId: 'user-1', firstName: 'Ada' }
  const messages: Json[] = ['onlya', 'onlyb'].map((once) => ({
    subscriber: person,
    payload: { orderId: 1, [once]: 2, 'user-1': 3, Ada: 4, n4711: 5 }
  }))
  for (const message of messages) names.addMessage(message)
  names.addSubscriber(person)
  names.addSchema({ properties: { invoice: { type: 'string' } } })
  const { message } = replacementBy('a-key-1', 'nothing', (name) => names.keeps(name))
  const { payload } = message({ payload: { ...messages[0].payload, invoice: 'a' } })
  const plain = Object.keys(payload).filter((name) => !/^field-[\da-f]{16}$/.test(name))
  expect(plain.sort()).toEqual(['invoice', 'orderId'])
  expect(Object.keys(payload)).toHaveLength(6)
})

const TELEPHONE = 4917090817263

test('a number in a step is replaced only if it is a secret or has at least 7 digits', () => {
  const properties = { tel: { enum: [TELEPHONE, 30] }, [`t${TELEPHONE}`]: { const: TELEPHONE } }
  const controlValues = {
    tel: TELEPHONE,
    amount: 30,
    all: [TELEPHONE, { at: 52.5200066 }],
    apiKey: 4711
  }
  const replaced = replaceStep({ controls: { dataSchema: { properties } }, controlValues })
  expect(JSON.stringify(replaced)).not.toMatch(/90817263|5200066|4711/)
  const { tel, amount, all } = replaced.controlValues
  expect(amount).toBe(30)
  expect(all).toMatchObject([tel, {}])
  expect(replaced.controls).toMatchObject({
    dataSchema: { properties: { tel: { enum: [tel, 30] } } }
  })
})

const STEP = {
  controls: {
    dataSchema: {
      required: ['to', 'ada@b.example'],
      properties: {
        to: {
          type: 'string',
          enum: ['a@b.example', 'small', '+49 170 9081726'],
          pattern: 'maria@x\\.com'
        },
        'ada@b.example': { const: 'Ada Lovelace', title: 'Of Ada' },
        card: {
          type: 'number',
          minimum: 10,
          default: 4111111111111111,
          examples: [4111111111111111]
        }
      }
    },
    uiSchema: {
      group: 'SMS',
      properties: { to: { component: 'SMS_BODY', placeholder: 'Ada' } }
    }
  },
  controlValues: {
    to: 'a@b.example',
    size: 'small',
    phone: '+49 170 9081726',
    unit: 'minutes',
    body: 'Dear Ada'
  }
}

test.each(['nothing', 'workflow-texts'] as const)(
  'personal data in the schemas of steps is replaced (kept: %s)',
  (kept) => {
    const { controls, controlValues } = replacementBy('a-key-1', kept).step(STEP)
    expect(JSON.stringify(controls)).not.toMatch(/@b\.|9081726|maria|Ada|Lovelace|4111111111111111/)
    expect(controls).toMatchObject({
      uiSchema: { group: 'SMS', properties: { to: { component: 'SMS_BODY' } } }
    })
    const { required, properties } = controls.dataSchema
    expect(required).toEqual(['to', Object.keys(properties)[1]])
    expect(properties.card).toMatchObject({ type: 'number', minimum: 10 })
    if (kept === 'workflow-texts') return expect(controlValues).toEqual(STEP.controlValues)
    const { to, size, phone, unit, body } = controlValues
    expect(properties.to).toMatchObject({ type: 'string', enum: [to, size, phone], pattern: '.*' })
    expect([size, unit]).toEqual(['small', 'minutes'])
    expect(body).not.toContain('Ada')
  }
)

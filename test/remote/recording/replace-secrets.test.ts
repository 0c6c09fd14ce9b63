import { expect, test } from 'vitest'
import { type Kept, PersonalDataReplacement } from '../../../src/remote/recording/personal-data.js'

const SECRET = 'sEcRetQ7'
// biome-ignore lint/suspicious/noExplicitAny: the tests use incomplete records
type Json = any

function replacementKeeping(kept: Kept) {
  const replacement = new PersonalDataReplacement('a-key-1', kept, () => false)
  return {
    message: (message: Json): Json => replacement.message(message),
    step: (step: Json): Json => replacement.step(step)
  }
}

/**
 * An object that contains secrets. The tests put it into fields whose content the API reference
 * doesn't define.
 */
const VALUES = {
  headers: [
    { key: 'Authorization', value: `Digest ${SECRET}` },
    { name: 'X-Api-Key', value: SECRET }
  ],
  auth: { user: SECRET, pin: [SECRET] },
  link: `https://u:${SECRET}@host.example/?api_key=${SECRET}&page=2 and Bearer ${SECRET}.`,
  json: JSON.stringify({
    list: [{ apiKey: SECRET, title: 'Hello' }],
    header: { key: 'cookie', value: SECRET }
  }),
  half: `{"apiKey":"${SECRET}", ...`,
  own: 'x a-key-1 y',
  title: 'Hello there'
}
const KEPT = ['page=2', 'title\\":\\"Hello', 'Hello there', 'host.example']

const fcm = {
  deviceTokens: [SECRET],
  channel: SECRET,
  imageUrl: `https://x.example/${SECRET}`,
  webhookUrl: SECRET
}
const MESSAGE = {
  content: `Hello there, see https://x.example/?token=${SECRET}`,
  payload: VALUES,
  cta: { data: { url: `https://x.example/a?token=${SECRET}` } },
  deviceTokens: [SECRET],
  subscriber: { subscriberId: 'ada', channels: [{ providerId: 'fcm', credentials: fcm }] }
}
const properties = {
  apiKey: { type: 'string', default: SECRET },
  key: { type: 'object', title: 'Key' }
}
const STEP = {
  name: `Mail ?token=${SECRET}`,
  controls: { dataSchema: { properties } },
  controlValues: VALUES
}

test.each([
  [
    'a message',
    'personal data',
    replacementKeeping('personal-data').message(MESSAGE),
    ['ada', 'fcm', 'a?token=']
  ],
  [
    'a step',
    'personal data',
    replacementKeeping('personal-data').step(STEP),
    ['Mail ?token=', '"apiKey":{"type":"string"']
  ],
  [
    'a step',
    'workflow texts',
    replacementKeeping('workflow-texts').step(STEP),
    ['Mail ?token=', '"apiKey":{"type":"string"']
  ]
])('replaces credentials and keys in %s, but keeps %s', (_, _kept, replaced, keptTexts) => {
  const text = JSON.stringify(replaced)
  expect(text).not.toMatch(new RegExp(`${SECRET}|a-key-1`))
  for (const kept of [...KEPT, ...keptTexts]) expect(text).toContain(kept)
})

test('sentences about keys and tokens stay unchanged if personal data is kept', () => {
  const { message } = replacementKeeping('personal-data')
  for (const content of [
    'perfect for basic environments',
    'a token expired, the Basic plan: one key',
    'Ask?'
  ]) {
    expect(message({ content })).toEqual({ content })
  }
  expect(message({ content: 'Basic dXNlcjpQYXNz and token 12345678ab' }).content).not.toMatch(
    /dXNl|12345678ab/
  )
})

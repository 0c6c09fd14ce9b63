import { expect, test } from 'vitest'
import { PersonalDataReplacement } from '../../../src/remote/recording/personal-data.js'

const SECRET = 'sEcRetQ7'
// biome-ignore lint/suspicious/noExplicitAny: records that hold only what a test is about
const keeping = (kept: 'workflow-texts' | 'personal-data'): { message: any; step: any } =>
  new PersonalDataReplacement('a-key-1', kept, () => false)

/** Secrets in all the places that are no field of the contract. */
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
    keeping('personal-data').message(MESSAGE),
    ['ada', 'fcm', 'a?token=']
  ],
  [
    'a step',
    'personal data',
    keeping('personal-data').step(STEP),
    ['Mail ?token=', '"apiKey":{"type":"string"']
  ],
  [
    'a step',
    'texts of workflows',
    keeping('workflow-texts').step(STEP),
    ['Mail ?token=', '"apiKey":{"type":"string"']
  ]
])('credentials and keys are replaced in %s where %s is kept', (_, _kept, replaced, kept) => {
  const text = JSON.stringify(replaced)
  expect(text).not.toMatch(new RegExp(`${SECRET}|a-key-1`))
  for (const each of [...KEPT, ...kept]) expect(text).toContain(each)
})

test('prose stays where personal data is kept', () => {
  const { message } = keeping('personal-data')
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

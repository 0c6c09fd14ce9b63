import { describe, expect, test } from 'vitest'
import type { SeedMessage, SeedStep } from '../../src/seeds/format.js'
import { createReplacement } from '../../src/targets/recording/replacement.js'

const SECRET = 'sEcRetQ7'
const keeping = (kept: 'nothing' | 'workflow-texts' | 'personal-data') =>
  createReplacement('a-key-1', kept, () => false)

/** Secrets in all the places that are no field of the contract. */
const VALUES = {
  headers: [
    { key: 'Authorization', value: `Digest ${SECRET}` },
    { name: 'X-Api-Key', value: SECRET }
  ],
  auth: { user: SECRET, pin: [SECRET] },
  link: `https://u:${SECRET}@host.example/?api_key=${SECRET}&page=2 and Bearer ${SECRET}.`,
  json: JSON.stringify({ list: [{ apiKey: SECRET, title: 'Hello' }], header: { key: 'cookie', value: SECRET } }),
  half: `{"apiKey":"${SECRET}", ...`,
  own: 'x a-key-1 y',
  title: 'Hello there'
}
const KEPT = ['page=2', 'title\\":\\"Hello', 'Hello there', 'host.example']

describe('credentials and keys are replaced always:', () => {
  test('in a message whose personal data is kept', () => {
    const message = {
      content: `Hello there, see https://x.example/?token=${SECRET}`,
      payload: VALUES,
      cta: { data: { url: `https://x.example/a?token=${SECRET}` } },
      deviceTokens: [SECRET],
      subscriber: {
        subscriberId: 'ada',
        channels: [
          {
            providerId: 'fcm',
            credentials: {
              deviceTokens: [SECRET],
              channel: SECRET,
              imageUrl: `https://x.example/${SECRET}`,
              webhookUrl: `https://x.example/${SECRET}`
            }
          }
        ]
      }
    } as unknown as SeedMessage
    const text = JSON.stringify(keeping('personal-data').message(message))
    expect(text).not.toMatch(new RegExp(`${SECRET}|a-key-1`))
    for (const kept of [...KEPT, 'ada', 'fcm', 'https://x.example/a?token=']) expect(text).toContain(kept)
  })

  test.each([
    ['personal data is kept', keeping('personal-data')],
    ['texts of workflows are kept', keeping('workflow-texts')]
  ])('in a step when %s', (_, { step }) => {
    const document = {
      name: `Mail ?token=${SECRET}`,
      controls: {
        dataSchema: {
          properties: { apiKey: { type: 'string', default: SECRET }, key: { type: 'object', title: 'Key' } }
        }
      },
      controlValues: VALUES
    } as unknown as SeedStep
    const replaced = step(document)
    const text = JSON.stringify(replaced)
    expect(text).not.toMatch(new RegExp(`${SECRET}|a-key-1`))
    for (const kept of [...KEPT, 'Mail ?token=']) expect(text).toContain(kept)
    expect(replaced.controls).toMatchObject({ dataSchema: { properties: { apiKey: { type: 'string' } } } })
  })
})

test('prose stays where personal data is kept', () => {
  for (const content of ['perfect for basic environments', 'a token expired, the Basic plan: one key', 'Ask?']) {
    const message = { content } as unknown as SeedMessage
    expect(keeping('personal-data').message(message)).toEqual(message)
  }
  const message = { content: 'Basic dXNlcjpQYXNz and token 12345678ab' } as unknown as SeedMessage
  expect(keeping('personal-data').message(message).content).not.toMatch(/dXNl|12345678ab/)
})

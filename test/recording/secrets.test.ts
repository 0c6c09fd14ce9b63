import { describe, expect, test } from 'vitest'
import type { SeedMessage, SeedStep } from '../../src/seeds/format.js'
import { personalDataReplacement, secretsReplacement } from '../../src/targets/recording/personal.js'
import { createReplacer } from '../../src/targets/recording/replace.js'

const SECRET = 'sEcRetQ7'
const replacer = createReplacer('a-key-1')

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
    const text = JSON.stringify(secretsReplacement(replacer).message(message))
    expect(text).not.toMatch(new RegExp(`${SECRET}|a-key-1`))
    for (const kept of [...KEPT, 'ada', 'fcm', 'https://x.example/a?token=']) expect(text).toContain(kept)
  })

  test.each([
    ['personal data is kept', secretsReplacement(replacer)],
    ['texts of workflows are kept', personalDataReplacement(replacer, true)]
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
    expect(secretsReplacement(replacer).message(message)).toEqual(message)
  }
  expect(replacer.withoutSecrets('Basic dXNlcjpQYXNz and token 12345678ab')).not.toMatch(/dXNl|12345678ab/)
})

const TELEPHONE = 4917090817263

test('a number as long as that of a phone is replaced in control values and choices alike, a shorter one stays', () => {
  const document = {
    controls: {
      dataSchema: { properties: { tel: { enum: [TELEPHONE, 30] }, [`t${TELEPHONE}`]: { const: TELEPHONE } } }
    },
    controlValues: {
      tel: TELEPHONE,
      amount: 30,
      all: [TELEPHONE, { at: 52.5200066 }],
      apiKey: 4711,
      body: JSON.stringify({ type: 'doc', attrs: { tel: TELEPHONE, [`t${TELEPHONE}`]: 3 } })
    }
  } as unknown as SeedStep
  const replaced = personalDataReplacement(replacer, false).step(document)
  expect(JSON.stringify(replaced)).not.toMatch(/90817263|5200066|4711/)
  const { tel, amount, all } = replaced.controlValues as Record<string, unknown>
  expect(amount).toBe(30)
  expect(all).toMatchObject([tel, {}])
  const kept = personalDataReplacement(replacer, true).step(document)
  for (const { controls, controlValues } of [replaced, kept]) {
    expect(controls).toMatchObject({ dataSchema: { properties: { tel: { enum: [controlValues?.tel, 30] } } } })
  }
})

test.each([false, true])(
  'a schema has no addresses and numbers, and offers what the values are (kept: %s)',
  (keepTexts) => {
    const choices = ['a@b.example', 'small', '+49 170 9081726']
    const document = {
      controls: {
        dataSchema: {
          required: ['to', 'ada@b.example'],
          properties: {
            to: { type: 'string', enum: choices, pattern: 'maria@x\\.com' },
            'ada@b.example': { const: 'Ada Lovelace', pattern: '^[a-z]{2,5}@\\w+\\.\\w+$' },
            card: { type: 'number', minimum: 10, default: 4111111111111111, examples: [4111111111111111] }
          }
        }
      },
      controlValues: { to: 'a@b.example', size: 'small', phone: '+49 170 9081726' }
    } as unknown as SeedStep
    const replaced = personalDataReplacement(replacer, keepTexts).step(document)
    expect(JSON.stringify(replaced)).not.toMatch(/@b\.|9081726|maria|Lovelace|4111111111111111/)
    const { required, properties } = (replaced.controls as { dataSchema: Record<string, never> })
      .dataSchema as unknown as {
      required: string[]
      properties: Record<string, Record<string, unknown>>
    }
    const { to, size, phone } = replaced.controlValues as Record<string, string>
    expect(properties.to?.enum).toEqual([to, size, phone])
    expect(size).toBe('small')
    expect(required).toEqual(['to', Object.keys(properties)[1]])
    expect(properties[required[1] ?? '']?.pattern).toBe('^[a-z]{2,5}@\\w+\\.\\w+$')
    expect(properties.card).toMatchObject({ type: 'number', minimum: 10 })
  }
)

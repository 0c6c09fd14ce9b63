import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTempFolder } from '../../support/process.js'
import { SECRET_PART, SECRET_TEXTS } from '../../support/secret-texts.js'
import { listen } from '../listen.js'
import { recordFrom } from './recording-target.js'

const ID = '66d5a0e97c9b1a0012ab3402'
const API_KEY = 'hunter2-api-key'

/** Returns a message with a secret in each field that can contain text, and in field names. */
function messageWith(text: string, index: number) {
  const id = index.toString(16).padStart(24, '0')
  return {
    ...{ _id: id, _environmentId: ID, _organizationId: ID, channel: 'email', status: 'error' },
    ...{ createdAt: '2026-01-01T00:00:00.000Z', transactionId: text, providerId: text },
    ...{ _templateId: ID, templateIdentifier: text, contextKeys: [`tenant:${text}`] },
    ...{ subject: text, title: text, content: text, errorText: text, email: API_KEY },
    ...{ directWebhookUrl: `https://example.com/${text}`, deviceTokens: [text] },
    ...{ payload: { text, [text]: text }, overrides: { list: [text] }, [text]: text },
    cta: { data: { url: text }, action: { buttons: [{ type: 'primary', content: text }] } },
    subscriber: { ...{ _id: id, subscriberId: `user-${index}` }, firstName: text, data: { text } }
  }
}

/** Starts a server that sends the result of `respond` as JSON. */
async function startTarget(respond: (path: string, response: ServerResponse) => object) {
  const server = await listen((request, response) => {
    const body = respond(request.url ?? '', response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

/** Returns the lines that contain a secret. */
const leaksIn = (text: string) => text.split('\n').filter((line) => SECRET_PART.test(line))

const messages = SECRET_TEXTS.map(([, text], index) => messageWith(text, index))

test.each([true, false])(
  'neither the seed nor the reported differences contain a secret (keepPersonalData: %s)',
  async (keepPersonalData) => {
    const url = await startTarget((path, response) => {
      if (path.startsWith('/v1/messages')) return { hasMore: false, data: messages }
      response.statusCode = 404
      return { message: 'not found' }
    })
    const out = join(createTempFolder(), 'seed.yaml')
    const options = { apiKey: API_KEY, pageSize: 100, keepPersonalData }
    const recording = await recordFrom(url, out, options)
    expect(recording.messages).toBe(messages.length)
    expect(leaksIn(readFileSync(out, 'utf8'))).toEqual([])
    expect(recording.differences.flatMap(leaksIn)).toEqual([])
  }
)

test('an error of `record` masks the API key and other secrets in the response', async () => {
  const url = await startTarget((path, response) => {
    if (path.endsWith('limit=1')) return { data: [] }
    response.statusCode = 403
    return { message: `no access with ${API_KEY} or /?token=hunter2` }
  })
  const recording = recordFrom(url, join(createTempFolder(), 'seed.yaml'), { apiKey: API_KEY })
  await expect(recording).rejects.toThrow('returned 403: no access with *** or /?token=***')
})

test('an error about a redirect masks the secrets in its URL', async () => {
  const url = await startTarget((_path, response) => {
    response.statusCode = 302
    response.setHeader('location', 'https://u:hunter2@example.com/?token=hunter2&page=1')
    return {}
  })
  await expect(recordFrom(url, join(createTempFolder(), 'seed.yaml'))).rejects.toThrow(
    'the target redirects to https://***@example.com/?token=***&page=1; use that URL'
  )
})

test('an error about a redirect without a Location header suggests checking the URL', async () => {
  const url = await startTarget((_path, response) => {
    response.statusCode = 302
    return {}
  })
  await expect(recordFrom(url, join(createTempFolder(), 'seed.yaml'))).rejects.toThrow(
    'the target returned 302 without a Location header; check its URL'
  )
})

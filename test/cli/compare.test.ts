import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assume } from '../../src/domain/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { useMock } from '../support/mock.js'
import { createTempFolder } from '../support/process.js'
import { runHere } from './here.js'

/** Compares a mock with itself. `requests` is the content of the file that `flag` reads. */
async function compareWithItself(
  flag: '--har' | '--requests',
  requests: string | Uint8Array,
  key = 'development-key'
) {
  const { url } = await useMock()
  const file = join(createTempFolder(), 'requests')
  writeFileSync(file, requests)
  const servers = ['--target', url, '--api-key', key, '--against', url, '--against-key', key]
  return runHere(['compare', ...servers, '--rate', '1000', flag, file])
}

const harWith = (url: string, method = 'GET') =>
  JSON.stringify({ log: { entries: [{ request: { method, url } }] } })
const HAR = harWith('http://localhost/v1/messages?limit=2')
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')

describe('compare', () => {
  test.each([
    ['an empty HAR', '--har', '{"log":{"entries":[]}}'],
    ['a HAR with requests to other servers', '--har', harWith('https://example.com/')],
    ['a HAR with only POST requests', '--har', harWith('http://localhost/v1/messages', 'POST')],
    ['an empty --requests file', '--requests', ''],
    ['a --requests file with only comments', '--requests', '# GET /v1/messages\n']
  ] as const)('exits with 3 if there is nothing to compare: %s', async (_, flag, requests) => {
    const { code, stdout } = await compareWithItself(flag, requests)
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: expect.stringContaining('\nNothing was compared: add a GET request')
    })
  })

  test.each([
    ['a HAR in UTF-8 with a byte order mark', '--har', `\uFEFF${HAR}`],
    ['a HAR in UTF-16', '--har', utf16(HAR)],
    ['a HAR in UTF-16, big-endian', '--har', utf16(HAR).swap16()],
    ['requests in UTF-16 with CRLF', '--requests', utf16('GET /v1/messages\r\n\r\n')]
  ] as const)('reads %s', async (_, flag, requests) => {
    const { code, stdout } = await compareWithItself(flag, requests)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^1 request compared, 1 with the same response\n/)
    })
  })

  test.each([
    [
      'bytes that are not UTF-8',
      Buffer.from(HAR.replace('2', '\xe9'), 'latin1'),
      'save it as UTF-8'
    ],
    ['text that is not JSON', '<har/>', 'is not a HAR: it is not JSON']
  ])('rejects a HAR with %s', async (_, requests, message) => {
    const { code, stderr } = await compareWithItself('--har', requests)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  })

  test('fails if both servers reject the key, although their responses are equal', async () => {
    const { code, stderr } = await compareWithItself('--har', HAR, 'unknown-key')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: http:\S+ rejects the key: 401 Unauthorized\n$/)
  })

  test('prints a field that is missing from the published document, and exits with 1', async () => {
    const document = structuredClone(await openApiDocument(assume('document')))
    delete document.components.schemas.SubscriberResponseDto?.properties.email
    const file = join(createTempFolder(), 'openapi.json')
    writeFileSync(file, JSON.stringify(document))
    const { code, stdout } = await runHere(['compare', '--document', file])
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `3 operations compared

1 difference that no assumption explains:
  body.data[].subscriber.email: ours only: mock string or null
      in GET /v1/messages
      published: #/components/schemas/SubscriberResponseDto
      mock: #/components/schemas/SubscriberResponseDto/properties/email
`
    })
  })

  test('exits with 3 if the published document lacks an operation', async () => {
    const file = join(createTempFolder(), 'openapi.json')
    writeFileSync(file, `\uFEFF${JSON.stringify({ openapi: '3.1.0', paths: {} })}`)
    const { code, stdout } = await runHere(['compare', '--document', file])
    expect(code).toBe(3)
    expect(stdout).toMatch(
      /^0 operations compared\n(\S+ \S+ is not in the published document\n){3}$/
    )
  })
})

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'

const MIB = 1024 * 1024

test.each([
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', Buffer.from]
])('reads a body with the content-encoding %s', async (encoding, encode) => {
  const mock = await useMock()
  const body = encode(Buffer.from('{"name": "Größe"}'))
  const headers = { 'content-encoding': encoding }
  const { status, json } = await mock.post('/_mock/environments', { headers, body })
  expect([status, json.name]).toEqual([201, 'Größe'])
})

test('rejects an unsupported content-encoding with 415, and lists the supported ones', async () => {
  const mock = await useMock()
  const headers = { 'content-encoding': 'zstd' }
  const response = await mock.post('/_mock/environments', { headers, body: '{}' })
  expect([response.status, response.headers.get('accept-encoding')]).toEqual([
    415,
    'gzip, deflate, br'
  ])
  expect(response.headers.get('x-mock-reason')).toBe(
    'the content-encoding zstd is not supported: use one of gzip, deflate, br, ' +
      'or send the body uncompressed'
  )
})

test("rejects a body that doesn't match its content-encoding", async () => {
  const mock = await useMock()
  const headers = { 'content-encoding': 'gzip' }
  const response = await mock.post('/_mock/environments', { headers, body: '{}' })
  expect([response.status, response.headers.get('x-mock-reason')]).toEqual([
    400,
    "the content-encoding is gzip, but the body can't be decoded (incorrect header check): " +
      'compress the body, or omit the header'
  ])
})

test.each([
  ['/_mock/faults', MIB, 422],
  ['/_mock/seed', 8 * MIB, 200]
])('rejects a body for %s that expands beyond the limit', async (path, limit, expected) => {
  const mock = await useMock()
  const headers = { 'content-encoding': 'gzip' }
  const [accepted, rejected] = await Promise.all(
    [limit, limit + 1].map((length) =>
      mock.post(path, { headers, body: gzipSync(`{}${' '.repeat(length - 2)}`) })
    )
  )
  expect([accepted?.status, rejected?.status]).toEqual([expected, 413])
})

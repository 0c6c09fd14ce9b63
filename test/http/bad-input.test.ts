import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { type Contract, contractOf } from '../support/contract.js'
import { KEYS, type LoggedMock, SEED, useLoggedMockOfGroup } from '../support/logged-mock.js'
import { type TestMock, useMock, useNewMock } from '../support/mock.js'
import { type Bytes, connectTo, exchange, type RawAnswer } from './exchange.js'

interface Row {
  send: Bytes | Bytes[]
  /** The statuses of all responses on the connection, in order. */
  statuses: number[]
  /** The field `path` of the last response, if that response is an error. */
  path?: string
  method?: string
  /**
   * How the client closes the connection. `end`: it ends its side before it reads the responses.
   * `reset`: it resets the connection after the responses. By default, it ends its side after the
   * responses.
   */
  after?: 'end' | 'reset'
}

const HOST = 'host: mock.test\r\n'
const KEY = `authorization: ApiKey ${KEYS.shop}\r\n`
const SET_PRIMARY = '/v1/integrations/mailgun/set-primary'
const EMPTY = 'content-length: 0\r\n'
const CHUNKED = 'transfer-encoding: chunked\r\n'

const get = (target: string, headers = '') =>
  `GET ${target} HTTP/1.1\r\n${HOST}${KEY}${headers}\r\n`
const post = (headers: string, body = '') =>
  `POST ${SET_PRIMARY} HTTP/1.1\r\n${HOST}${KEY}${headers}\r\n${body}`
const step = (id: string) => `/v2/workflows/${id}/steps/email-step`
const list = (query: string) => `/v1/messages?${query}`
const rawRow = (statuses: number[], send: Row['send'], more: Partial<Row> = {}): Row => ({
  send,
  statuses,
  ...more
})
const getRow = (target: string, status: number): Row => ({
  send: get(target),
  statuses: [status],
  path: target
})
const malformed = (...send: Bytes[]): Row => ({ send, statuses: [400], path: '' })
const postRow = (headers: string, body: string, status: number): Row => ({
  send: post(`${headers}content-length: ${Buffer.byteLength(body, 'latin1')}\r\n`, body),
  statuses: [status],
  path: SET_PRIMARY
})

const REQUEST_LINE: Record<string, Row> = {
  'a TLS handshake': malformed(Buffer.from('16030100f1010000ed0303', 'hex')),
  'HTTP/1.0': rawRow([200], `GET /v1/messages HTTP/1.0\r\n${KEY}\r\n`),
  'an unknown method': malformed(`BREW /v1/messages HTTP/1.1\r\n${HOST}${KEY}\r\n`),
  'bare line feeds': malformed(get('/v1/messages').replaceAll('\r\n', '\n')),
  TRACE: rawRow([405], `TRACE /v1/messages HTTP/1.1\r\n${HOST}${KEY}\r\n`, {
    path: '/v1/messages'
  }),
  CONNECT: rawRow([405], `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`),
  'HEAD with an invalid parameter': rawRow(
    [422],
    `HEAD /v1/messages?page=x HTTP/1.1\r\n${HOST}${KEY}\r\n`,
    {
      method: 'HEAD'
    }
  ),
  'an absolute URL': getRow('http://mock.test/v1/messages', 200),
  'OPTIONS *': rawRow([204], `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`),
  // The response is the start page.
  'GET *': rawRow([200], get('*')),
  'a URL of 200 kB': getRow(list(`a=${'x'.repeat(200_000)}`), 200)
}

const HEADERS: Record<string, Row> = {
  'no Host': rawRow([400], `GET /v1/messages HTTP/1.1\r\n${KEY}\r\n`, { path: '/v1/messages' }),
  'a space in a name': malformed(get('/v1/messages', 'x y: 1\r\n')),
  'a null byte in a value': malformed(get('/v1/messages', 'x: a\0b\r\n')),
  'a header larger than allowed': rawRow(
    [431],
    get('/v1/messages', `x: ${'x'.repeat(300_000)}\r\n`)
  ),
  'an unsupported Expect header': rawRow([417], post(`expect: 200-ok\r\n${EMPTY}`)),
  'Expect: 100-continue without an API key': rawRow(
    [100, 401],
    `POST ${SET_PRIMARY} HTTP/1.1\r\n${HOST}expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`,
    { path: SET_PRIMARY }
  )
}

const FRAMING: Record<string, Row> = {
  'two different content lengths': malformed(
    post('content-length: 2\r\ncontent-length: 3\r\n', '{}x')
  ),
  'a negative content length': malformed(post('content-length: -1\r\n')),
  'a content length and chunks': malformed(post(`content-length: 6\r\n${CHUNKED}`, '0\r\n\r\nG')),
  'a gzip transfer coding after chunked': malformed(
    post('transfer-encoding: chunked, gzip\r\n', '0\r\n\r\n')
  ),
  'a request smuggled after chunks': rawRow(
    [400],
    post(`${CHUNKED}content-length: 4\r\n`, `1\r\nZ\r\n0\r\n\r\n${get('/health')}`)
  ),
  'a truncated body': { ...malformed(post('content-length: 10\r\n', '{}')), after: 'end' },
  'no bytes at all': rawRow([], '', { after: 'end' }),
  'a partial body with an idempotency key, then a reset': rawRow(
    [100],
    post('expect: 100-continue\r\nidempotency-key: a\r\ncontent-length: 10\r\n', '{}'),
    { after: 'reset' }
  ),
  'a request sent byte by byte': rawRow([200], [...get('/v1/messages')]),
  'three pipelined requests': rawRow(
    [200, 200, 422],
    get('/v1/messages') + post(EMPTY) + get('/v1/messages?page=x'),
    {
      path: '/v1/messages?page=x'
    }
  ),
  'a slow request before an unsupported Expect header': rawRow(
    [200, 417, 200],
    get('/v1/messages', 'x-mock-fault: delay=50\r\n') +
      post(`expect: 200-ok\r\n${EMPTY}`) +
      get('/health')
  ),
  'a valid request before bytes that are not HTTP': rawRow(
    [200, 400],
    `${get('/v1/messages')}nonsense\r\n\r\n`,
    {
      path: ''
    }
  ),
  'an oversized header between two valid requests': rawRow(
    [200, 431],
    `${get('/v1/messages')}${get('/health', `x: ${'x'.repeat(300_000)}\r\n`)}${get('/health')}`
  ),
  'an oversized body before a valid request': rawRow(
    [413, 200],
    post('content-length: 2000000\r\n', 'x'.repeat(2_000_000)) + get('/v1/messages')
  )
}

const JSON_TYPE = 'content-type: application/json\r\n'

const BODIES: Record<string, Row> = {
  'no body': rawRow([200], post(EMPTY)),
  'no body and no content length': rawRow([200], post('')),
  'no body, declared as JSON': rawRow([200], post(JSON_TYPE)),
  'an empty chunked body, declared as JSON': rawRow([200], post(JSON_TYPE + CHUNKED, '0\r\n\r\n')),
  'a JSON object with the keys __proto__ and constructor': postRow(
    JSON_TYPE,
    '{"primary":false,"__proto__":{"a":1},"constructor":{}}',
    200
  ),
  null: postRow(`content-type: application/json; charset=utf-8\r\n`, 'null', 200),
  'a JSON array': postRow('content-type: application/vnd.api+json\r\n', '[1]', 200),
  'JSON arrays nested 100,000 levels deep': postRow(
    JSON_TYPE,
    '['.repeat(1e5) + ']'.repeat(1e5),
    200
  ),
  'malformed JSON': postRow(JSON_TYPE, '{', 400),
  'JSON in UTF-16': postRow('content-type: application/json; charset=utf-16\r\n', '{\0}\0', 400),
  'JSON that is not UTF-8': postRow(JSON_TYPE, '\xff', 400),
  'compressed JSON': postRow(`${JSON_TYPE}content-encoding: gzip\r\n`, '\x1f\x8b', 200),
  'JSON Lines': postRow('content-type: application/jsonl\r\n', '{', 200),
  'the content type x-application/json': postRow('content-type: x-application/json\r\n', '{', 200),
  'a form': postRow('content-type: application/x-www-form-urlencoded\r\n', 'a=%zz&b', 200),
  'a multipart form': postRow(
    'content-type: multipart/form-data; boundary=x\r\n',
    '--x--\r\n',
    200
  ),
  text: postRow('content-type: text/plain\r\n', '{', 200),
  bytes: postRow('content-type: application/octet-stream\r\n', '\0\xff\xfe', 200),
  'a body without a content type': postRow('', '{"a":', 200),
  'an invalid content type': postRow('content-type: ;;json\r\n', '{', 200),
  'a body of 1 MiB': postRow('', 'x'.repeat(1024 * 1024), 200),
  'a chunked body of 1 MiB and one byte': rawRow(
    [413],
    post(CHUNKED, `100001\r\n${'x'.repeat(0x100001)}\r\n0\r\n\r\n`),
    { path: SET_PRIMARY }
  ),
  'a body in a GET request': rawRow(
    [200],
    `${get('/v1/messages', 'content-type: application/json\r\ncontent-length: 1\r\n')}{`
  )
}

const PATHS: Record<string, Row> = {
  'a null byte': malformed(get('/v1/mess\0ages')),
  'a non-ASCII byte': malformed(get(step('\xff'))),
  '%zz': getRow(step('%zz'), 400),
  '%ff': getRow(step('%ff'), 400),
  'an encoded line break': getRow(step('a%0d%0aset-cookie:%20a=b'), 404),
  'an encoded slash': getRow(step('a%2Fb'), 404),
  'encoded dots': getRow(step('%2e%2e'), 404),
  backslashes: getRow('/v1\\messages', 404),
  'encoded dots in a path below /docs/types': getRow(
    '/docs/types/%2e%2e%2f%2e%2e%2fpackage.json',
    404
  ),
  'an empty id': getRow(step(''), 404),
  'an id of 200 kB': getRow(step('x'.repeat(200_000)), 404),
  'malformed encoding in an unknown path': getRow('/nope/%zz', 400)
}

const QUERIES: Record<string, Row> = {
  'a non-ASCII byte': malformed(get(list('a=\xff'))),
  '10,000 parameters with the index 9999': getRow(
    list(Array.from({ length: 10_000 }, (_, i) => `x${i}[9999]=1`).join('&')),
    200
  ),
  'brackets nested 10,000 times': getRow(list(`a${'[b]'.repeat(10_000)}=1`), 200),
  'an unclosed bracket': getRow(list('[=1&transactionId[=1'), 422),
  constructor: getRow(list('constructor[prototype][page]=1&page[constructor]=1'), 422)
}

describe.each([
  ['request line', REQUEST_LINE],
  ['headers', HEADERS],
  ['message framing', FRAMING],
  ['body', BODIES],
  ['path', PATHS],
  ['query', QUERIES]
])('%s', (_part, rows) => {
  const mockOfGroup = useLoggedMockOfGroup()

  test.each(Object.entries(rows))('gets the expected responses: %s', async (_name, row) => {
    const mock = mockOfGroup()
    const responses = await sendRow(mock, row)
    expect(responses.map(({ status }) => status)).toEqual(row.statuses)
    for (const response of responses)
      if (response.status >= 400) await expectErrorBody(mock, response, row.method)
    const last = responses.at(-1)
    if (last && last.status >= 400 && row.path !== undefined)
      expect(JSON.parse(last.text).path).toBe(row.path)
    await expectServerWorks(mock)
  })

  test('after these requests, the server closes and has logged no internal errors', async () => {
    const mock = mockOfGroup()
    await mock.app.close()
    expect(failures(mock)).toEqual([])
  })
})

/** Sends the row's bytes and returns all responses on the connection. */
async function sendRow(
  mock: TestMock,
  { send, statuses, method, after }: Row
): Promise<RawAnswer[]> {
  const connection = await connectTo(mock)
  for (const bytes of [send].flat()) connection.send(bytes)
  if (after === 'end') connection.socket.end()
  const responses: RawAnswer[] = []
  while (responses.length < statuses.length) {
    const response = await connection.answer(method)
    if (!response) return responses
    responses.push(response)
  }
  if (after === 'reset') {
    connection.socket.resetAndDestroy()
    return responses
  }
  connection.socket.end()
  for (let more = await connection.answer(); more; more = await connection.answer())
    responses.push(more)
  return responses
}

let publishedContract: Promise<Contract> | undefined

async function expectErrorBody(mock: TestMock, response: RawAnswer, method = 'GET'): Promise<void> {
  publishedContract ??= fetch(`${mock.url}/openapi.json`).then(async (document) =>
    contractOf(await document.text())
  )
  const contract = await publishedContract
  contract.check({ ...response, method, path: '/' })
  expect(response.headers.get('x-request-id')).toBeTruthy()
  if (method === 'HEAD') return
  const body = JSON.parse(response.text)
  expect(Object.keys(body).slice(0, 6)).toEqual([
    'statusCode',
    'timestamp',
    'path',
    'message',
    'error',
    'ctx'
  ])
}

/** Expects that the server serves new connections and has logged no internal errors. */
async function expectServerWorks(mock: LoggedMock): Promise<void> {
  expect(await exchange(mock, get('/health'))).toMatchObject({ status: 200 })
  const page = await exchange(mock, get('/v1/messages'))
  expect([page.status, JSON.parse(page.text).totalCount]).toEqual([200, 3])
  expect(failures(mock)).toEqual([])
}

function failures({ log }: LoggedMock): object[] {
  return log.filter(({ msg }) => msg === 'request failed')
}

test.each([
  ['headers', 431, '/v1/messages', { header: 5_000_000 }],
  ['a URL', 431, '/v1/messages', { query: 5_000_000 }],
  ['a body', 413, SET_PRIMARY, { method: 'POST', body: 20_000_000 }],
  ['a body with an unsupported method', 405, '/v1/messages', { method: 'POST', body: 20_000_000 }]
])(
  'a client that is still sending %s receives the status %i before the connection closes',
  async (_what, status, path, sizes) => {
    const { url } = await useMock({ seed: SEED })
    const statuses = await fetchElsewhere(url + path, sizes, 5)
    expect(statuses).toEqual(Array(5).fill(status))
  }
)

/**
 * Sends requests from another process, so that the client keeps sending while the server responds.
 * Returns the `statusCode` in each response's body, or the error code of a failed request.
 */
async function fetchElsewhere(url: string, sizes: object, times: number): Promise<unknown> {
  const client = `
    const { method = 'GET', header, query, body } = ${JSON.stringify(sizes)}
    const text = (size) => 'x'.repeat(size)
    const results = []
    for (let time = 0; time < ${times}; time += 1) {
      const request = {
        method,
        headers: {
          authorization: 'ApiKey ${KEYS.shop}',
          ...(header && { 'x-large': text(header) })
        },
        ...(body && { body: text(body) })
      }
      const response = fetch('${url}' + (query ? '?a=' + text(query) : ''), request)
        .then((response) => response.json())
      results.push(await response.then(({ statusCode }) => statusCode, ({ cause }) => cause?.code))
    }
    process.stdout.write(JSON.stringify(results))`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '-e',
    `(async () => {${client}})()`
  ])
  return JSON.parse(stdout)
}

test('the server survives a connection reset after pipelined requests and a CONNECT', async () => {
  const mock = await useNewMock({ seed: SEED })
  const socket = connect(mock.port, '127.0.0.1')
  const closed = once(socket, 'close')
  socket.write(`${get('/v1/messages').repeat(400)}CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`)
  await once(socket, 'data')
  socket.resetAndDestroy()
  await closed
  expect((await mock.get('/health')).status).toBe(200)
})

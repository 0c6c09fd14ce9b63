import { Ajv2020 } from 'ajv/dist/2020.js'
import { getTableName } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { DATASET_TABLES } from '../../src/db/schema.js'
import { assume, PROFILES } from '../../src/domain/assumptions.js'
import { MessageQuery } from '../../src/messages/filters.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { DEVELOPMENT, SENDGRID, setPrimary } from '../support/control.js'
import { type TestMock, type TestRequest, type TestResponse, useMock } from '../support/mock.js'
import { startOpenRequest } from '../support/open-request.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read the document without types
type Document = any

interface Described {
  path: string
  method: string
  operation: Document
}

/** Provokes an error. `send` sends a request to the `path` in the error's example. */
type ProvokeError = (
  mock: TestMock,
  send: (call?: TestRequest) => Promise<TestResponse>,
  method: string
) => Promise<TestResponse>

/** With the clock at this time, the default seed's records get the timestamps of the examples. */
const NOW = Date.UTC(2026, 1, 18, 10, 10)

const KEY = { 'idempotency-key': 'set-primary-0001' }

const PROVOKED_ERRORS: Record<string, ProvokeError> = {
  400: (_, send) => send(),
  401: (_, send) => send({ key: 'unknown-key' }),
  403: (_, send) => send(),
  404: (_, send) => send(),
  409: async (mock, send) => {
    await startOpenRequest(`${mock.url}${setPrimary(SENDGRID)}`, {
      ...KEY,
      authorization: `ApiKey ${DEVELOPMENT}`
    })
    return send({ headers: KEY })
  },
  413: (_, send) => send({ headers: KEY, body: 'x'.repeat(1024 * 1024 + 1) }),
  422: async (_, send, method) => {
    if (method === 'GET') return send()
    await send({ headers: KEY, body: 'one body' })
    return send({ headers: KEY, body: 'another' })
  },
  500: (mock, send) => {
    const names = Object.values(DATASET_TABLES).flatMap((tables) =>
      tables.map((table) => getTableName(table))
    )
    for (const name of names) mock.db.client.exec(`ALTER TABLE ${name} RENAME TO gone_${name}`)
    return send()
  }
}

describe.each(PROFILES)('with the default seed, in the profile %s', async (profile) => {
  const described = operationsOf(await openApiDocument(assume(profile)))
  const errors = described.flatMap(({ operation, ...rest }) =>
    Object.keys(operation.responses)
      .filter((status) => status !== '200')
      .map((status) => ({ ...rest, operation, status, name: operation.operationId }))
  )

  test.each(errors)(
    'if $name responds with $status, the body is exactly the example',
    async ({ method, operation, status }) => {
      const { example } = operation.responses[status].content['application/json']
      const mock = await useMock({ profile, now: NOW })
      const response = await PROVOKED_ERRORS[status]?.(
        mock,
        (call) => mock.call(example.path, { method, ...call }),
        method
      )
      expect(withValuesOf(response?.text ?? '', example)).toBe(JSON.stringify(example))
      expect(undocumentedHeaders(response, operation)).toEqual([])
    }
  )

  test.each(described)(
    '$operation.operationId responds to the example request with the example response',
    async ({ path, method, operation }) => {
      const mock = await useMock({ profile, now: NOW })
      const filled = path.replace(/\{(\w+)\}/g, (_, name) => parameterOf(operation, name).example)
      const query = new URLSearchParams()
      for (const { in: place, name, schema } of operation.parameters) {
        if (place === 'query')
          for (const value of [schema.examples ?? []].flat(2)) query.append(name, value)
      }
      const headers = {
        'idempotency-key': parameterOf(operation, 'idempotency-key').schema.examples[0]
      }
      const url = query.size > 0 ? `${filled}?${query}` : filled

      const response = await mock.call(url, { method, headers })
      expect(response.status).toBe(200)
      expect(response.json.data ?? [response.json]).not.toEqual([])
      expect(response.text).toBe(
        JSON.stringify(operation.responses[200].content['application/json'].example)
      )
      expect(undocumentedHeaders(response, operation)).toEqual([])
      // Repeat the request. If the operation supports idempotency keys, this response is a replay,
      // which has an additional header.
      expect(undocumentedHeaders(await mock.call(url, { method, headers }), operation)).toEqual([])
    }
  )
})

test.each(PROFILES)(
  'in the profile %s, the document and the server allow the same parameters to be empty',
  async (profile) => {
    const mock = await useMock({ profile, now: NOW })
    const document: Document = await openApiDocument(assume(profile))
    const queries = document.paths['/v1/messages'].get.parameters.filter(
      ({ in: place }: Document) => place === 'query'
    )
    for (const { name, schema, allowEmptyValue } of queries) {
      const allows = new Ajv2020({ strict: false }).compile({ ...schema, format: undefined })
      const { status } = await mock.get(`/v1/messages?${name}=`)
      expect(status, name).toBe(
        allowEmptyValue || allows(schema.type === 'array' ? [''] : '') ? 200 : 422
      )
    }
    expect(queries).toHaveLength(Object.keys(MessageQuery.properties).length)
  }
)

/** Replaces `timestamp` and `errorId` in an error body with the example's values. */
function withValuesOf(text: string, { timestamp, errorId }: Document): string {
  return text
    .replace(/(?<="timestamp":")[^"]+/, timestamp)
    .replace(/(?<="errorId":")[^"]+/, errorId)
}

const HTTP_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'vary'
])

/**
 * Returns the names of response headers that the document doesn't list. Ignores general HTTP
 * headers and CORS headers.
 */
function undocumentedHeaders(response: TestResponse | undefined, operation: Document): string[] {
  const documented = Object.keys(operation.responses[response?.status ?? ''].headers)
  const sent = [...(response?.headers.keys() ?? [])]
  return sent.filter(
    (name) =>
      !documented.includes(name) && !HTTP_HEADERS.has(name) && !name.startsWith('access-control-')
  )
}

function operationsOf(document: Document): Described[] {
  return Object.entries<Document>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Document>(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation
    }))
  )
}

function parameterOf(operation: Document, name: string): Document {
  return operation.parameters.find((parameter: Document) => parameter.name === name)
}

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

// biome-ignore lint/suspicious/noExplicitAny: tests read into the document
type Document = any

interface Described {
  path: string
  method: string
  operation: Document
}

/** What an operation is asked for to be refused with a status, beside the path of the example. */
type Provoke = (
  mock: TestMock,
  ask: (call?: TestRequest) => Promise<TestResponse>,
  method: string
) => Promise<TestResponse>

const KEY = { 'idempotency-key': 'set-primary-0001' }

const PROVOKE: Record<string, Provoke> = {
  400: (_, ask) => ask(),
  401: (_, ask) => ask({ key: 'unknown-key' }),
  403: (_, ask) => ask(),
  404: (_, ask) => ask(),
  409: async (mock, ask) => {
    await startOpenRequest(`${mock.url}${setPrimary(SENDGRID)}`, {
      ...KEY,
      authorization: `ApiKey ${DEVELOPMENT}`
    })
    return ask({ headers: KEY })
  },
  413: (_, ask) => ask({ headers: KEY, body: 'x'.repeat(1024 * 1024 + 1) }),
  422: async (_, ask, method) => {
    if (method === 'GET') return ask()
    await ask({ headers: KEY, body: 'one body' })
    return ask({ headers: KEY, body: 'another' })
  },
  500: (mock, ask) => {
    const names = Object.values(DATASET_TABLES).flatMap((tables) =>
      tables.map((table) => getTableName(table))
    )
    for (const name of names) mock.db.client.exec(`ALTER TABLE ${name} RENAME TO gone_${name}`)
    return ask()
  }
}

describe.each(PROFILES)('with the default seed and the profile %s', async (profile) => {
  const described = operationsOf(await openApiDocument(assume(profile)))
  const refusals = described.flatMap(({ operation, ...rest }) =>
    Object.keys(operation.responses)
      .filter((status) => status !== '200')
      .map((status) => ({ ...rest, operation, status, name: operation.operationId }))
  )

  test.each(refusals)(
    '$name answers $status with the example, byte for byte',
    async ({ method, operation, status }) => {
      const { example } = operation.responses[status].content['application/json']
      const mock = await useMock({ profile })
      const answer = await PROVOKE[status]?.(
        mock,
        (call) => mock.call(example.path, { method, ...call }),
        method
      )
      expect(atExampleTime(answer?.text ?? '', example)).toBe(JSON.stringify(example))
      expect(undocumented(answer, operation)).toEqual([])
    }
  )

  test.each(described)(
    '$operation.operationId answers the examples of its parameters with the example, byte for byte',
    async ({ path, method, operation }) => {
      const mock = await useMock({ profile })
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

      const answer = await mock.call(url, { method, headers })
      expect(answer.status).toBe(200)
      expect(answer.json.data ?? [answer.json]).not.toEqual([])
      expect(answer.text).toBe(
        JSON.stringify(operation.responses[200].content['application/json'].example)
      )
      expect(undocumented(answer, operation)).toEqual([])
      // Once more: a replay, where there are replays.
      expect(undocumented(await mock.call(url, { method, headers }), operation)).toEqual([])
    }
  )
})

test.each(PROFILES)(
  'the document of %s allows the empty text where the server does, and nowhere else',
  async (profile) => {
    const mock = await useMock({ profile })
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

/** The text of an error with the time of the example, and its random id. */
function atExampleTime(text: string, { timestamp, errorId }: Document): string {
  return text
    .replace(/(?<="timestamp":")[^"]+/, timestamp)
    .replace(/(?<="errorId":")[^"]+/, errorId)
}

const OF_HTTP = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive'])

/** Headers of an answer that the document does not tell of. */
function undocumented(answer: TestResponse | undefined, operation: Document): string[] {
  const told = Object.keys(operation.responses[answer?.status ?? ''].headers)
  const sent = [...(answer?.headers.keys() ?? [])]
  return sent.filter(
    (name) => !told.includes(name) && !OF_HTTP.has(name) && !name.startsWith('access-control-')
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

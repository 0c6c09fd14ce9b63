import { expect } from 'vitest'
import type {
  CreatedEnvironment,
  NewEnvironment
} from '../../../src/control/environments/routes.js'
import type { Db } from '../../../src/db/open.js'
import type { Seed } from '../../../src/seeds/format.js'
import type { TestMock, TestResponse } from '../../support/mock.js'

export type SeededEnvironment = Seed['environments'][number]

/** Creates an environment for one test. */
export async function givenEnvironment(
  mock: TestMock,
  wanted: NewEnvironment = {}
): Promise<CreatedEnvironment> {
  const made = await mock.post('/_mock/environments', { key: null, body: JSON.stringify(wanted) })
  expect(made.status, made.text).toBe(201)
  return made.json
}

/** Returns the export of an environment as an object. */
export async function stateOf(mock: TestMock, key: string): Promise<SeededEnvironment> {
  return (await mock.get('/_mock/state', { key })).json.environments[0]
}

/**
 * Sends a request without checking the response against the API reference, which is slow for a
 * rarely used key.
 */
export async function plainCall(
  mock: { url: string },
  path: string,
  key: string,
  init: RequestInit = {}
): Promise<Omit<TestResponse, 'json'>> {
  const headers = { authorization: `ApiKey ${key}`, ...(init.headers as Record<string, string>) }
  const response = await fetch(`${mock.url}${path}`, { ...init, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const TABLES = [
  ...['environments', 'api_keys', 'datasets', 'integrations', 'subscribers'],
  ...['workflows', 'workflow_steps', 'messages', 'idempotency_keys']
]
const PARTS = ['integrations', 'subscribers', 'workflows', 'messages', 'idempotency']

/** Returns the number of rows of each table. */
export function rowCounts({ client }: Db): Record<string, unknown> {
  return Object.fromEntries(
    TABLES.map((table) => [table, client.prepare(`SELECT count(*) FROM ${table}`).pluck().get()])
  )
}

/**
 * Fails unless every dataset is referenced, every reference has a dataset, and every row belongs to
 * one.
 */
export function expectSound({ client }: Db): void {
  const pointers = PARTS.map((part) => `SELECT ${part} AS dataset FROM environments`).join(
    ' UNION '
  )
  const unused = client.prepare(`SELECT key FROM datasets WHERE key NOT IN (${pointers})`).all()
  const missing = client.prepare(`${pointers} EXCEPT SELECT key FROM datasets`).all()
  const inTwoParts = client
    .prepare(
      `SELECT dataset FROM (${PARTS.map((part) => `SELECT DISTINCT '${part}' AS part, ${part} AS dataset FROM environments`).join(' UNION ')})
       GROUP BY dataset HAVING count(*) > 1`
    )
    .all()
  const astray = TABLES.slice(3).flatMap((table) =>
    client
      .prepare(`SELECT '${table}' FROM ${table} WHERE dataset NOT IN (SELECT key FROM datasets)`)
      .all()
  )
  expect({ unused, missing, inTwoParts, astray }).toEqual({
    unused: [],
    missing: [],
    inTwoParts: [],
    astray: []
  })
  expect(client.pragma('foreign_key_check')).toEqual([])
}

type Origin = Pick<CreatedEnvironment, 'apiKey' | 'environmentId' | 'organizationId' | 'name'>

/**
 * Returns the responses of all three operations for every record, with placeholders for the owners'
 * ids. Changes the environment, because it sets every integration as primary.
 */
export async function everyAnswer(
  mock: TestMock,
  { apiKey: key, environmentId, organizationId }: Omit<Origin, 'name'>
): Promise<string[]> {
  const exported = JSON.parse((await plainCall(mock, '/_mock/state', key)).text) as Seed
  const {
    integrations = [],
    subscribers = [],
    workflows = [],
    messages = []
  } = exported.environments[0] ?? {}
  const reads = [
    ...Array.from(
      { length: Math.ceil(messages.length / 1000) + 1 },
      (_, page) => `/v1/messages?limit=1000&page=${page}`
    ),
    ...subscribers.map(({ subscriberId }) => `/v1/messages?subscriberId=${inQuery(subscriberId)}`),
    ...messages.flatMap(({ transactionId = '', contextKeys = [], channel }) => [
      `/v1/messages?transactionId=${inQuery(transactionId)}`,
      `/v1/messages?channel=${channel}&${contextKeys.map((each) => `contextKeys[]=${inQuery(each)}`).join('&')}`
    ]),
    ...workflows.flatMap(({ _id, identifier = '', steps = [] }) =>
      steps.flatMap((step) => [
        `/v2/workflows/${_id}/steps/${step._id}`,
        ...(identifier.isWellFormed() && step.stepId?.isWellFormed()
          ? [`/v2/workflows/${inQuery(identifier)}/steps/${inQuery(step.stepId)}`]
          : [])
      ])
    )
  ]
  const answers: string[] = []
  for (const path of [...new Set(reads)]) answers.push(await answer('GET', path))
  for (const { _id } of integrations)
    answers.push(await answer('POST', `/v1/integrations/${_id}/set-primary`))
  return answers

  async function answer(method: string, path: string): Promise<string> {
    const { status, text } = await plainCall(mock, path, key, { method })
    const neutral = text
      .replaceAll(environmentId, 'ENVIRONMENT')
      .replaceAll(organizationId, 'ORGANIZATION')
    return `${method} ${path} ${status} ${neutral}`
  }
}

function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/**
 * Expects copies of an environment, created from its JSON and YAML exports, to give exactly the
 * same responses.
 */
export async function expectSameAnswers(mock: TestMock, origin: Origin) {
  /** Uses the name of the origin, because the name of a copy has a number. */
  const exported = async ({ apiKey, name }: Origin) => {
    const answer = await plainCall(mock, '/_mock/state', apiKey)
    const text = answer.text.replace(
      `"name":${JSON.stringify(name)}`,
      () => `"name":${JSON.stringify(origin.name)}`
    )
    return { ...answer, text }
  }
  const json = await exported(origin)
  const yaml = await plainCall(mock, '/_mock/state', origin.apiKey, {
    headers: { accept: 'application/yaml' }
  })
  expect(json.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(yaml.headers.get('content-type')).toBe('application/yaml; charset=utf-8')

  const ofJson = await givenEnvironment(mock, { seed: JSON.parse(json.text) })
  const before = {
    name: origin.name,
    profile: 'live',
    clock: { mode: 'offset', by: 1 },
    messages: [{ channel: 'sms' }]
  }
  const ofYaml = await givenEnvironment(mock, { seed: { environments: [before] } })
  const loaded = await plainCall(mock, '/_mock/seed?mode=replace', ofYaml.apiKey, {
    method: 'POST',
    body: yaml.text
  })
  expect(loaded.text).toBe('{"mode":"replace"}')
  for (const copy of [ofJson, ofYaml]) expect((await exported(copy)).text).toBe(json.text)

  const answers = await everyAnswer(mock, origin)
  expect(await everyAnswer(mock, ofJson)).toEqual(answers)
  expect(await everyAnswer(mock, ofYaml)).toEqual(answers)
  // Sending the requests changed all environments in the same way.
  const changed = await exported(origin)
  for (const copy of [ofJson, ofYaml]) {
    expect((await exported(copy)).text).toBe(changed.text)
    await mock.call(`/_mock/environments/${copy.environmentId}`, { method: 'DELETE', key: null })
  }
}

import { expect } from 'vitest'
import { parse } from 'yaml'
import type {
  CreatedEnvironment,
  NewEnvironment
} from '../../../src/control/environments/routes.js'
import type { Db } from '../../../src/db/open.js'
import type { Seed } from '../../../src/seeds/format.js'
import { REQUEST_LIMITS } from '../../../src/seeds/limits.js'
import type { TestMock, TestResponse } from '../../support/mock.js'

export type SeededEnvironment = Seed['environments'][number]

/** Creates an environment. Expects the request to succeed. */
export async function createEnvironment(
  mock: TestMock,
  options: NewEnvironment = {}
): Promise<CreatedEnvironment> {
  const body = JSON.stringify(options)
  const response = await mock.post('/_mock/environments', { key: null, body })
  expect(response.status, response.text).toBe(201)
  return response.json
}

/** Exports an environment, and returns the export as an object. */
export async function stateOf(mock: TestMock, key: string): Promise<SeededEnvironment> {
  return (await mock.get('/_mock/state', { key })).json.environments[0]
}

/**
 * Sends a request without checking the response against the API reference. That check compiles an
 * OpenAPI document for each API key, which takes too long if a key is used only a few times.
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

/** Returns how many rows each table has. */
export function rowCounts({ client }: Db): Record<string, unknown> {
  return Object.fromEntries(
    TABLES.map((table) => [table, client.prepare(`SELECT count(*) FROM ${table}`).pluck().get()])
  )
}

/**
 * Checks that every dataset is used and contains only one kind of record, and that no environment
 * or row refers to a missing dataset.
 */
export function expectConsistentDatasets({ client }: Db): void {
  const references = PARTS.map(
    (part) => `SELECT '${part}' AS part, ${part} AS dataset FROM environments`
  ).join(' UNION ')
  const used = `SELECT dataset FROM (${references})`
  const unused = client.prepare(`SELECT key FROM datasets WHERE key NOT IN (${used})`).all()
  const missing = client.prepare(`${used} EXCEPT SELECT key FROM datasets`).all()
  const inTwoParts = client
    .prepare(`${used} GROUP BY dataset HAVING count(DISTINCT part) > 1`)
    .all()
  const rowsWithoutDataset = TABLES.slice(3).flatMap((table) =>
    client
      .prepare(`SELECT '${table}' FROM ${table} WHERE dataset NOT IN (SELECT key FROM datasets)`)
      .all()
  )
  expect({ unused, missing, inTwoParts, rowsWithoutDataset }).toEqual({
    unused: [],
    missing: [],
    inTwoParts: [],
    rowsWithoutDataset: []
  })
  expect(client.pragma('foreign_key_check')).toEqual([])
}

type Origin = Pick<CreatedEnvironment, 'apiKey' | 'environmentId' | 'organizationId' | 'name'>

/**
 * Lists messages, retrieves every step, and then makes every integration primary, which changes the
 * environment. Returns the responses, with placeholders for the environment id and the organization
 * id.
 */
async function responsesToAll(
  mock: TestMock,
  { apiKey: key, environmentId, organizationId }: Omit<Origin, 'name'>
): Promise<string[]> {
  const exported = JSON.parse((await plainCall(mock, '/_mock/state', key)).text) as Seed
  const environment = exported.environments[0] ?? { name: '' }
  const responses: string[] = []
  for (const path of new Set([...listPaths(environment), ...stepPaths(environment)]))
    responses.push(await send('GET', path))
  for (const { _id } of environment.integrations ?? [])
    responses.push(await send('POST', `/v1/integrations/${_id}/set-primary`))
  return responses

  async function send(method: string, path: string): Promise<string> {
    const { status, text } = await plainCall(mock, path, key, { method })
    const neutral = text
      .replaceAll(environmentId, 'ENVIRONMENT')
      .replaceAll(organizationId, 'ORGANIZATION')
    return `${method} ${path} ${status} ${neutral}`
  }
}

/**
 * Returns the paths of all pages of the unfiltered list. Also returns the path of one filtered list
 * for each subscriber, for each transaction, and for each combination of channel and contexts.
 */
function listPaths({ subscribers = [], messages = [] }: SeededEnvironment): string[] {
  const pageCount = Math.ceil(messages.length / 1000) + 1
  const pages = Array.from(
    { length: pageCount },
    (_, page) => `/v1/messages?limit=1000&page=${page}`
  )
  const bySubscriber = subscribers.map(
    ({ subscriberId }) => `/v1/messages?subscriberId=${inQuery(subscriberId)}`
  )
  const byMessage = messages.flatMap(({ transactionId = '', contextKeys = [], channel }) => {
    const contexts = contextKeys.map((contextKey) => `contextKeys[]=${inQuery(contextKey)}`)
    return [
      `/v1/messages?transactionId=${inQuery(transactionId)}`,
      `/v1/messages?channel=${channel}&${contexts.join('&')}`
    ]
  })
  return [...pages, ...bySubscriber, ...byMessage]
}

/**
 * Returns two paths for each step: one with ids and one with identifiers. Omits the second path if
 * an identifier has a lone surrogate, because a URL can't contain it.
 */
function stepPaths({ workflows = [] }: SeededEnvironment): string[] {
  return workflows.flatMap(({ _id, identifier = '', steps = [] }) =>
    steps.flatMap(({ _id: stepRecordId, stepId }) => {
      const byId = `/v2/workflows/${_id}/steps/${stepRecordId}`
      if (!identifier.isWellFormed() || !stepId?.isWellFormed()) return [byId]
      return [byId, `/v2/workflows/${inQuery(identifier)}/steps/${inQuery(stepId)}`]
    })
  )
}

function inQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/**
 * Creates two copies of an environment, one from its JSON export and one from its YAML export.
 * Expects both copies to return exactly the same responses as the environment.
 */
export async function expectSameResponses(mock: TestMock, origin: Origin): Promise<void> {
  const json = await exportAs(mock, origin, origin.name)
  const copies = [
    await createEnvironment(mock, { seed: JSON.parse(json) }),
    await copyFromYaml(mock, origin)
  ]
  for (const copy of copies) expect(await exportAs(mock, copy, origin.name)).toBe(json)

  const responses = await responsesToAll(mock, origin)
  for (const copy of copies) expect(await responsesToAll(mock, copy)).toEqual(responses)
  // The requests changed the environment and its copies in the same way, so their exports must
  // still be equal.
  const changed = await exportAs(mock, origin, origin.name)
  for (const copy of copies) {
    expect(await exportAs(mock, copy, origin.name)).toBe(changed)
    await mock.call(`/_mock/environments/${copy.environmentId}`, { method: 'DELETE', key: null })
  }
}

/** Returns an environment's JSON export, with `newName` as the environment's name. */
async function exportAs(mock: TestMock, { apiKey, name }: Origin, newName: string) {
  const response = await plainCall(mock, '/_mock/state', apiKey)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  return response.text.replace(
    `"name":${JSON.stringify(name)}`,
    () => `"name":${JSON.stringify(newName)}`
  )
}

/** Creates an environment, and replaces its contents with the YAML export of `origin`. */
async function copyFromYaml(mock: TestMock, origin: Origin): Promise<CreatedEnvironment> {
  const yaml = await plainCall(mock, '/_mock/state', origin.apiKey, {
    headers: { accept: 'application/yaml' }
  })
  expect(yaml.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  const replaced = {
    name: origin.name,
    profile: 'live',
    clock: { mode: 'offset', by: 1 },
    messages: [{ channel: 'sms' }]
  }
  const copy = await createEnvironment(mock, { seed: { environments: [replaced] } })
  // If the YAML is too large for a request, send it as JSON, which has a higher limit.
  const isTooLarge = Buffer.byteLength(yaml.text) > REQUEST_LIMITS.yaml
  const loaded = await plainCall(mock, '/_mock/seed?mode=replace', copy.apiKey, {
    method: 'POST',
    body: isTooLarge ? JSON.stringify(parse(yaml.text)) : yaml.text
  })
  expect(loaded.text).toBe('{"mode":"replace"}')
  return copy
}

import { expect, test } from 'vitest'
import { connect, type MessageSearch, type RequestFilter } from '../../src/client/index.js'
import { EXAMPLE_QUERY } from '../../src/messages/filters.js'
import { contractOf } from '../support/contract.js'
import { useMock } from '../support/mock.js'

const FILTER: Required<RequestFilter> = {
  operation: 'listMessages',
  method: 'GET',
  status: 200,
  path: '/v1/messages',
  pathPrefix: '/v1/',
  text: 'messages',
  since: new Date(0),
  after: 0,
  before: 10,
  order: 'newest',
  limit: 10
}

const SEARCH = { ...EXAMPLE_QUERY, text: 'a' } as Required<MessageSearch>

const MESSAGE = '6727a0492fdd8b34c6270000'

/** Arguments for the client's methods that have parameters. */
const ARGUMENTS: Record<string, unknown[]> = {
  'mock.apiKeys': ['Development'],
  'mock.removeEnvironment': ['Other'],
  'mock.listEnvironments': [{ removed: 'include' }],
  'mock.runRecord': [{ states: 'all', environment: 'none' }],
  'mock.unauthenticatedRequests': [FILTER],
  'mock.unauthenticatedRequest': [1],
  'env.requests.list': [FILTER],
  'env.requests.get': [1],
  'env.requests.verify': [{ operation: 'listMessages' }],
  'env.requests.waitFor': [{ operation: 'listMessages' }],
  'env.requests.stream': [{ replay: true, changesAfter: 0, onPending: () => {} }],
  'env.faults.add': [{ effect: { status: 503 } }],
  'env.stubs.add': [{ method: 'GET', path: '/v1/feeds' }],
  'env.stubs.remove': ['stub-1'],
  'env.faults.remove': ['fault-1'],
  'env.latency.set': ['none'],
  'env.clock.set': [{ mode: 'wall' }],
  'env.clock.advance': ['1h'],
  'env.messages.add': [{ _id: MESSAGE, channel: 'sms' }],
  'env.messages.search': [SEARCH],
  'env.messages.get': [MESSAGE],
  'env.messages.change': [MESSAGE, { subject: 'Hi' }],
  'env.messages.remove': [MESSAGE],
  'env.integrations.add': [{ identifier: 'one', providerId: 'ses', channel: 'email' }],
  'env.integrations.change': ['one', { name: 'One' }],
  'env.integrations.remove': ['one'],
  'env.workflows.changeStep': ['order-shipped', 'email-step', { name: 'x' }],
  'env.seed': [{ environments: [{ name: 'any' }] }, { mode: 'merge' }],
  'env.loadBuiltInSeed': ['empty'],
  'env.reset': [{ parts: ['clock'] }],
  'env.describeTest': [{ title: 'a test' }],
  'env.snapshot': ['other']
}

/**
 * Creates an environment, and a client that records its requests and checks all responses against
 * the OpenAPI document.
 */
async function createRecordingClient() {
  const { url } = await useMock()
  const contract = contractOf(await (await fetch(`${url}/_mock/openapi.json`)).text())
  const sent: { method: string; path: string; query: string[] }[] = []
  const mock = connect(url, {
    fetch: async (input, init) => {
      const { pathname: path, searchParams } = new URL(String(input))
      const method = init?.method ?? ''
      sent.push({ method, path, query: [...searchParams.keys()] })
      const response = await fetch(input, init)
      const isStream = path.endsWith('/stream')
      const { status, headers } = response
      if (!isStream)
        contract.check({ method, path, status, headers, text: await response.clone().text() })
      return response
    }
  })
  const env = await mock.environment({ from: 'Development' })
  for (const headers of [env.headers, undefined])
    await fetch(`${url}/v1/messages`, headers && { headers })
  const snapshot = await env.snapshot('before')
  await mock.environment({ name: 'Other' })
  return { mock, env, snapshot, url, sent }
}

interface Operation {
  operationId: string
  parameters?: { in: string; name: string }[]
}

async function describedOperations(
  url: string
): Promise<(Operation & { method: string; pattern: RegExp })[]> {
  const document = await (await fetch(`${url}/_mock/openapi.json`)).json()
  const { paths } = document as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      pattern: new RegExp(
        `^${path.replace(/\{(\w+)\}/g, (_, name) => (name === 'sequence' ? '\\d+' : '[^/]+'))}$`
      )
    }))
  )
}

/** Returns the methods of an object and of its nested objects, with dotted names. */
function methodsOf(
  name: string,
  object: object
): [name: string, method: (...args: unknown[]) => unknown][] {
  return Object.entries(object).flatMap(([key, value]): [string, () => unknown][] => {
    if (typeof value === 'function') return [[`${name}.${key}`, value]]
    return typeof value === 'object' ? methodsOf(`${name}.${key}`, value) : []
  })
}

/** Returns a method's place in the call order. Methods that remove data are called last. */
const rankOf = (name: string) =>
  ['.clear', '.remove', 'env.remove'].filter((end) => name.endsWith(end)).length

/** Routes that only the inspector calls, for reopened tests. The client has no such methods. */
const WITHOUT_METHODS = ['getReplay', 'repeatNextRequest']

test('the client calls every documented route except replays, and no other routes', async () => {
  const { url, sent, mock, env, snapshot } = await createRecordingClient()
  const operations = await describedOperations(url)
  const calledIds = new Set<string>()
  const unsentParameters: Record<string, string[]> = {}
  const methods = [
    ...methodsOf('snapshot', snapshot),
    ...methodsOf('mock', mock),
    ...methodsOf('env', env)
  ]
  for (const [name, method] of methods.sort(([one], [other]) => rankOf(one) - rankOf(other))) {
    // Skip `attach`, because it sends no request.
    if (name === 'mock.attach') continue
    sent.length = 0
    const result = method(...(ARGUMENTS[name] ?? []))
    if (name.endsWith('.stream')) for await (const _ of result as AsyncIterable<unknown>) break
    await result
    expect(sent, name).not.toEqual([])
    for (const { method, path, query } of sent) {
      const operation = operations.find(
        (candidate) => candidate.method === method && candidate.pattern.test(path)
      )
      expect(operation, `${name}: ${method} ${path}`).toBeDefined()
      const parameters = (operation?.parameters ?? [])
        .filter((parameter) => parameter.in === 'query')
        .map((parameter) => parameter.name)
      const id = operation?.operationId ?? ''
      calledIds.add(id)
      unsentParameters[id] = (unsentParameters[id] ?? parameters).filter(
        (parameter) => !query.includes(parameter)
      )
    }
  }
  const documented = operations
    .map(({ operationId }) => operationId)
    .filter((id) => !WITHOUT_METHODS.includes(id))
  expect([...calledIds].sort()).toEqual(documented.sort())
  expect(Object.entries(unsentParameters).filter(([, names]) => names.length > 0)).toEqual([])
})

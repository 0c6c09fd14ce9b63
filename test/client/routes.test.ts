import { expect, test } from 'vitest'
import { type AttachedEnvironment, type ConnectedMock, connect, type RequestFilter } from '../../src/client/index.js'
import { givenMock } from '../support/mock.js'

interface Sent {
  method: string
  path: string
  query: string[]
}

interface Given {
  mock: ConnectedMock
  env: Awaited<ReturnType<ConnectedMock['environment']>>
  snapshot: Awaited<ReturnType<AttachedEnvironment['snapshot']>>
}

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

const MESSAGE = '6727a0492fdd8b34c6270000'

/** A call of every method, by its name; the last ones remove what the others need. */
const CALLS: Record<string, (given: Given) => unknown> = {
  'mock.environment': ({ mock }) => mock.environment(),
  'mock.listEnvironments': ({ mock }) => mock.listEnvironments(),
  'mock.apiKeys': ({ mock }) => mock.apiKeys('Development'),
  'mock.keylessRequests': ({ mock }) => mock.keylessRequests(FILTER),
  'mock.keylessRequest': ({ mock }) => mock.keylessRequest(1),
  'mock.runRecord': ({ mock }) => mock.runRecord(),
  'mock.coverage': ({ mock }) => mock.coverage(),
  'mock.clearCoverage': ({ mock }) => mock.clearCoverage(),
  'mock.health': ({ mock }) => mock.health(),
  'mock.assumptions': ({ mock }) => mock.assumptions(),
  'mock.scenarios': ({ mock }) => mock.scenarios(),
  'mock.controlDocument': ({ mock }) => mock.controlDocument(),
  'env.requests.list': ({ env }) => env.requests.list(FILTER),
  'env.requests.get': ({ env }) => env.requests.get(1),
  'env.requests.verify': ({ env }) => env.requests.verify({ operation: 'listMessages' }),
  'env.requests.waitFor': ({ env }) => env.requests.waitFor({ operation: 'listMessages' }),
  'env.requests.stream': async ({ env }) => {
    for await (const _ of env.requests.stream({ replay: true, changesAfter: 0 })) break
  },
  'env.requests.changes': ({ env }) => env.requests.changes(),
  'env.requests.clear': ({ env }) => env.requests.clear(),
  'env.faults.list': ({ env }) => env.faults.list(),
  'env.faults.add': ({ env }) => env.faults.add({ effect: { status: 503 } }),
  'env.faults.remove': ({ env }) => env.faults.remove('fault-1'),
  'env.faults.clear': ({ env }) => env.faults.clear(),
  'env.latency.get': ({ env }) => env.latency.get(),
  'env.latency.set': ({ env }) => env.latency.set('none'),
  'env.clock.get': ({ env }) => env.clock.get(),
  'env.clock.set': ({ env }) => env.clock.set({ mode: 'wall' }),
  'env.clock.advance': ({ env }) => env.clock.advance('1h'),
  'env.random.get': ({ env }) => env.random.get(),
  'env.random.set': ({ env }) => env.random.set(7),
  'env.messages.add': ({ env }) => env.messages.add({ _id: MESSAGE, channel: 'sms' }),
  'env.messages.change': ({ env }) => env.messages.change(MESSAGE, { subject: 'Hi' }),
  'env.messages.remove': ({ env }) => env.messages.remove(MESSAGE),
  'env.integrations.list': ({ env }) => env.integrations.list(),
  'env.integrations.add': ({ env }) => env.integrations.add({ identifier: 'one', providerId: 'ses', channel: 'email' }),
  'env.integrations.change': ({ env }) => env.integrations.change('one', { name: 'One' }),
  'env.integrations.remove': ({ env }) => env.integrations.remove('one'),
  'env.workflows.list': ({ env }) => env.workflows.list(),
  'env.workflows.changeStep': ({ env }) => env.workflows.changeStep('order-shipped', 'email-step', { name: 'x' }),
  'env.coverage': ({ env }) => env.coverage(),
  'env.clearCoverage': ({ env }) => env.clearCoverage(),
  'env.state': ({ env }) => env.state(),
  'env.seed': ({ env }) => env.seed({ environments: [{ name: 'any' }] }, { mode: 'merge' }),
  'env.loadScenario': ({ env }) => env.loadScenario('empty'),
  'env.reset': ({ env }) => env.reset({ parts: ['faults'] }),
  'env.differences': ({ env }) => env.differences(),
  'env.describeRequests': ({ env }) => env.describeRequests(),
  'env.describeTest': ({ env }) => env.describeTest({ title: 'a test' }),
  'env.snapshot': ({ env }) => env.snapshot('other'),
  'env.snapshots': ({ env }) => env.snapshots(),
  'snapshot.restore': ({ snapshot }) => snapshot.restore(),
  'snapshot.differences': ({ snapshot }) => snapshot.differences(),
  'snapshot.remove': ({ snapshot }) => snapshot.remove(),
  'mock.removeEnvironment': async ({ mock }) => mock.removeEnvironment((await mock.environment()).id),
  'env.remove': ({ env }) => env.remove()
}

/** They send nothing. */
const LOCAL = ['mock.attach']

/** A client of a server, an environment with a request, and all that the client sends. */
async function given(): Promise<Given & { url: string; sent: Sent[] }> {
  const { url } = await givenMock()
  const sent: Sent[] = []
  const mock = connect(url, {
    fetch: (input, init) => {
      const { pathname, searchParams } = new URL(String(input))
      sent.push({ method: init?.method ?? '', path: pathname, query: [...searchParams.keys()] })
      return fetch(input, init)
    }
  })
  const env = await mock.environment({ from: 'Development' })
  for (const headers of [env.headers, undefined]) await fetch(`${url}/v1/messages`, headers && { headers })
  const snapshot = await env.snapshot('before')
  sent.length = 0
  return { mock, env, snapshot, url, sent }
}

interface Operation {
  operationId: string
  parameters?: { in: string; name: string }[]
}

async function describedOperations(url: string): Promise<(Operation & { method: string; pattern: RegExp })[]> {
  const document = await (await fetch(`${url}/_mock/openapi.json`)).json()
  const { paths } = document as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, (_, name) => (name === 'sequence' ? '\\d+' : '[^/]+'))}$`)
    }))
  )
}

/** The names of all functions of an object, and of those in it. */
function methodsOf(name: string, object: object): string[] {
  return Object.entries(object).flatMap(([key, value]) => {
    if (typeof value === 'function') return [`${name}.${key}`]
    return typeof value === 'object' ? methodsOf(`${name}.${key}`, value) : []
  })
}

test('the calls below are of all methods that there are', async () => {
  const { mock, env, snapshot } = await given()
  const all = [...methodsOf('mock', mock), ...methodsOf('env', env), ...methodsOf('snapshot', snapshot)]
  expect([...Object.keys(CALLS), ...LOCAL].sort()).toEqual(all.sort())
})

test('each method asks for control routes that the document describes, and together they ask for all of them', async () => {
  const { url, sent, ...clients } = await given()
  const operations = await describedOperations(url)
  const met = new Set<string>()
  const unreadParameters: Record<string, string[]> = {}
  for (const [name, call] of Object.entries(CALLS)) {
    sent.length = 0
    await call(clients)
    expect(sent, name).not.toEqual([])
    for (const { method, path, query } of sent) {
      const found = operations.find((each) => each.method === method && each.pattern.test(path))
      expect(found, `${name}: ${method} ${path}`).toBeDefined()
      const parameters = (found?.parameters ?? []).filter((each) => each.in === 'query').map((each) => each.name)
      const id = found?.operationId ?? ''
      met.add(id)
      unreadParameters[id] = (unreadParameters[id] ?? parameters).filter((each) => !query.includes(each))
    }
  }
  expect([...met].sort()).toEqual(operations.map(({ operationId }) => operationId).sort())
  expect(Object.entries(unreadParameters).filter(([, names]) => names.length > 0)).toEqual([])
})

import { expect, onTestFinished, test } from 'vitest'
import {
  connect,
  createMock,
  type FunctionStub,
  type MockOptions,
  type StubRequest
} from '../../src/index.js'
import { runFunction, type StubFunction } from '../../src/stubs/functions.js'

const STUB = { method: 'POST', path: '/v1/events/trigger' } as const
const TRIGGERED = { data: { acknowledged: true, status: 'processed', transactionId: 'tx-1' } }

async function createEnvironment(options: MockOptions = {}) {
  const mock = await createMock({ logLevel: 'silent', ...options })
  onTestFinished(() => mock.close(0))
  return { mock, env: await mock.environment({ from: 'Development' }) }
}

type Env = Pick<Awaited<ReturnType<typeof createEnvironment>>['env'], 'url' | 'headers'>

/** Sends a request with a JSON body to the path of `STUB`. */
async function trigger({ url, headers }: Env, body: object = {}, path: string = STUB.path) {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const reason = response.headers.get('x-mock-reason')
  return { status: response.status, headers: response.headers, reason, text: await response.text() }
}

test('a function can add a message, which the list then contains', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({
    ...STUB,
    async reply({ body, env }: StubRequest<{ to: string }>) {
      await env.messages.add({ subscriberId: body.to, channel: 'sms', transactionId: 'tx-1' })
      return { status: 201, headers: { 'x-team': 'a' }, body: TRIGGERED }
    }
  })
  const response = await trigger(env, { to: 'user-ada' })
  expect([response.status, JSON.parse(response.text)]).toEqual([201, TRIGGERED])
  expect(response.headers.get('x-team')).toBe('a')
  const list = await fetch(`${env.url}/v1/messages?transactionId=tx-1`, env)
  expect(await list.json()).toMatchObject({ data: [{ channel: 'sms', transactionId: 'tx-1' }] })
})

test('a function gets the parameters, query, JSON body and headers, but no API key', async () => {
  const { env } = await createEnvironment()
  const requests: StubRequest[] = []
  const path = '/v1/topics/{topic}'
  await env.stubs.add({ ...STUB, path, reply: (request) => ({ body: requests.push(request) }) })
  await trigger(env, { a: 1 }, '/v1/topics/a%20b?x=1&y=2&y=3')
  const { env: _env, headers, query, ...rest } = requests[0] as StubRequest
  expect(rest).toEqual({ params: { topic: 'a b' }, body: { a: 1 } })
  expect({ ...query }).toEqual({ x: '1', y: ['2', '3'] })
  expect(headers).toMatchObject({ 'content-type': 'application/json' })
  expect(headers).not.toHaveProperty('authorization')
})

test.each([
  ['text/plain', '{"a":1}', '{"a":1}'],
  ['application/json', '', undefined]
])('the %s body %j reaches the function as %j', async (type, body, expected) => {
  const { env } = await createEnvironment()
  const bodies: unknown[] = []
  await env.stubs.add({ ...STUB, reply: (request) => ({ body: bodies.push(request.body) }) })
  const headers = { ...env.headers, 'content-type': type }
  await fetch(`${env.url}${STUB.path}`, { method: 'POST', headers, body })
  expect(bodies).toEqual([expected])
})

test('a function is not called for malformed JSON', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply: () => expect.unreachable() })
  const headers = { ...env.headers, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: '{' }
  expect((await fetch(`${env.url}${STUB.path}`, init)).status).toBe(400)
})

test("a fork inherits the function, and calls it with the fork's environment", async () => {
  const { mock, env } = await createEnvironment()
  const names: (string | undefined)[] = []
  await env.stubs.add({
    ...STUB,
    async reply({ env }) {
      names.push((await env.state()).environments[0]?.name)
      return {}
    }
  })
  const fork = await mock.environment({ from: env.id, name: 'The fork' })
  await trigger(fork)
  await trigger(env)
  expect(names).toEqual(['The fork', 'Development fork'])
})

test('a reset removes the function, and restoring a snapshot brings it back', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply: () => ({ status: 202 }) })
  const snapshot = await env.snapshot()
  await env.reset()
  expect((await trigger(env)).status).toBe(404)
  await snapshot.restore()
  expect((await trigger(env)).status).toBe(202)
  expect((await env.diff()).settings).toEqual(['stubs.POST /v1/events/trigger'])
})

test('a fixed stub replaces a function, and a function replaces a fixed stub', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply: () => ({ status: 202 }) })
  expect(await env.stubs.add({ ...STUB, status: 203 })).toMatchObject({ replaced: true })
  expect((await trigger(env)).status).toBe(203)
  expect(await env.stubs.add({ ...STUB, reply: () => ({ status: 202 }) })).toMatchObject({
    id: 'stub-1',
    replaced: true
  })
  expect((await trigger(env)).status).toBe(202)
})

test('the list of stubs shows which stubs have a function', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply: () => ({}) })
  await env.stubs.add({ ...STUB, method: 'GET' })
  const functions = (await env.stubs.list()).map((stub) => typeof stub.function)
  expect(functions).toEqual(['string', 'undefined'])
})

test('an export leaves out stubs with functions, and lists them in x-mock-reason', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply: () => ({}) })
  const response = await fetch(`${env.url}/_mock/state`, env)
  expect(response.headers.get('x-mock-reason')).toBe(
    'the seed leaves out the stubs with functions: POST /v1/events/trigger'
  )
  expect(await response.json()).not.toHaveProperty('environments[0].stubs')
})

test.each<[string, FunctionStub['reply'], RegExp]>([
  ['throws', () => Promise.reject(new Error('no such user')), /threw Error: no such user$/],
  ['returns nothing', (() => {}) as never, /an invalid response: \[object Undefined\] is not/],
  ['returns a Response', (() => new Response()) as never, /response: \[object Response\] is not/],
  ['misspells a field', (() => ({ statu: 201 })) as never, /: statu is not a known field/],
  ['returns the status 99', () => ({ status: 99 }), /: status must be .* 200 to 599, not 99$/],
  ['sets a hop-by-hop header', () => ({ headers: { upgrade: 'x' } }), /: headers\.upgrade can't/],
  ['returns a large body', () => ({ body: 'x'.repeat(2 ** 20) }), /: body must be at most 1 MiB/],
  ['returns a BigInt', () => ({ body: 1n }), /: body can't be written as JSON$/]
])('responds with 500 and the reason if a function %s', async (_name, reply, reason) => {
  const { env } = await createEnvironment()
  await env.stubs.add({ ...STUB, reply })
  const response = await trigger(env)
  expect(response).toMatchObject({ status: 500, reason: expect.stringMatching(reason) })
  expect(response.reason).toMatch(/^the function of stub-1 \(POST \/v1\/events\/trigger\) /)
  expect(response.headers.get('x-mock-stub')).toBe('stub-1')
})

test('the reason does not contain an API key', async () => {
  const { env } = await createEnvironment()
  await env.stubs.add({
    ...STUB,
    reply() {
      throw new Error(`${env.apiKey} is wrong`)
    }
  })
  expect((await trigger(env)).reason).toMatch(/threw Error: \*\*\* is wrong$/)
})

test('a function fails if it does not return in time, and the reason names the limit', async () => {
  const stub = { ...STUB, id: 'stub-1', status: 200 }
  const hanging: StubFunction = () => new Promise(() => {})
  const request = { apiKey: '', params: {}, query: {}, headers: {}, body: undefined }
  await expect(runFunction(stub, hanging, request, 1)).rejects.toMatchObject({
    code: 'stub-failed',
    details: { reason: expect.stringMatching(/did not return within 0\.001 seconds$/) }
  })
})

test('the server can close while a function is still running', async () => {
  const { mock, env } = await createEnvironment()
  let response: Promise<unknown> | undefined
  await new Promise<void>((called) => {
    const reply = () => {
      called()
      return new Promise<never>(() => {})
    }
    response = env.stubs.add({ ...STUB, reply }).then(() => trigger(env))
    response.catch(() => {})
  })
  await mock.close(0)
  await expect(response).rejects.toBeInstanceOf(TypeError)
})

test('a client from `connect` rejects functions, which need `createMock`', async () => {
  const { mock, env } = await createEnvironment()
  const remote = connect(mock.url).attach(env.apiKey)
  await expect(remote.stubs.add({ ...STUB, reply: () => ({}) })).rejects.toThrow(
    /^`reply` needs a client from createMock; /
  )
})

test('rejects a stub that has both a function and a fixed response', async () => {
  const { env } = await createEnvironment()
  const stub = { ...STUB, reply: () => ({}), status: 201, body: 'a' }
  await expect(env.stubs.add(stub)).rejects.toThrow(
    'status must be returned by the function; body must be returned by the function'
  )
})

test('rejects a stub whose function id is unknown', async () => {
  const { env } = await createEnvironment()
  await expect(env.stubs.add({ ...STUB, function: 'nope' })).rejects.toThrow(
    "function is not the id of a function in the server's process; " +
      'to add a function, pass it to `env.stubs.add()` as `reply`'
  )
})

test('after a restart, a stub responds with 500 because its function is lost', async () => {
  const stub = { ...STUB, id: 'stub-1', status: 200 }
  const request = { apiKey: '', params: {}, query: {}, headers: {}, body: undefined }
  await expect(runFunction(stub, undefined, request)).rejects.toMatchObject({
    details: { reason: expect.stringMatching(/was lost when the server restarted; add/) }
  })
})

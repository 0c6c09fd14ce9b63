import { createConnection, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { RecordedRequest } from '../../src/journal/schemas.js'
import type { TestMock, TestResponse } from './mock.js'

/** API keys in the default seed. The first two belong to environments of one organization. */
export const DEVELOPMENT = 'development-key'
export const PRODUCTION = 'production-key'
export const OTHER_ORGANIZATION = 'other-organization-key'

/** Email integrations in the default seed. SendGrid is the primary. */
export const SENDGRID = '66f1c2a47c9b1a0012ad0001'
export const MAILGUN = '66f1c2a47c9b1a0012ad0002'

export const setPrimary = (id: string) => `/v1/integrations/${id}/set-primary`

type Control = Pick<TestMock, 'get' | 'post' | 'call'>

export async function journalOf(
  mock: Control,
  query = '',
  key?: string
): Promise<RecordedRequest[]> {
  return (await mock.get(`/_mock/requests${query}`, key ? { key } : {})).json.requests
}

export async function unauthenticatedJournalOf(mock: Control): Promise<RecordedRequest[]> {
  return (await mock.get('/_mock/requests/unauthenticated')).json.requests
}

export function send(
  mock: Control,
  method: string,
  path: string,
  body: unknown,
  key?: string
): Promise<TestResponse> {
  return mock.call(path, { method, body: JSON.stringify(body), ...(key && { key }) })
}

export function addFault(mock: Control, fault: unknown, key?: string): Promise<TestResponse> {
  return send(mock, 'POST', '/_mock/faults', fault, key)
}

export const reset = (mock: Control, body: unknown = {}, key?: string) =>
  send(mock, 'POST', '/_mock/reset', body, key)
export const setClock = (mock: Control, clock: unknown, key?: string) =>
  send(mock, 'PUT', '/_mock/clock', clock, key)
/** Sets an environment's `randomSeed`, which control routes can set only by loading a seed. */
export function setRandomSeed({ services }: TestMock, randomSeed: number, key = DEVELOPMENT): void {
  const environment = services.environments.findByApiKey(key)
  if (!environment) throw new Error(`no environment has the key ${key}`)
  services.environments.changeSettings(environment, { randomSeed })
}

export const setLatency = (mock: Control, latency: unknown, key?: string) =>
  send(mock, 'PUT', '/_mock/latency', latency, key)

export function create(mock: Control, options: unknown): Promise<TestResponse> {
  return send(mock, 'POST', '/_mock/environments', options)
}

export function verify(mock: Control, verification: unknown, key?: string): Promise<TestResponse> {
  return send(mock, 'POST', '/_mock/requests/verify', verification, key)
}

/** Waits until the condition holds. Checks it on every turn of the event loop. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

export interface RawConnection {
  socket: Socket
  /** Returns everything received so far. */
  text(): string
  closed: Promise<Error | undefined>
}

/** Opens a TCP connection to the server and sends the text unchanged. */
export function raw(mock: TestMock, text: string): RawConnection {
  const socket = createConnection(mock.port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
  })
  const received: Buffer[] = []
  let failure: Error | undefined
  socket.on('data', (chunk) => received.push(chunk)).on('error', (error) => (failure = error))
  const closed = new Promise<Error | undefined>((resolve) =>
    socket.once('close', () => resolve(failure))
  )
  socket.write(text)
  return { socket, text: () => Buffer.concat(received).toString(), closed }
}

export const head = (line: string, ...headers: string[]) =>
  [
    `${line} HTTP/1.1`,
    'host: mock',
    `authorization: ApiKey ${DEVELOPMENT}`,
    ...headers,
    '',
    ''
  ].join('\r\n')

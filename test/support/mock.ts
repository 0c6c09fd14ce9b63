import { onTestFinished } from 'vitest'
import type { EnvironmentData } from '../../src/seeds/environment-data.js'
import { type Server, type ServerOptions, startServer } from '../../src/server.js'
import { type Contract, contractOf } from './contract.js'

export interface Call {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The API key; null sends none. The first environment's if left out. */
  key?: string | null
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read into answers that have been checked against the contract
  json: any
}

export interface GivenMock extends Omit<Server, 'worlds'> {
  /** All that the seeds describe. */
  worlds: EnvironmentData[]
  /** Sends a request over a real socket; the answer has been checked against the published document. */
  call(path: string, call?: Call): Promise<Answer>
  get(path: string, call?: Call): Promise<Answer>
  post(path: string, call?: Call): Promise<Answer>
}

/**
 * A server of its own for one test, on a real socket, in memory unless told otherwise, and closed when the test ends.
 * Without `seed` or `seeds` it has the default seed.
 */
export async function givenMock(options: ServerOptions = {}): Promise<GivenMock> {
  const server = await startServer({ port: 0, logLevel: 'silent', ...options })
  onTestFinished(() => server.app.close())
  // From its source the server has no template, and so has read the seeds itself.
  return {
    ...server,
    worlds: server.worlds as EnvironmentData[],
    ...clientOf(server.url, server.worlds[0]?.apiKeys[0])
  }
}

/** The paths that are described by the document of the control routes. */
const CONTROL = /^\/(_mock|health)(?![^/?#])/

/** Calls to a server at this address, each answer checked against the document that it publishes for the key. */
export function clientOf(url: string, firstKey: string | undefined): Pick<GivenMock, 'call' | 'get' | 'post'> {
  const contracts = new Map<string, Promise<Contract>>()

  async function call(
    path: string,
    { method = 'GET', headers = {}, body, key = firstKey }: Call = {}
  ): Promise<Answer> {
    const authorization = key == null ? undefined : `ApiKey ${key}`
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(authorization && { authorization }), ...headers },
      ...(body !== undefined && { body })
    })
    const answer = { status: response.status, headers: response.headers, text: await response.text() }
    const contract = await (CONTROL.test(path)
      ? contractFor('control', fetchControlDocument)
      : contractFor(headers.authorization ?? headers.Authorization ?? authorization, fetchDocument))
    contract.check({ method, path, ...answer })
    return {
      ...answer,
      get json() {
        return JSON.parse(answer.text)
      }
    }
  }

  function contractFor(
    authorization: string | undefined,
    fetchIt: (authorization: string | undefined) => Promise<unknown>
  ): Promise<Contract> {
    const known = contracts.get(authorization ?? '')
    if (known) return known
    const made = fetchIt(authorization).then(contractOf)
    contracts.set(authorization ?? '', made)
    return made
  }

  async function fetchControlDocument(): Promise<unknown> {
    return (await fetch(`${url}/_mock/openapi.json`)).json()
  }

  /** That of the key's environment; for a key that is refused, that of the server. */
  async function fetchDocument(authorization: string | undefined): Promise<unknown> {
    const own = await fetch(`${url}/openapi.json`, authorization ? { headers: { authorization } } : {})
    return own.ok ? own.json() : (await fetch(`${url}/openapi.json`)).json()
  }

  return {
    call,
    get: (path, options) => call(path, options),
    post: (path, options) => call(path, { method: 'POST', ...options })
  }
}

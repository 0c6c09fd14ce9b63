import { onTestFinished } from 'vitest'
import type { ControlServices } from '../../src/control/services.js'
import { lazily } from '../../src/domain/lazily.js'
import { directFetch } from '../../src/platform/direct-fetch.js'
import type { EnvironmentData } from '../../src/seeds/format.js'
import { readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { seedService } from '../../src/seeds/service.js'
import { type Server, type ServerOptions, startServer } from '../../src/server.js'
import { type Contract, contractOf } from './contract.js'
import { environmentRows } from './rows.js'

export interface TestRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** The API key. `null` sends no key. Default: the key of the first environment. */
  key?: string | null
}

export interface TestResponse {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the client has checked the response
  json: any
}

export interface TestMockOptions extends ServerOptions {
  /** Stops the server's wall clock at this time, in milliseconds since 1970. */
  now?: number
}

export interface TestClient {
  /** Sends a request over a real socket, and checks the response against the OpenAPI document. */
  call(path: string, call?: TestRequest): Promise<TestResponse>
  get(path: string, call?: TestRequest): Promise<TestResponse>
  post(path: string, call?: TestRequest): Promise<TestResponse>
}

export interface TestMock extends Omit<Server, 'services'>, TestClient {
  services: ControlServices
  /** The environments that the seeds describe, with all defaults filled in. */
  readonly seededEnvironments: readonly EnvironmentData[]
}

/**
 * Returns a server in its initial state, on a real socket. By default, the server has the default
 * seed and keeps its data in memory. If an earlier test used a server with the same options, that
 * server is reset and reused. Tests that run at the same time never share a server.
 *
 * A server isn't reused in these cases:
 *
 * - Its options contain a data file, a logger or a function. Such options can't be compared.
 * - The test read its `app` or `services`, or created or dropped a table, index or trigger.
 * - A reset doesn't restore its records.
 *
 * A test that changes anything else that a reset doesn't restore must call `useNewMock`.
 */
export async function useMock(options: TestMockOptions = {}): Promise<TestMock> {
  const name = nameOf(options)
  if (name === undefined) return useNewMock(options)
  const index = idle.findLastIndex((server) => server.name === name)
  const [used] = index < 0 ? [] : idle.splice(index, 1)
  const shared = used && (await isReset(used)) ? used : await startShared(name, options)
  onTestFinished(() => giveBack(shared))
  return shared.mock
}

/** Returns a new server, which is closed when the test ends. */
export async function useNewMock(options: TestMockOptions = {}): Promise<TestMock> {
  const mock = await startMock(options)
  onTestFinished(() => mock.app.close())
  return mock
}

interface SharedMock {
  /** The options as JSON. */
  name: string
  mock: TestMock
  /** The same server, without the getters that set `touched`. */
  server: TestMock
  /** The results of `tablesOf` and `rowsOf` right after the server's start. */
  tables: string
  rows: string
  /** Whether the test has read `app` or `services`. */
  touched: boolean
}

/** Servers that no test is using. The most recently used ones are at the end. */
const idle: SharedMock[] = []
/**
 * The maximum number of idle servers. With 0, each test gets a new server, as
 * test/mutation/dry-run.ts requires.
 */
const MAX_IDLE = process.env.FRESH_MOCKS ? 0 : 8

/** Returns the options as JSON, or undefined if a server with these options can't be shared. */
function nameOf(options: TestMockOptions): string | undefined {
  const isOwn =
    options.data !== undefined ||
    Object.values(options).some((value) => typeof value === 'function')
  return isOwn || options.logger ? undefined : JSON.stringify(options)
}

async function startShared(name: string, options: TestMockOptions): Promise<SharedMock> {
  const server = await startMock(options)
  // A spread would read the getter `seededEnvironments`, which parses all seeds.
  const mock: TestMock = Object.create(null, Object.getOwnPropertyDescriptors(server))
  const shared: SharedMock = {
    name,
    mock,
    server,
    tables: tablesOf(server),
    rows: rowsOf(server),
    touched: false
  }
  for (const part of ['app', 'services'] as const) {
    Object.defineProperty(mock, part, {
      get: () => {
        shared.touched = true
        return server[part]
      }
    })
  }
  // An idle server must not keep the process alive.
  server.app.server.unref()
  return shared
}

/**
 * Keeps the server for reuse, or closes it if the test may have left traces that a reset doesn't
 * remove. A kept server is reset only when a test reuses it, because most servers are never reused.
 */
async function giveBack(shared: SharedMock): Promise<void> {
  const { app } = shared.server
  if (shared.touched || !app.server.listening || tablesOf(shared.server) !== shared.tables)
    return app.close()
  idle.push(shared)
  if (idle.length > MAX_IDLE) await idle.shift()?.server.app.close()
}

/** Resets a server. If that doesn't restore its initial state, closes it and returns false. */
async function isReset({ server, rows }: SharedMock): Promise<boolean> {
  const { url, app, services, first } = server as TestMock & { first: ReturnType<typeof keysOf> }
  const { environments, coverage, journals } = services
  for (const environment of environments.list()) {
    if (!first.some(({ id }) => id === environment.id)) environments.remove(environment)
  }
  coverage.clearAll()
  const resets = await Promise.all(
    first.map(async ({ apiKeys: [key] }) => {
      const headers = { authorization: `ApiKey ${key}` }
      const { ok } = await fetch(`${url}/_mock/reset`, { method: 'POST', headers })
      return (
        ok &&
        (await (await fetch(`${url}/_mock/snapshots`, { headers })).text()) === '{"snapshots":[]}'
      )
    })
  )
  // Clear the journals last, because they record the resets as changes.
  const keys = environments.list().map((environment) => environment.key)
  for (const key of [...keys, undefined]) journals.drop(key)
  const isAsAtStart = resets.every(Boolean) && rowsOf(server) === rows
  if (!isAsAtStart) await app.close()
  return isAsAtStart
}

/** Returns a string that changes whenever a table, index or trigger is created or dropped. */
const tablesOf = ({ db }: Pick<Server, 'db'>): string =>
  ['schema_version', 'temp.schema_version']
    .map((name) => db.client.pragma(name, { simple: true }))
    .join()

/** Returns the records of all environments as JSON. */
const rowsOf = ({ db }: Pick<Server, 'db'>): string => JSON.stringify(environmentRows(db.client))

/** Starts a server that the caller has to close. */
export async function startMock({ now, ...rest }: TestMockOptions): Promise<TestMock> {
  const options = now === undefined ? rest : { ...rest, clock: () => now }
  // Round to whole seconds, so that servers started in the same second share a database image.
  const startedAt = options.clock?.() ?? Math.floor(Date.now() / 1000) * 1000
  let isStarting = true
  // Stop the clock during the start, so that the server's data has the same timestamps as
  // `seededEnvironments`.
  const startClock = () => (isStarting ? startedAt : Date.now())
  const { clock = startClock } = options
  const server = await startServer({ port: 0, logLevel: 'silent', ...options, clock })
  isStarting = false
  const { db, services } = server
  const { environments } = services
  const first = keysOf(services)
  const { seed } = options
  const { seeds: files = seed === undefined ? ['default'] : [] } = options
  const allSeeds = [...files, ...(seed === undefined ? [] : [{ name: 'seed', seed }])]
  const seeded = lazily(() => resolveSeeds(readSeeds(allSeeds), startedAt))
  return {
    ...server,
    ...clientOf(server.url, first[0]?.apiKeys[0]),
    services: Object.defineProperty({ ...services } as ControlServices, 'seeds', {
      get: lazily(() => seedService({ db, clock, environments }))
    }),
    ...{ first },
    get seededEnvironments() {
      return seeded()
    }
  }
}

const keysOf = ({ environments }: Server['services']) =>
  environments
    .list()
    .map((environment) => ({ id: environment.id, apiKeys: environments.apiKeysOf(environment) }))

/** Matches the paths of control routes, which have their own OpenAPI document. */
const CONTROL = /^\/(_mock|health)(?![^/?#])/

/** Returns a client that checks all responses against the server's OpenAPI documents. */
export function clientOf(url: string, firstKey: string | undefined): TestClient {
  const contractFor = createContractCache(url)

  async function call(
    path: string,
    { method = 'GET', headers = {}, body, key = firstKey }: TestRequest = {}
  ): Promise<TestResponse> {
    const authorization = key == null ? undefined : `ApiKey ${key}`
    // The global `fetch` takes three times as much CPU time.
    const response = await directFetch(`${url}${path}`, {
      method,
      headers: { ...(authorization && { authorization }), ...headers },
      ...(body !== undefined && { body })
    })
    const result = {
      status: response.status,
      headers: new Headers([...response.headers]),
      text: await response.text()
    }
    const sentAuthorization = headers.authorization ?? headers.Authorization ?? authorization
    const contract = await contractFor(path, sentAuthorization)
    // The OpenAPI document doesn't describe the responses of stubs and of the fallback server.
    const isOwn = !response.headers.has('x-mock-stub') && !response.headers.has('x-mock-fallback')
    if (isOwn) contract.check({ method, path, ...result })
    return {
      ...result,
      get json() {
        return JSON.parse(result.text)
      }
    }
  }

  return {
    call,
    get: (path, options) => call(path, options),
    post: (path, options) => call(path, { method: 'POST', ...options })
  }
}

/**
 * Returns a function that finds the contract for the response to a request. Fetches each OpenAPI
 * document only once.
 */
function createContractCache(url: string) {
  const contracts = new Map<string, Promise<Contract>>()
  return (path: string, authorization = ''): Promise<Contract> => {
    const isControl = CONTROL.test(path)
    const key = isControl ? 'control' : authorization
    const contract =
      contracts.get(key) ??
      (isControl ? fetchControlDocument(url) : fetchDocument(url, authorization)).then(contractOf)
    contracts.set(key, contract)
    return contract
  }
}

async function fetchControlDocument(url: string): Promise<string> {
  return (await fetch(`${url}/_mock/openapi.json`)).text()
}

/**
 * Fetches the OpenAPI document of the API key's environment. Without a valid key, fetches the
 * document with the server's default assumptions.
 */
async function fetchDocument(url: string, authorization: string): Promise<string> {
  const response = await fetch(
    `${url}/openapi.json`,
    authorization ? { headers: { authorization } } : {}
  )
  return response.ok ? response.text() : (await fetch(`${url}/openapi.json`)).text()
}

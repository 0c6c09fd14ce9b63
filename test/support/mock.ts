import { onTestFinished } from 'vitest'
import type { Services } from '../../src/control/services.js'
import { lazily } from '../../src/domain/lazily.js'
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
  body?: string
  /** The API key; null sends none. The first environment's if left out. */
  key?: string | null
}

export interface TestResponse {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read into answers that have been checked against the contract
  json: any
}

export interface TestMockOptions extends ServerOptions {
  /** The time at which the wall clock stands, in milliseconds. Not for a test with a clock of its own. */
  now?: number
}

export interface TestMock extends Omit<Server, 'services'> {
  services: Services
  /** What its seeds describe. */
  readonly seededEnvironments: readonly EnvironmentData[]
  /** Sends a request over a real socket; the answer has been checked against the published document. */
  call(path: string, call?: TestRequest): Promise<TestResponse>
  get(path: string, call?: TestRequest): Promise<TestResponse>
  post(path: string, call?: TestRequest): Promise<TestResponse>
}

/**
 * A server in the state of its start, on a real socket, in memory unless told otherwise: one that earlier tests with the
 * same options have used and that has been reset, or else a new one. Tests that run at the same time never get the same.
 * Without `seed` or `seeds` it has the default seed.
 *
 * A server is not used again if the test has read its `app` or `services`, has left other rows than a reset restores, or
 * has options that can't be compared (a data file, a logger, functions). A test that leaves other traces, such as
 * temporary triggers that fire later, takes `useNewMock`.
 */
export async function useMock(options: TestMockOptions = {}): Promise<TestMock> {
  const name = nameOf(options)
  if (name === undefined) return useNewMock(options)
  const found = idle.findLastIndex((each) => each.name === name)
  const [used] = found < 0 ? [] : idle.splice(found, 1)
  const shared = used && (await isReset(used)) ? used : await startShared(name, options)
  onTestFinished(() => giveBack(shared))
  return shared.mock
}

/** As `useMock`, but always a new server, which is closed when the test ends. */
export async function useNewMock(options: TestMockOptions = {}): Promise<TestMock> {
  const mock = await startMock(options)
  onTestFinished(() => mock.app.close())
  return mock
}

interface SharedMock {
  /** Its options. */
  name: string
  mock: TestMock
  /** The same, without a note of what a test reads. */
  server: TestMock
  /** Its tables and rows when it had just been seeded. */
  tables: string
  rows: string
  /** Whether the test has read what lies behind the routes. */
  touched: boolean
}

/** Servers that no test uses at the moment, those that were used last at the end. */
const idle: SharedMock[] = []
/** None where each test shall have a new one: test/mutation/dry-run.ts. */
const MAX_IDLE = process.env.FRESH_MOCKS ? 0 : 8

/** The same for the same options; undefined if a server with them can't be shared. */
function nameOf(options: TestMockOptions): string | undefined {
  const isOwn =
    options.data !== undefined ||
    Object.values(options).some((value) => typeof value === 'function')
  return isOwn || options.logger ? undefined : JSON.stringify(options)
}

async function startShared(name: string, options: TestMockOptions): Promise<SharedMock> {
  const server = await startMock(options)
  const mock: TestMock = Object.defineProperties(
    { ...server },
    Object.getOwnPropertyDescriptors(server)
  )
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
  // The end of the process does not wait for it.
  server.app.server.unref()
  return shared
}

/** It is reset only when it is used again: most seeds are those of one test, and the control routes are loaded for it. */
async function giveBack(shared: SharedMock): Promise<void> {
  const { app } = shared.server
  if (shared.touched || !app.server.listening || tablesOf(shared.server) !== shared.tables)
    return app.close()
  idle.push(shared)
  if (idle.length > MAX_IDLE) await idle.shift()?.server.app.close()
}

/** Resets every environment and forgets all requests; closes a server that then is not as it was when it had started. */
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
  // After the resets, which are changes.
  for (const key of [...environments.list().map((each) => each.key), undefined]) journals.drop(key)
  const isAsAtStart = resets.every(Boolean) && rowsOf(server) === rows
  if (!isAsAtStart) await app.close()
  return isAsAtStart
}

/** Another text once a table, an index or a trigger has come or gone. */
const tablesOf = ({ db }: Pick<Server, 'db'>): string =>
  ['schema_version', 'temp.schema_version']
    .map((name) => db.client.pragma(name, { simple: true }))
    .join()

/** All that the environments have. */
const rowsOf = ({ db }: Pick<Server, 'db'>): string => JSON.stringify(environmentRows(db.client))

/** A new server, which is not closed when a test ends. */
export async function startMock({ now, ...rest }: TestMockOptions): Promise<TestMock> {
  const options = now === undefined ? rest : { ...rest, clock: () => now }
  const server = await startServer({ port: 0, logLevel: 'silent', ...options })
  const { db, services } = server
  const { environments } = services
  const first = keysOf(services)
  const { clock = Date.now, seed } = options
  const { seeds: files = seed === undefined ? ['default'] : [] } = options
  const given = [...files, ...(seed === undefined ? [] : [{ name: 'seed', seed }])]
  const seeded = lazily(() => resolveSeeds(readSeeds(given), clock()))
  return {
    ...server,
    ...clientOf(server.url, first[0]?.apiKeys[0]),
    services: Object.defineProperty({ ...services } as Services, 'seeds', {
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

/** The paths that are described by the document of the control routes. */
const CONTROL = /^\/(_mock|health)(?![^/?#])/

/** Calls to a server at this address, each answer checked against the document that it publishes for the key. */
export function clientOf(
  url: string,
  firstKey: string | undefined
): Pick<TestMock, 'call' | 'get' | 'post'> {
  const contracts = new Map<string, Promise<Contract>>()

  async function call(
    path: string,
    { method = 'GET', headers = {}, body, key = firstKey }: TestRequest = {}
  ): Promise<TestResponse> {
    const authorization = key == null ? undefined : `ApiKey ${key}`
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(authorization && { authorization }), ...headers },
      ...(body !== undefined && { body })
    })
    const answer = {
      status: response.status,
      headers: response.headers,
      text: await response.text()
    }
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
    fetchIt: typeof fetchDocument
  ): Promise<Contract> {
    const contract = contracts.get(authorization ?? '') ?? fetchIt(authorization).then(contractOf)
    contracts.set(authorization ?? '', contract)
    return contract
  }

  async function fetchControlDocument(): Promise<string> {
    return (await fetch(`${url}/_mock/openapi.json`)).text()
  }

  /** That of the key's environment; for a key that is refused, that of the server. */
  async function fetchDocument(authorization: string | undefined): Promise<string> {
    const own = await fetch(
      `${url}/openapi.json`,
      authorization ? { headers: { authorization } } : {}
    )
    return own.ok ? own.text() : (await fetch(`${url}/openapi.json`)).text()
  }

  return {
    call,
    get: (path, options) => call(path, options),
    post: (path, options) => call(path, { method: 'POST', ...options })
  }
}

import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { DEFAULTS } from '../../src/config.js'
import { buildServices } from '../../src/control/services.js'
import { openDatabase } from '../../src/db/open.js'
import {
  expectSound,
  givenEnvironment,
  rowCounts
} from '../control/environments/environment-client.js'
import { type TestMock, useMock } from '../support/mock.js'
import { startOpenRequest } from '../support/open-request.js'
import { createTempFolder } from '../support/process.js'

const MINUTE = 60_000
const FIXED = Date.parse('2026-02-18T10:00:00.000Z')

/** The services over a database, whose clock stands still, and a machine whose time passes when the test says so. */
function given(file?: string) {
  const { db, close } = openDatabase(file)
  let time = Date.now()
  const options = {
    db,
    clock: () => FIXED,
    machineClock: () => time,
    defaults: DEFAULTS,
    journal: 10
  }
  const services = buildServices(options)
  const end = () => {
    services.environments.close()
    close()
  }
  onTestFinished(end)
  return {
    ...services,
    db,
    end,
    create: (ttl?: number) =>
      services.seeds.createEnvironment({ ...(ttl !== undefined && { ttl }) }),
    pass(milliseconds: number) {
      time += milliseconds
      services.environments.removeExpired()
    },
    names: () => services.environments.list().map(({ name }) => name)
  }
}

const listed = async (
  mock: TestMock
): Promise<{ name: string; ttl?: number; expiresAt?: string }[]> =>
  (await mock.get('/_mock/environments', { key: null })).json.environments

test('an environment is removed with all its rows when it was unused for its ttl, and no other is', async () => {
  const mock = given()
  await mock.create()
  const before = rowCounts(mock.db)
  const { environment, apiKey } = await mock.create(MINUTE)
  mock.pass(MINUTE - 1)
  expect(mock.names()).toEqual(['Unnamed', 'Unnamed 2'])
  mock.pass(1)
  expect(mock.names()).toEqual(['Unnamed'])
  expect(mock.environments.findByApiKey(apiKey)).toBeUndefined()
  expect(() => mock.environments.assertExists(environment)).toThrow('API Key not found')
  expect(rowCounts(mock.db)).toEqual(before)
  mock.pass(1000 * MINUTE)
  expect(mock.names()).toEqual(['Unnamed'])
})

test('a request with its key, one that names it and a fork of it begin its time again', async () => {
  const mock = given()
  const { environment, apiKey } = await mock.create(MINUTE)
  mock.pass(2)
  for (const use of [
    () => mock.environments.findByApiKey(apiKey),
    () => mock.environments.find(environment.id),
    () => mock.seeds.createEnvironment({ from: environment.id, name: 'Fork', ttl: 1 })
  ]) {
    mock.pass(MINUTE - 3)
    await use()
    mock.pass(2)
    expect(mock.names()).toEqual(['Unnamed'])
  }
  mock.pass(MINUTE - 2)
  expect(mock.names()).toEqual([])
})

test('a list says by its own time until when each is there, and uses none; a step of the clock removes nothing', async () => {
  const mock = await useMock()
  const { name } = await givenEnvironment(mock, { ttl: '1h' })
  const find = async () => (await listed(mock)).find((each) => each.name === name)
  const first = await find()
  expect(await find()).toEqual(first)
  expect(first).toMatchObject({ ttl: 60 * MINUTE })
  onTestFinished(() => void vi.useRealTimers())
  const now = Date.now()
  for (const [time, told] of [
    [now, first],
    [now + 600 * MINUTE, undefined]
  ] as const) {
    vi.setSystemTime(time)
    mock.services.environments.removeExpired()
    const left = Date.parse((told ?? (await find()))?.expiresAt ?? '') - time
    expect(left > 55 * MINUTE && left <= 60 * MINUTE + 1000).toBe(true)
  }
})

test('while a request is open the time of its environment does not end, and begins again after that', async () => {
  const mock = await useMock()
  const { environmentId, apiKey } = await givenEnvironment(mock, { ttl: '1h' })
  const { environments } = mock.services
  const environment = environments.find(environmentId)
  /** Whether it is there when so much more of its time has passed without use. */
  const pass = (milliseconds: number) => {
    environment.lastUsed -= milliseconds
    environments.removeExpired()
    return environments.list().includes(environment)
  }
  for (const [path, body, status] of [
    ['/_mock/seed', '{"messages": []}', 200],
    ['/v1/integrations/unknown/set-primary', '{}', 404]
  ] as const) {
    const call = await startOpenRequest(mock.url + path, { authorization: `ApiKey ${apiKey}` })
    expect([pass(60 * MINUTE), pass(60 * MINUTE)]).toEqual([true, true])
    const begun = environment.lastUsed
    call.request.write(body)
    expect(await call.finish()).toMatchObject({ status })
    await vi.waitFor(() => expect(environment.lastUsed).toBeGreaterThan(begun))
  }
  // A stream, though the client is silent.
  const abort = new AbortController()
  const headers = { authorization: `ApiKey ${apiKey}` }
  await fetch(`${mock.url}/_mock/requests/stream`, { headers, signal: abort.signal })
  expect([pass(60 * MINUTE), pass(60 * MINUTE)]).toEqual([true, true])
  abort.abort()
  await vi.waitFor(() => expect(environment.openRequests).toBe(0))
  expect([pass(59 * MINUTE), pass(MINUTE)]).toEqual([true, false])
})

test('a server removes what is unused by itself, though its own clock stands still', async () => {
  const mock = await useMock({ now: FIXED })
  const before = rowCounts(mock.db)
  const { apiKey } = await givenEnvironment(mock, { from: 'Development', ttl: '30ms' })
  await vi.waitFor(() => expect(rowCounts(mock.db)).toEqual(before), { timeout: 20_000 })
  expect((await mock.get('/v1/messages', { key: apiKey })).status).toBe(401)
  expectSound(mock.db)
})

test('the ttl holds after a restart on a data file, and counts from the start', async () => {
  const folder = createTempFolder()
  const first = given(join(folder, 'mock.db'))
  await first.create(MINUTE)
  await first.create()
  first.pass(MINUTE - 1)
  first.end()

  const second = given(join(folder, 'mock.db'))
  second.pass(MINUTE - 1)
  expect(second.names()).toEqual(['Unnamed', 'Unnamed 2'])
  second.pass(1)
  expect(second.names()).toEqual(['Unnamed 2'])
})

import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { DEFAULTS } from '../../src/config.js'
import { createControlServices } from '../../src/control/services.js'
import { openDatabase } from '../../src/db/open.js'
import {
  createEnvironment,
  expectConsistentDatasets,
  rowCounts
} from '../control/environments/environment-client.js'
import { type TestMock, useMock } from '../support/mock.js'
import { startOpenRequest } from '../support/open-request.js'
import { createTempFolder } from '../support/process.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const FIXED = Date.parse('2026-02-18T10:00:00.000Z')

/**
 * Creates services with a fixed clock. The machine clock, which determines when a ttl ends, moves
 * only when `pass` is called.
 */
function createServices(file?: string) {
  const { db, close } = openDatabase(file)
  let time = Date.now()
  const services = createControlServices({
    db,
    clock: () => FIXED,
    machineClock: () => time,
    defaults: DEFAULTS,
    journal: 10
  })
  const { environments } = services
  const stop = () => {
    environments.close()
    close()
  }
  onTestFinished(stop)
  return {
    ...services,
    db,
    stop,
    pass(milliseconds: number) {
      time += milliseconds
      environments.removeExpired()
    },
    names: () => environments.list().map(({ name }) => name)
  }
}

describe('an environment with a ttl', () => {
  test('is removed with all its rows after the ttl, while other environments stay', () => {
    const { environments, db, pass, names } = createServices()
    environments.create({})
    const before = rowCounts(db)
    const { environment, apiKey } = environments.create({ ttl: MINUTE })
    pass(MINUTE - 1)
    expect(names()).toEqual(['Unnamed', 'Unnamed 2'])
    pass(1)
    expect(names()).toEqual(['Unnamed'])
    expect(environments.findByApiKey(apiKey)).toBeUndefined()
    expect(() => environments.assertExists(environment)).toThrow('API Key not found')
    expect(rowCounts(db)).toEqual(before)
    pass(1000 * MINUTE)
    expect(names()).toEqual(['Unnamed'])
  })

  test.each(['a request with its key', 'a request by its id', 'a fork'])(
    'restarts its ttl on %s',
    (use) => {
      const { environments, pass, names } = createServices()
      const { environment, apiKey } = environments.create({ ttl: MINUTE })
      pass(MINUTE - 1)
      if (use === 'a request with its key') environments.findByApiKey(apiKey)
      if (use === 'a request by its id') environments.find(environment.id)
      if (use === 'a fork') environments.create({ from: environment.id, name: 'Fork', ttl: 1 })
      pass(MINUTE - 1)
      expect(names()).toEqual(['Unnamed'])
      pass(1)
      expect(names()).toEqual([])
    }
  )

  test('is kept for a full ttl after the server restarts with its data file', () => {
    const file = join(createTempFolder(), 'mock.db')
    const first = createServices(file)
    first.environments.create({ ttl: MINUTE })
    first.environments.create({})
    first.pass(MINUTE - 1)
    first.stop()

    const second = createServices(file)
    second.pass(MINUTE - 1)
    expect(second.names()).toEqual(['Unnamed', 'Unnamed 2'])
    second.pass(1)
    expect(second.names()).toEqual(['Unnamed 2'])
  })

  test("is removed even if the server's clock is fixed", async () => {
    const mock = await useMock({ now: FIXED })
    const before = rowCounts(mock.db)
    const { apiKey } = await createEnvironment(mock, { from: 'Development', ttl: '30ms' })
    await vi.waitFor(() => expect(rowCounts(mock.db)).toEqual(before), { timeout: 20_000 })
    expect((await mock.get('/v1/messages', { key: apiKey })).status).toBe(401)
    expectConsistentDatasets(mock.db)
  })
})

interface Listed {
  name: string
  ttl?: number
  expiresAt?: string
}

async function findListed(mock: TestMock, name: string): Promise<Listed | undefined> {
  const { json } = await mock.get('/_mock/environments', { key: null })
  return json.environments.find((environment: Listed) => environment.name === name)
}

/** Expects `expiresAt` to be an hour after `from`, or up to 5 minutes less if the test is slow. */
function expectAboutAnHour(from: number, { expiresAt = '' }: Listed = { name: '' }): void {
  const left = Date.parse(expiresAt) - from
  expect(left > 55 * MINUTE && left <= HOUR + 1000, `${left} ms`).toBe(true)
}

describe('the list of environments', () => {
  test('shows when the ttl ends, and does not restart the ttl', async () => {
    const mock = await useMock()
    const { name } = await createEnvironment(mock, { ttl: '1h' })
    const listed = await findListed(mock, name)
    expect(listed).toMatchObject({ ttl: HOUR })
    expectAboutAnHour(Date.now(), listed)
    expect(await findListed(mock, name)).toEqual(listed)
  })

  test('shows the correct end of the ttl after a change of the system clock', async () => {
    const mock = await useMock()
    const { name } = await createEnvironment(mock, { ttl: '1h' })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const later = Date.now() + 10 * HOUR
    vi.setSystemTime(later)
    mock.services.environments.removeExpired()
    expectAboutAnHour(later, await findListed(mock, name))
  })
})

/**
 * Creates an environment with a ttl of an hour. `passUnused` simulates time without requests, and
 * returns whether the environment still exists afterward.
 */
async function useExpiringEnvironment() {
  const mock = await useMock()
  const { environmentId, apiKey } = await createEnvironment(mock, { ttl: '1h' })
  const { environments } = mock.services
  const environment = environments.find(environmentId)
  const passUnused = (milliseconds: number) => {
    environment.lastUsed -= milliseconds
    environments.removeExpired()
    return environments.list().includes(environment)
  }
  return { mock, environment, headers: { authorization: `ApiKey ${apiKey}` }, passUnused }
}

describe('an open request', () => {
  test.each([
    ['/_mock/seed', '{"messages": []}', 200],
    ['/v1/integrations/unknown/set-primary', '{}', 404]
  ])(
    'keeps the environment, and restarts the ttl when the request ends: POST %s',
    async (path, body, status) => {
      const { mock, environment, headers, passUnused } = await useExpiringEnvironment()
      const { request, finish } = await startOpenRequest(mock.url + path, headers)
      expect([passUnused(HOUR), passUnused(HOUR)]).toEqual([true, true])
      const { lastUsed } = environment
      request.write(body)
      expect(await finish()).toMatchObject({ status })
      await vi.waitFor(() => expect(environment.lastUsed).toBeGreaterThan(lastUsed))
    }
  )

  test('for a stream keeps the environment, even if no other request is sent', async () => {
    const { mock, environment, headers, passUnused } = await useExpiringEnvironment()
    const abort = new AbortController()
    await fetch(`${mock.url}/_mock/requests/stream`, { headers, signal: abort.signal })
    expect([passUnused(HOUR), passUnused(HOUR)]).toEqual([true, true])
    abort.abort()
    await vi.waitFor(() => expect(environment.openRequests).toBe(0))
    expect([passUnused(59 * MINUTE), passUnused(MINUTE)]).toEqual([true, false])
  })
})

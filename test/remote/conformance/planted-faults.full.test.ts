import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Profile } from '../../../src/domain/assumptions.js'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { type Server, startServer } from '../../../src/server.js'
import { DEVELOPMENT } from '../../support/control.js'
import { PLANTED_FAULTS } from './planted-faults/index.js'
import { startProxy } from './proxy.js'
import { checkTarget, failuresIn } from './run-conformance.js'

const servers = new Map<string, Server>()

beforeAll(async () => {
  for (const profile of ['document', 'live'] as const) {
    const server = await startServer({ port: 0, logLevel: 'silent', profile })
    servers.set(profile, server)
    await addMessage(server.url)
  }
})

afterAll(async () => {
  for (const { app } of servers.values()) await app.close()
})

/** Adds a message whose transaction id has a space and a plus sign. */
async function addMessage(url: string): Promise<void> {
  const message = {
    subscriberId: 'user-ada',
    workflow: 'order-shipped',
    channel: 'email',
    transactionId: 'order 12+3'
  }
  const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
  const init = { method: 'POST', headers, body: JSON.stringify(message) }
  expect((await fetch(`${url}/_mock/messages`, init)).ok).toBe(true)
}

const RECORDS = {
  allowChanges: true,
  // Three of one channel, one of them inactive; one of a channel without a primary in the profile
  // `live`; and one more.
  integrations: ['01', '02', '03', '08', '06'].map((end) => `66f1c2a47c9b1a0012ad00${end}`),
  workflows: ['order-shipped', 'sign-in-code'],
  foreignIntegration: '6703aa1c5d2e8b0013b70001'
}

describe('planted faults', () => {
  test('there are at least 190, with unique names and existing cases', () => {
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length)
    expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(190)
    const ids = CASES.map(({ id }) => id)
    const catching = PLANTED_FAULTS.map(({ caughtBy }) => caughtBy)
    expect(catching.filter((id) => !ids.includes(id))).toEqual([])
  })

  test('every case catches at least one', () => {
    const catching = new Set(PLANTED_FAULTS.map(({ caughtBy }) => caughtBy))
    expect(CASES.map(({ id }) => id).filter((id) => !catching.has(id))).toEqual([])
  })

  test.each(['document', 'live'] as const)(
    'without a fault all cases pass, profile %s',
    async (profile) => {
      await using proxy = await startProxy(servers.get(profile)?.url ?? '')
      const report = await checkTarget(proxy.url, { ...RECORDS, profile })
      expect(failuresIn(report)).toEqual([])
      expect(report.counts.noted).toBe(0)
      expect(report.profile).toMatchObject({ nearest: profile, isExact: true })
    }
  )

  test.each(PLANTED_FAULTS)('$name: caught by $caughtBy', async (fault) => {
    const { caughtBy, hooks } = fault
    const profile: Profile = fault.profile ?? 'document'
    await using proxy = await startProxy(servers.get(profile)?.url ?? '', hooks)
    const basis = CASES.find(({ id }) => id === caughtBy)?.basis ?? {}
    // A rule that isn't from the API reference is only a failure if a profile is required.
    const required = 'apiReference' in basis ? {} : { profile }
    const { cases } = await checkTarget(proxy.url, { ...RECORDS, ...required, only: [caughtBy] })
    expect(cases).toMatchObject([{ id: caughtBy, outcome: 'failed' }])
  })
})

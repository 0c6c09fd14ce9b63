import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Profile } from '../../../src/domain/assumptions.js'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { type Server, startServer } from '../../../src/server.js'
import { PLANTED_FAULTS } from './planted-faults/index.js'
import { startProxy } from './proxy.js'
import { checkTarget, failuresIn } from './run-conformance.js'

const servers = new Map<string, Server>()

beforeAll(async () => {
  for (const profile of ['document', 'live'] as const) {
    const server = await startServer({ port: 0, logLevel: 'silent', profile })
    servers.set(profile, server)
  }
})

afterAll(async () => {
  for (const { app } of servers.values()) await app.close()
})

const RECORDS = {
  allowChanges: true,
  // The first three integrations are for email, and the third is inactive. The fourth is for chat,
  // which can't have a primary in the profile `live`.
  integrations: ['01', '02', '03', '08', '06'].map((end) => `66f1c2a47c9b1a0012ad00${end}`),
  workflows: ['order-shipped', 'sign-in-code'],
  foreignIntegration: '6703aa1c5d2e8b0013b70001'
}

describe('planted faults', () => {
  test('there are at least 190 planted faults, each with a unique name', () => {
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length)
    expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(190)
  })

  test('every planted fault names an existing case', () => {
    const caseIds = CASES.map(({ id }) => id)
    const namedIds = PLANTED_FAULTS.map(({ caughtBy }) => caughtBy)
    expect(namedIds.filter((id) => !caseIds.includes(id))).toEqual([])
  })

  test('every case has at least one planted fault', () => {
    const namedIds = new Set(PLANTED_FAULTS.map(({ caughtBy }) => caughtBy))
    expect(CASES.map(({ id }) => id).filter((id) => !namedIds.has(id))).toEqual([])
  })

  test.each(['document', 'live'] as const)(
    'in the profile %s, all cases pass if there is no planted fault',
    async (profile) => {
      await using proxy = await startProxy(servers.get(profile)?.url ?? '')
      const report = await checkTarget(proxy.url, { ...RECORDS, profile })
      expect(failuresIn(report)).toEqual([])
      expect(report.counts.noted).toBe(0)
      expect(report.profile).toMatchObject({ nearest: profile, isExact: true })
    }
  )

  test.each(PLANTED_FAULTS)('$caughtBy fails if $name', async (fault) => {
    const { caughtBy, hooks } = fault
    const profile: Profile = fault.profile ?? 'document'
    await using proxy = await startProxy(servers.get(profile)?.url ?? '', hooks)
    const basis = CASES.find(({ id }) => id === caughtBy)?.basis ?? {}
    // A case whose rule isn't from the API reference fails only if the run requires a profile.
    const requirement = 'apiReference' in basis ? {} : { profile }
    const options = { ...RECORDS, ...requirement, only: [caughtBy] }
    const { cases } = await checkTarget(proxy.url, options)
    expect(cases).toMatchObject([{ id: caughtBy, outcome: 'failed' }])
  })
})

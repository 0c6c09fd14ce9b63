import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { type Server, startServer } from '../../../src/server.js'
import { DEVELOPMENT } from '../../support/control.js'
import { MUTANTS } from './mutants/index.js'
import { startProxy } from './proxy.js'
import { failedIn, judge } from './run-conformance.js'

const servers = new Map<string, Server>()
beforeAll(async () => {
  for (const profile of ['document', 'live'] as const) {
    const server = await startServer({ port: 0, logLevel: 'silent', profile })
    servers.set(profile, server)
    const message = {
      subscriberId: 'user-ada',
      workflow: 'order-shipped',
      channel: 'email',
      transactionId: 'order 12+3'
    }
    const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
    const init = { method: 'POST', headers, body: JSON.stringify(message) }
    expect((await fetch(`${server.url}/_mock/messages`, init)).ok).toBe(true)
  }
})
afterAll(async () => {
  for (const { app } of servers.values()) await app.close()
})

const NAMED = {
  allowChanges: true,
  // Three of one channel, one of them inactive; one of a channel that has no primary in the profile live; and one more.
  integrations: ['01', '02', '03', '08', '06'].map((end) => `66f1c2a47c9b1a0012ad00${end}`),
  workflows: ['order-shipped', 'sign-in-code'],
  foreignIntegration: '6703aa1c5d2e8b0013b70001'
}

describe('broken targets', () => {
  test('there are 190 or more of them, each with a name of its own and a case that there is', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(MUTANTS.length).toBeGreaterThanOrEqual(190)
    const ids = CASES.map(({ id }) => id)
    expect(MUTANTS.map(({ caughtBy }) => caughtBy).filter((id) => !ids.includes(id))).toEqual([])
  })

  test('every case catches one', () => {
    const catching = new Set(MUTANTS.map(({ caughtBy }) => caughtBy))
    expect(CASES.map(({ id }) => id).filter((id) => !catching.has(id))).toEqual([])
  })

  test.each(['document', 'live'] as const)(
    'a healthy proxy passes all cases, profile %s',
    async (profile) => {
      await using proxy = await startProxy(servers.get(profile)?.url ?? '')
      const report = await judge(proxy.url, { ...NAMED, profile })
      expect(failedIn(report)).toEqual([])
      expect(report.counts.noted).toBe(0)
      expect(report.profile).toMatchObject({ nearest: profile, isExact: true })
    }
  )

  // What only the reference settles is a failure of a target that is to be of a profile, and else a note.
  test.each(MUTANTS)('$name: caught by $caughtBy', async ({ caughtBy, change, profile: own }) => {
    const profile = own ?? 'document'
    await using proxy = await startProxy(servers.get(profile)?.url ?? '', change)
    const basis = CASES.find(({ id }) => id === caughtBy)?.basis ?? {}
    const only = { ...NAMED, only: [caughtBy] }
    const { cases } = await judge(proxy.url, 'contract' in basis ? only : { ...only, profile })
    expect(cases).toMatchObject([{ id: caughtBy, outcome: 'failed' }])
  })
})

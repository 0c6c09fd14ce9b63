import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Server, startServer } from '../../src/server.js'
import { CASES } from '../../src/targets/conformance/cases/index.js'
import { type RunOptions, runConformance } from '../../src/targets/conformance/run.js'
import { DEVELOPMENT } from '../support/control.js'
import { MUTANTS } from './mutants/index.js'
import { startProxy } from './proxy.js'

const servers = new Map<string, Server>()
beforeAll(async () => {
  for (const profile of ['document', 'live'] as const) {
    servers.set(profile, await startServer({ port: 0, logLevel: 'silent', profile }))
  }
})
afterAll(async () => {
  for (const { app } of servers.values()) await app.close()
})

const NAMED = {
  // Two of one channel, and one of a channel that has no primary in the profile live.
  integrations: ['66f1c2a47c9b1a0012ad0001', '66f1c2a47c9b1a0012ad0002', '66f1c2a47c9b1a0012ad0008'],
  workflows: ['order-shipped', 'sign-in-code'],
  foreignIntegration: '6703aa1c5d2e8b0013b70001'
}

function judge(url: string, options: Partial<RunOptions> = {}) {
  return runConformance({ url, apiKey: DEVELOPMENT, allowChanges: true, ...NAMED, ...options })
}

const failedIn = ({ cases }: Awaited<ReturnType<typeof judge>>) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason}`)

describe('broken targets', () => {
  test('there are 60 or more of them, each with a name of its own and a case that there is', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
    expect(MUTANTS.length).toBeGreaterThanOrEqual(60)
    const ids = CASES.map(({ id }) => id)
    expect(MUTANTS.map(({ caughtBy }) => caughtBy).filter((id) => !ids.includes(id))).toEqual([])
  })

  test('every case catches one', () => {
    const catching = new Set(MUTANTS.map(({ caughtBy }) => caughtBy))
    expect(CASES.map(({ id }) => id).filter((id) => !catching.has(id))).toEqual([])
  })

  test.each(['document', 'live'] as const)('a healthy proxy passes all cases, profile %s', async (profile) => {
    await using proxy = await startProxy(servers.get(profile)?.url ?? '')
    const report = await judge(proxy.url)
    expect(failedIn(report)).toEqual([])
    expect(report.profile).toMatchObject({ nearest: profile, isExact: true })
  })

  test.each(MUTANTS)('$name: caught by $caughtBy', async ({ caughtBy, change, profile = 'document' }) => {
    await using proxy = await startProxy(servers.get(profile)?.url ?? '', change)
    const { cases } = await judge(proxy.url, { only: [caughtBy] })
    expect(cases).toMatchObject([{ id: caughtBy, outcome: 'failed' }])
  })
})

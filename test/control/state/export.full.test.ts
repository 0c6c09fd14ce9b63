import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'vitest'
import { useMock } from '../../support/mock.js'
import { consistentEnvironment } from '../../support/seeds.js'
import {
  expectSameAnswers,
  expectSound,
  givenEnvironment
} from '../environments/environment-client.js'

const clock = () => Date.parse('2026-02-18T10:00:00.000Z')
const OWN_SEEDS = readdirSync('seeds').filter((file) => file.endsWith('.yaml'))

test.each(OWN_SEEDS)(
  'a new environment with an export, in JSON or YAML, gives exactly the same responses: %s',
  async (file) => {
    const mock = await useMock({ clock, seeds: [join('seeds', file)] })
    for (const { id: environmentId, apiKeys, ...owner } of mock.seededEnvironments) {
      const origin = { ...owner, environmentId, apiKey: apiKeys[0] ?? '' }
      await expectSameAnswers(mock, origin)
      // The second round starts with the primaries that the first one has set.
      await expectSameAnswers(mock, origin)
    }
  }
)

test('a new environment with an export gives exactly the same responses: random seeds', async () => {
  const mock = await useMock({ clock })
  await fc.assert(
    fc.asyncProperty(consistentEnvironment(), async (environment) => {
      const origin = await givenEnvironment(mock, { seed: { environments: [environment] } })
      await expectSameAnswers(mock, origin)
      await mock.call(`/_mock/environments/${origin.environmentId}`, {
        method: 'DELETE',
        key: null
      })
    }),
    { numRuns: 50 }
  )
  expectSound(mock.db)
})

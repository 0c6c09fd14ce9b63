import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { test } from 'vitest'
import { useMock } from '../../support/mock.js'
import { consistentEnvironment } from '../../support/seeds.js'
import {
  createEnvironment,
  expectConsistentDatasets,
  expectSameResponses
} from '../environments/environment-client.js'

const clock = () => Date.parse('2026-02-18T10:00:00.000Z')
const OWN_SEEDS = readdirSync('seeds').filter((file) => file.endsWith('.yaml'))

test.each(OWN_SEEDS)(
  'environments created from the JSON and YAML exports of %s respond like the original',
  async (file) => {
    const mock = await useMock({ clock, seeds: [join('seeds', file)] })
    for (const { id: environmentId, apiKeys, ...owner } of mock.seededEnvironments) {
      const origin = { ...owner, environmentId, apiKey: apiKeys[0] ?? '' }
      await expectSameResponses(mock, origin)
      // Compare again, because the first comparison changed which integrations are primary.
      await expectSameResponses(mock, origin)
    }
  }
)

test('environments created from exports of generated seeds respond like the original', async () => {
  const mock = await useMock({ clock })
  await fc.assert(
    fc.asyncProperty(consistentEnvironment(), async (environment) => {
      const origin = await createEnvironment(mock, { seed: { environments: [environment] } })
      await expectSameResponses(mock, origin)
      await mock.call(`/_mock/environments/${origin.environmentId}`, {
        method: 'DELETE',
        key: null
      })
    }),
    { numRuns: 50 }
  )
  expectConsistentDatasets(mock.db)
})

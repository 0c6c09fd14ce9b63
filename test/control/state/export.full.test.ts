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
  'an export loaded into a new environment, as JSON or as YAML, gives the same answers byte for byte: %s',
  async (file) => {
    const mock = await useMock({ clock, seeds: [join('seeds', file)] })
    for (const { id: environmentId, apiKeys, ...owner } of mock.seededEnvironments) {
      const origin = { ...owner, environmentId, apiKey: apiKeys[0] ?? '' }
      await expectSameAnswers(mock, origin)
      // Once more, as the first round has left it: with other integrations primary.
      await expectSameAnswers(mock, origin)
    }
  }
)

test('an export loaded into a new environment gives the same answers byte for byte: random seeds', async () => {
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

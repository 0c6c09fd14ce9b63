import { describe, expect, test } from 'vitest'
import { ASSUMPTION_IDS, assume, positionsOf } from '../../src/core/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { contractOf } from '../support/contract.js'
import { givenMock } from '../support/mock.js'

/** One environment for each position of a row. */
function seedOf(id: string, positions: string[]): object {
  return {
    environments: positions.map((position) => ({
      name: position,
      apiKeys: [position],
      assumptions: { [id]: position },
      integrations: [{ identifier: 'mail', providerId: 'ses', channel: 'email' }],
      workflows: [
        { identifier: 'w', origin: 'service-cloud', steps: [{ type: 'email', controlValues: { subject: 'Hello' } }] }
      ]
    }))
  }
}

describe('GET /openapi.json returns the document of the environment of the key, and its responses match it', () => {
  test.each(ASSUMPTION_IDS)('in every position of %s', async (id) => {
    const mock = await givenMock({ seed: seedOf(id, positionsOf(id)) })
    for (const position of positionsOf(id)) {
      const shown = await mock.get('/openapi.json', { key: position })
      const expected = await openApiDocument(assume('document', { [id]: position }))
      const servers = [{ url: mock.url, description: 'This server' }]
      expect(shown.json, position).toEqual({ ...JSON.parse(JSON.stringify(expected)), servers })
    }
  })

  test.each([
    ['envelope', 'bare', 'data'],
    ['envelope', 'data', 'bare'],
    ['vendor-names', 'contract', 'vendor'],
    ['vendor-names', 'vendor', 'contract'],
    ['control-values', 'twice', 'once']
  ])('so with %s an answer of %s fails against the document of %s', async (id, position, other) => {
    const mock = await givenMock({ seed: seedOf(id, [position, other]) })
    const path = '/v2/workflows/w/steps/email-step'
    const { status, headers, text } = await mock.get(path, { key: position })
    const strangers = contractOf((await mock.get('/openapi.json', { key: other })).text)
    expect(() => strangers.check({ method: 'GET', path, status, headers, text })).toThrow('answer against the contract')
  })
})

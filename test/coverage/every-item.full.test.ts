import { expect, test } from 'vitest'
import type { Coverage, CoverageItem } from '../../src/coverage/schemas.js'
import { PROFILES } from '../../src/domain/assumptions.js'
import { cover, itemsOf, uncoveredIds } from '../support/coverage.js'
import { type TestMock, useMock } from '../support/mock.js'

async function coverageAt(mock: TestMock, path: string): Promise<Coverage> {
  return (await mock.get(path)).json
}

const serverCoverage = (mock: TestMock) => coverageAt(mock, '/_mock/coverage/server')

/** Returns the ids of the items that the requests for this item may cover as well. */
function idsCoveredTogether({ id }: CoverageItem): string[] {
  const [operation, , name = ''] = id.split('.')
  const parameter = name.replace(/=.*/, '')
  const ids = ['operation.called', 'status.200', `query.${parameter}`, `value.${parameter}=email`]
  return [...ids, 'header.idempotency-key'].map((each) => `${operation}.${each}`)
}

test.each(PROFILES)(
  'every item can be covered, and covering all items reaches 100 %% (profile %s)',
  async (profile) => {
    const mock = await useMock({ profile })
    const items = itemsOf(await serverCoverage(mock))
    let uncovered = items.map(({ id }) => id)
    for (const item of items) {
      await cover(mock, item)
      const left = uncoveredIds(await serverCoverage(mock))
      expect(left, item.how).not.toContain(item.id)
      const others = uncovered.filter((id) => id !== item.id && !left.includes(id))
      expect(idsCoveredTogether(item), item.id).toEqual(expect.arrayContaining(others))
      uncovered = left
    }
    expect(await serverCoverage(mock)).toMatchObject({
      percentage: 100,
      covered: items.length,
      total: items.length
    })
    // An environment's coverage has no items for the status 401, because a request that gets a 401
    // belongs to no environment.
    const unauthenticated = items.filter(({ id }) => id.endsWith('.401'))
    expect(await coverageAt(mock, '/_mock/coverage')).toMatchObject({
      percentage: 100,
      total: items.length - unauthenticated.length
    })
  }
)

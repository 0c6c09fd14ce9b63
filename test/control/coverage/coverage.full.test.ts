import { expect, test } from 'vitest'
import type { Coverage, CoverageItem } from '../../../src/control/coverage/schemas.js'
import { create } from '../../support/control.js'
import { itemsOf, meet, uncoveredIn } from '../../support/coverage.js'
import { type GivenMock, givenMock } from '../../support/mock.js'

/** Meets the items in an environment of its own, one after the other, and returns the ids of those that are not met. */
async function uncoveredAfter(mock: GivenMock, items: readonly CoverageItem[]): Promise<string[]> {
  const { apiKey: key } = (await create(mock, { from: 'Development' })).json
  for (const item of items) await meet(mock, item, key)
  return uncoveredIn((await mock.get('/_mock/coverage', { key })).json)
}

/** So many that their waits overlap, and so few that none has to wait for the others. */
const BATCH = 6

async function inBatches<Each, Result>(all: readonly Each[], run: (each: Each) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < all.length; start += BATCH) {
    results.push(...(await Promise.all(all.slice(start, start + BATCH).map(run))))
  }
  return results
}

test('each thing that a suite leaves out is named, and no other', async () => {
  const mock = await givenMock()
  const coverage: Coverage = (await mock.get('/_mock/coverage')).json
  const items = itemsOf(coverage)
  const ids = items.map(({ id }) => id)
  // What the requests of an item meet beside it: a value of a parameter also the parameter, the operation and its 200.
  const metBy = await inBatches(items, async (item) => {
    const uncovered = await uncoveredAfter(mock, [item])
    return ids.filter((id) => !uncovered.includes(id))
  })
  for (const [index, met] of metBy.entries()) expect(met).toContain(ids[index])
  expect(await uncoveredAfter(mock, items)).toEqual([])

  const leftOut = await inBatches(ids, (id) => {
    const others = items.filter((_, index) => !metBy[index]?.includes(id))
    return uncoveredAfter(mock, others)
  })
  for (const [index, id] of ids.entries()) {
    // Nothing else can meet these either.
    const only = ids.filter((other) => metBy.every((met) => !met.includes(other) || met.includes(id)))
    expect(leftOut[index], id).toEqual(only)
  }
  const notAlone = ids.filter((_, index) => leftOut[index]?.length !== 1)
  // Without the call, there is nothing; without the 200, there are no parameters and headers.
  expect(notAlone).toEqual([
    'setIntegrationAsPrimary.operation.called',
    'setIntegrationAsPrimary.status.200',
    'setIntegrationAsPrimary.header.idempotency-key',
    'listMessages.operation.called',
    'listMessages.status.200',
    'listMessages.query.channel',
    'listMessages.query.transactionId',
    'listMessages.query.contextKeys',
    'retrieveWorkflowStep.operation.called'
  ])
})

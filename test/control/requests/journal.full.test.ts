import { expect, test } from 'vitest'
import { DEVELOPMENT, journalOf } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

const AUTHORIZED = { headers: { authorization: `ApiKey ${DEVELOPMENT}` } }

test('the journal has the last 1000 requests by default', async () => {
  const mock = await givenMock()
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(Array.from({ length: 101 }, () => fetch(`${mock.url}/v1/messages?limit=1`, AUTHORIZED)))
  }
  const kept = await journalOf(mock)
  expect([kept.length, kept[0]?.sequence, kept.at(-1)?.sequence]).toEqual([1000, 11, 1010])
}, 120_000)

import { expect, test } from 'vitest'
import { connect } from '../../../src/client/index.js'
import { useNewMock } from '../../support/mock.js'

test('keeps up to 200 tests of removed environments, and drops passed tests first', async () => {
  const mock = connect((await useNewMock()).url)
  for (let index = 0; index < 203; index++) {
    const env = await mock.environment()
    await env.describeTest({ title: `${index}`, outcome: index < 2 ? 'failed' : 'passed' })
    await env.remove()
  }
  const { tests, dropped } = await mock.runRecord()
  expect([tests.length, dropped]).toEqual([200, 3])
  expect(tests.slice(0, 3).map(({ title }) => title)).toEqual(['0', '1', '5'])
})

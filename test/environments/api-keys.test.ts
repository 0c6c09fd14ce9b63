import { expect, test } from 'vitest'
import { givenMock } from '../support/mock.js'

test('a change of keys that is rolled back leaves the known keys as they were', async () => {
  const { db, services } = await givenMock()
  const { environments } = services
  const [first, second] = [environments.find('Development'), environments.find('Production')]
  const keys = () => [first, second].map((each) => environments.apiKeysOf(each))
  const before = keys()
  const failing = () =>
    db.transaction(() => {
      for (const each of [first, second]) environments.dropApiKeys(each)
      environments.addApiKey(second, 'development-key')
      environments.addApiKey(first, 'new-key-1')
      throw new Error('the disk is full')
    })
  expect(failing).toThrow('the disk is full')
  expect(keys()).toEqual(before)
  expect(environments.resolve('development-key')).toBe(first)
  expect(environments.resolve('new-key-1')).toBeUndefined()
})

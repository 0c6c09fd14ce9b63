import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useNewMock } from '../../support/mock.js'
import { createTempFolder } from '../../support/process.js'

const SEED = {
  environments: [
    {
      name: 'Shop',
      apiKeys: ['shop-key-1'],
      workflows: [{ name: 'Order placed', steps: [{ type: 'email' as const }] }],
      generate: { messages: 300, subscribers: 5 }
    }
  ]
}

type Mock = Awaited<ReturnType<typeof useNewMock>>

async function totalCount(mock: Mock): Promise<number> {
  return (await mock.get('/v1/messages?limit=1')).json.totalCount
}

test('generates messages into a new data file, and keeps them on reset', async () => {
  const data = join(createTempFolder(), 'mock.db')
  const mock = await useNewMock({ data, seed: SEED })
  expect(await totalCount(mock)).toBe(300)
  await mock.post('/_mock/reset')
  expect(await totalCount(mock)).toBe(300)
})

test('does not generate messages again after a restart with the same data file', async () => {
  const data = join(createTempFolder(), 'mock.db')
  const first = await useNewMock({ data, seed: SEED })
  const before = (await first.get('/v1/messages?limit=100')).text
  await first.app.close()
  const second = await useNewMock({ data, seed: SEED })
  expect(await totalCount(second)).toBe(300)
  expect((await second.get('/v1/messages?limit=100', { key: 'shop-key-1' })).text).toBe(before)
})

import { expect, test } from 'vitest'
import { givenMock } from './support/mock.js'
import { SHOP, seedOf } from './support/shop.js'

test('an answer that is not in the published document fails the run', async () => {
  const mock = await givenMock({ seed: seedOf(SHOP) })
  mock.db.client.exec(`UPDATE messages SET document = json_set(document, '$.extra', 1)`)
  await expect(mock.get('/v1/messages')).rejects.toThrow('must NOT have additional properties')
  mock.db.client.exec(`UPDATE messages SET document = json_set(json_remove(document, '$.extra'), '$.status', 'lost')`)
  await expect(mock.get('/v1/messages')).rejects.toThrow('must be equal to one of the allowed values')
})

import { expect, test } from 'vitest'
import { resetAll } from '../../src/cli/keys.js'
import { createMock } from '../../src/index.js'
import { givenEnvironment } from '../control/environments/environment-client.js'
import { send } from '../support/control.js'
import { givenOwnMock } from '../support/mock.js'

const SEED = { environments: [{ name: 'Shop', messages: [{ channel: 'sms' as const }] }] }

test('a reset of all tells names without the escape codes they may have, and of many only how many more', async () => {
  await using mock = await createMock({ seed: { environments: [{ name: 'a\u001b[2Jb' }] } })
  expect(resetAll(mock)).toBe('reset to their beginning: a%1B[2Jb')
  for (let number = 1; number <= 11; number += 1) await mock.environment({ name: `Env ${number}` })
  expect(resetAll(mock)).toMatch(/^reset to their beginning: a%1B\[2Jb, Env 1, .* Env 9 and 2 more$/)
})

test('a reset of all that fails is told, and has reset none', async () => {
  const mock = await givenOwnMock({ seed: SEED })
  const broken = await givenEnvironment(mock)
  const { _id } = (await mock.get('/v1/messages')).json.data[0]
  await send(mock, 'PATCH', `/_mock/messages/${_id}`, { subject: 'Changed' })
  mock.db.client
    .prepare('DELETE FROM environments WHERE snapshot_of = (SELECT key FROM environments WHERE id = ?)')
    .run(broken.environmentId)
  expect(resetAll(mock)).toMatch(/^nothing is reset: /)
  expect((await mock.get('/v1/messages')).json.data[0].subject).toBe('Changed')
})

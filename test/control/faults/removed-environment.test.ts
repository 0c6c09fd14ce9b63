import { expect, test, vi } from 'vitest'
import { addFault } from '../../support/control.js'
import { KEYS, SEED } from '../../support/logged-mock.js'
import { givenMock } from '../../support/mock.js'

const engine = vi.hoisted(() => {
  const gate = () => {
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    return { open, opened }
  }
  return { wanted: gate(), loaded: gate() }
})

// The engine itself, as if it took long to load.
vi.mock('re2js', async (original) => {
  engine.wanted.open()
  await engine.loaded.opened
  return original()
})

test('a rule for an environment that was removed while the engine of patterns was loading is a 401, and is not kept', async () => {
  const mock = await givenMock({ seed: SEED })
  const { environments, faults } = mock.services
  const environment = environments.find('Shop')
  const rule = { match: { path: { matches: 'a' } }, effect: { status: 503 } }
  const answer = addFault(mock, rule, KEYS.shop)
  await engine.wanted.opened
  environments.remove(environment)
  engine.loaded.open()
  expect((await answer).status).toBe(401)
  expect(faults.list(environment.key)).toEqual([])
})

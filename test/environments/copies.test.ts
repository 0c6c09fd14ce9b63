import { expect, test } from 'vitest'
import type { DatasetKind } from '../../src/core/enums.js'
import { givenOwnMock } from '../support/mock.js'

const COUNT = 600

const numbered = <Record>(create: (index: number) => Record) =>
  Array.from({ length: COUNT }, (_, index) => create(index))

/** With so many records of each kind that none is copied at once. */
const SHOP = {
  integrations: numbered((index) => ({ identifier: `i${index}`, providerId: 'ses', channel: 'email' })),
  subscribers: numbered((index) => ({ subscriberId: `user-${index}` })),
  workflows: numbered((index) => ({ identifier: `w${index}`, steps: [] })),
  messages: numbered(() => ({ channel: 'sms' }))
}
const SEED = { environments: ['One', 'Two'].map((name) => ({ name, ...SHOP })) }

const COLUMNS = { integrations: 'identifier', subscribers: 'subscriber_id', workflows: 'identifier', messages: 'id' }

test('many records of a kind are copied in steps, in their order, and with those of no other environment', async () => {
  const { services, db } = await givenOwnMock({ seed: SEED })
  const [, two] = services.environments.list()
  for (const [kind, column] of Object.entries(COLUMNS)) {
    const select = db.client.prepare(`SELECT ${column}, document FROM ${kind} WHERE dataset = ? ORDER BY rowid`)
    const from = two?.datasets[kind as DatasetKind] ?? 0
    const held = services.environments.hold()
    const copying = held.copying(kind as DatasetKind, from)
    let steps = 0
    let step = copying.next()
    for (; !step.done; step = copying.next()) steps += 1

    expect(steps, kind).toBeGreaterThan(1)
    expect(select.all(step.value), kind).toHaveLength(COUNT)
    expect(select.all(step.value), kind).toEqual(select.all(from))
    held.release()
  }
})

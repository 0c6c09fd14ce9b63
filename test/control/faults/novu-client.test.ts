import { Novu } from '@novu/api'
import { expect, test } from 'vitest'
import { addFault, DEVELOPMENT, journalOf, MAILGUN } from '../../support/control.js'
import { givenMock } from '../../support/mock.js'

test.each([
  { effect: { status: 503 }, times: 2, attempts: 3, replayed: false },
  { effect: { lostAnswer: true }, times: 1, attempts: 2, replayed: true }
])(
  'the official client with its default settings recovers from $effect',
  async ({ effect, times, attempts, replayed }) => {
    const mock = await givenMock()
    await addFault(mock, { operation: 'setIntegrationAsPrimary', times, effect })
    const before = mock.db.client.prepare('SELECT total_changes() AS changes').get() as { changes: number }
    const novu = new Novu({ secretKey: DEVELOPMENT, serverURL: mock.url })
    const { result, headers } = await novu.integrations.setAsPrimary(MAILGUN)
    expect(result).toMatchObject({ id: MAILGUN, primary: true })
    expect(headers['idempotency-replay']).toEqual(replayed ? ['true'] : undefined)

    const entries = await journalOf(mock, '?operation=setIntegrationAsPrimary')
    expect(entries).toHaveLength(attempts)
    expect(new Set(entries.map((entry) => entry.headers['idempotency-key'])).size).toBe(1)
    expect(entries.map(({ flags }) => flags.replayed ?? false)).toEqual([...Array(attempts - 1).fill(false), replayed])
    const keys = mock.db.client.prepare('SELECT count(*) AS stored FROM idempotency_keys').get()
    expect(keys).toEqual({ stored: 1 })
    // One effect: what a run of the operation writes, once.
    const after = mock.db.client.prepare('SELECT total_changes() AS changes').get() as { changes: number }
    const single = await changesOfOne()
    expect(after.changes - before.changes).toBe(single)
  }
)

/** Rows that are written when it is done once, on a server of its own. */
async function changesOfOne(): Promise<number> {
  const mock = await givenMock()
  const count = () => (mock.db.client.prepare('SELECT total_changes() AS changes').get() as { changes: number }).changes
  const before = count()
  const novu = new Novu({ secretKey: DEVELOPMENT, serverURL: mock.url, retryConfig: { strategy: 'none' } })
  await novu.integrations.setAsPrimary(MAILGUN)
  return count() - before
}

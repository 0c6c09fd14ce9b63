import { Novu } from '@novu/api'
import { expect, test } from 'vitest'
import { addFault, DEVELOPMENT, journalOf, MAILGUN } from '../support/control.js'
import { useMock } from '../support/mock.js'
import { keyRows } from '../support/rows.js'

test.each([
  { effect: { status: 503 }, replayed: false },
  { effect: { lostResponse: true }, replayed: true }
])(
  'the official client with its default settings recovers from $effect',
  async ({ effect, replayed }) => {
    const mock = await useMock()
    await addFault(mock, { operation: 'setIntegrationAsPrimary', effect })
    const novu = new Novu({ secretKey: DEVELOPMENT, serverURL: mock.url })
    const { result, headers } = await novu.integrations.setAsPrimary(MAILGUN)
    expect(result).toMatchObject({ id: MAILGUN, primary: true })
    expect(headers['idempotency-replay']).toEqual(replayed ? ['true'] : undefined)

    const entries = await journalOf(mock, '?operation=setIntegrationAsPrimary')
    expect(entries.map(({ flags }) => flags.replayed ?? false)).toEqual([false, replayed])
    // Only one key is stored, and both requests sent it, so the operation ran only once.
    const [key] = keyRows(mock.db.client).map((row) => row.key)
    expect(entries.map((entry) => entry.headers['idempotency-key'])).toEqual([key, key])
  }
)

import { Novu } from '@novu/api'
import { describe, expect, test } from 'vitest'
import { STUB_SETS } from '../../src/domain/stub.js'
import { OPERATIONS } from '../../src/operations.js'
import { readStubSet } from '../../src/stubs/built-in.js'
import { findStubProblems } from '../../src/stubs/checks.js'
import { create, journalOf } from '../support/control.js'
import { useMock } from '../support/mock.js'
import { CALLS } from './client-calls.js'

const clientOf = (serverURL: string, secretKey = 'development-key') =>
  new Novu({ serverURL, secretKey })

describe('the official client with its defaults', () => {
  test.each(Object.entries(CALLS))('does not retry if no stub exists: %s', async (_name, call) => {
    const mock = await useMock()
    await expect(call(clientOf(mock.url))).rejects.toThrow(/is not mocked/)
    // If the client retried, it would send more requests, for up to an hour.
    expect(await journalOf(mock)).toHaveLength(1)
  })

  test.each(Object.entries(CALLS))('gets a response from the stubs: %s', async (_name, call) => {
    const mock = await useMock({ stubs: 'novu-client' })
    await expect(call(clientOf(mock.url))).resolves.toBeDefined()
  })
})

test('a new environment can be created with a set of stubs', async () => {
  const mock = await useMock()
  const { apiKey } = (await create(mock, { from: 'Development', stubs: 'novu-client' })).json
  await expect(CALLS.trigger?.(clientOf(mock.url, apiKey))).resolves.toBeDefined()
  await expect(CALLS.trigger?.(clientOf(mock.url))).rejects.toThrow(/is not mocked/)
})

test.each(STUB_SETS)('every stub of the set %s is valid', (name) => {
  for (const stub of readStubSet(name)) {
    expect(findStubProblems(stub, OPERATIONS), stub.path).toEqual([])
  }
})

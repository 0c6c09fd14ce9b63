import { expect, test } from 'vitest'
import { JournalService } from '../../src/journal/service.js'

test('a journal keeps at most 32 MiB of requests, and counts the requests that it removes', () => {
  const describer = {} as never
  const options = { capacity: 100, clock: () => 0, describer, count: () => {} }
  const journal = new JournalService(options).of(undefined)
  const arrive = (url: string) =>
    journal.open({ method: 'GET', url, query: {}, raw: { rawHeaders: [] } as never }, undefined)
  const end = (count: number, url: string) => {
    for (let index = 0; index < count; index++) journal.end(arrive(url))
    const sequences = journal.requests().map(({ sequence }) => sequence)
    return [sequences.length, sequences[0], journal.lostCount()]
  }
  const text = 'x'.repeat(1024 * 1024)
  const inProgress = arrive(text)
  expect(end(39, text)).toEqual([32, 9, 8])
  journal.end(inProgress)
  expect(journal.requests()).toHaveLength(32)
  expect(end(120, 'small')).toEqual([100, 61, 60])
  journal.clear()
  expect(end(40, text)).toEqual([32, 169, 8])
})

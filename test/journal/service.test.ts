import { expect, test } from 'vitest'
import { journalService } from '../../src/journal/service.js'

test('a journal keeps at most 32 MiB, and counts what it has forgotten for that', () => {
  const options = { capacity: 100, clock: () => 0, describe: () => ({}) as never, count: () => {} }
  const journal = journalService(options).of(undefined)
  const arrive = (url: string) =>
    journal.open({ method: 'GET', url, query: {}, raw: { rawHeaders: [] } as never }, undefined)
  const end = (count: number, url: string) => {
    for (let each = 0; each < count; each++) journal.end(arrive(url))
    const sequences = journal.requests().map(({ sequence }) => sequence)
    return [sequences.length, sequences[0], journal.lost()]
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

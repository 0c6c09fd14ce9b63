import { expect, test } from 'vitest'
import type { RecordedRequest } from '../../../src/control/requests/schemas.js'
import { createJournal, type JournalEntry } from '../../../src/control/requests/service.js'

const describe = ({ sequence, method, url }: JournalEntry): RecordedRequest => ({
  ...{
    sequence,
    time: '',
    arrived: '',
    method,
    path: url,
    query: {},
    headers: {},
    flags: {},
    unread: { query: [], headers: [] }
  }
})
const to = (url: string) => ({ method: 'GET', url, query: {}, rawHeaders: '', operation: undefined })
const options = (capacity: number) => ({ capacity, clock: () => 0, describe, counterOf: () => () => {} })
const createSmall = (capacity: number) => createJournal(options(capacity))

test('keeps at most 32 MiB, and counts what it has forgotten for that', () => {
  const journal = createSmall(100)
  const text = 'x'.repeat(1024 * 1024)
  const inProgress = journal.open(to(text))
  for (let sequence = 2; sequence <= 40; sequence++) journal.end(journal.open(to(text)))
  const sequences = () => journal.requests().map(({ sequence }) => sequence)
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([32, 9, 8])
  journal.end(inProgress)
  expect(sequences()).toHaveLength(32)
  for (let sequence = 41; sequence <= 160; sequence++) journal.end(journal.open(to('small')))
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([100, 61, 60])
  journal.clear()
  for (let sequence = 161; sequence <= 200; sequence++) journal.end(journal.open(to(text)))
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([32, 169, 8])
})

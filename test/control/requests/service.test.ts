import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedRequest } from '../../../src/control/requests/schemas.js'
import { createJournal, type JournalEntry, journalService } from '../../../src/control/requests/service.js'
import { assume } from '../../../src/core/assumptions.js'

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

/** What the journal should have of a request, with its number in the order in which requests ended. */
interface Expected {
  sequence: number
  url: string
  ended?: number
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ action: fc.constant('open' as const), url: fc.webPath() }) },
  { weight: 6, arbitrary: fc.record({ action: fc.constant('end' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ action: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constant('read' as const), after: fc.nat(40) }) }
)

test('returns the last requests up to its capacity, whatever is opened, ended and cleared', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 7, 64), fc.array(step, { maxLength: 120, size: 'max' }), (capacity, steps) => {
      const journal = createSmall(capacity)
      const inProgress: { entry: JournalEntry; expected: Expected }[] = []
      const all: Expected[] = []
      let [cleared, ended] = [0, 0]
      // A sequence that there is not yet is of an earlier run of the server.
      const begin = (after: number) => Math.max(after > all.length ? 0 : after, cleared)
      const present = (after: number) => all.slice(-capacity).filter(({ sequence }) => sequence > begin(after))
      const compare = (after: number) => {
        const found = journal.requests(after).map(({ sequence, url }) => [sequence, url])
        expect(found).toEqual(present(after).map(({ sequence, url }) => [sequence, url]))
        const newer = all.filter(({ sequence }) => sequence > begin(after))
        expect(journal.lost(after)).toBe(newer.length - present(after).length)
        expect(journal.endedCount).toBe(ended)
        const endings = journal.requests().map(({ endSequence }) => endSequence)
        expect(endings).toEqual(present(0).map((each) => each.ended ?? 0))
      }
      for (const each of steps) {
        if (each.action === 'open') {
          const expected = { sequence: all.length + 1, url: each.url }
          all.push(expected)
          inProgress.push({ entry: journal.open(to(each.url)), expected })
        } else if (each.action === 'clear') {
          journal.clear()
          cleared = all.length
        } else if (each.action === 'read') {
          compare(each.after)
        } else if (inProgress.length > 0) {
          const [found] = inProgress.splice(each.which % inProgress.length, 1)
          const { entry, expected } = found as (typeof inProgress)[number]
          journal.end(entry)
          expected.ended = ++ended
        }
      }
      compare(0)
    })
  )
})

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

test('drops and clears the journal of one environment only', () => {
  const journals = journalService(options(10))
  const [first, second] = [1, 2].map((key) => ({ key, now: () => 0, assumptions: assume('document') }))
  for (const environment of [first, second]) journals.of(environment).open(to('/'))
  const dropped = journals.of(first)
  journals.of(first).clear()
  expect([journals.of(first).requests().length, journals.of(second).requests().length]).toEqual([0, 1])
  journals.drop(1)
  expect([dropped.closed, journals.of(first).closed, journals.of(second).closed]).toEqual([true, false, false])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Describe, JournalEntry } from '../../../src/control/requests/entry.js'
import { createJournal, journalService } from '../../../src/control/requests/service.js'
import { assume } from '../../../src/core/assumptions.js'

const describe: Describe = ({ sequence, text, status, body, replayed }) => ({
  ...{ sequence, time: '', method: 'GET', path: text, query: {}, headers: {}, unread: { query: [], headers: [] } },
  ...(status > 0 && { status }),
  ...(body && { body: body.toString() }),
  flags: { ...(replayed && { replayed }) }
})

const count = () => {}

/** What the journal should show of a request. */
interface Expected {
  sequence: number
  path: string
  /** In the order in which requests ended, from 1. */
  id?: number
  status?: number
  body?: string
  flags: object
}

/** Short, and longer than an entry's bytes, in characters of one to four bytes. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 5 }).filter((each) => !each.includes('\n')),
  fc.constantFrom('', 'ж'.repeat(341), 'a'.repeat(337), '漢'.repeat(342), '\u{1f4e6}'.repeat(171), 'long '.repeat(900))
)

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ action: fc.constant('open' as const), url: text }) },
  {
    weight: 6,
    arbitrary: fc.record({
      action: fc.constant('end' as const),
      which: fc.nat(),
      status: fc.option(fc.integer({ min: 200, max: 599 }), { nil: undefined }),
      body: fc.constantFrom('', '{}'),
      replayed: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.record({ action: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constant('read' as const), after: fc.nat(40) }) }
)

test('returns the last requests up to its capacity, whatever is opened, ended and cleared', () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 7, 64), fc.array(step, { maxLength: 120, size: 'max' }), (capacity, steps) => {
      const journal = createJournal({ capacity, clock: () => 0, describe, count })
      const inProgress: { entry: JournalEntry; expected: Expected }[] = []
      const all: Expected[] = []
      let cleared = 0
      let ended = 0
      // A sequence that there is not yet is of an earlier run of the server.
      const begin = (after: number) => Math.max(after > all.length ? 0 : after, cleared)
      const present = (after: number) => all.slice(-capacity).filter(({ sequence }) => sequence > begin(after))
      const compare = (after: number) => {
        const requests = journal
          .requests(after)
          .map((entry) => entry.toRecordedRequest())
          .map(({ sequence, path, status, body, flags }) => ({ sequence, path, status, body, flags }))
        expect(requests).toEqual(
          present(after).map(({ id: _, ...each }) => ({ status: undefined, body: undefined, ...each }))
        )
        const newer = all.filter(({ sequence }) => sequence > begin(after))
        expect(journal.lost(after)).toBe(newer.length - present(after).length)
        const expected = present(0)
          .filter(({ id }) => id !== undefined && id > after)
          .sort((one, other) => (one.id ?? 0) - (other.id ?? 0))
        expect(journal.endedCount).toBe(ended)
        expect(journal.endedAfter(after).map(({ endSequence, sequence }) => [endSequence, sequence])).toEqual(
          expected.map(({ id, sequence }) => [id, sequence])
        )
      }
      for (const each of steps) {
        if (each.action === 'open') {
          const expected: Expected = { sequence: all.length + 1, path: each.url, flags: {} }
          all.push(expected)
          inProgress.push({ entry: journal.open(each.url, undefined), expected })
        } else if (each.action === 'clear') {
          journal.clear()
          cleared = all.length
        } else if (each.action === 'read') {
          compare(each.after)
        } else if (inProgress.length > 0) {
          const [found] = inProgress.splice(each.which % inProgress.length, 1)
          const { entry, expected } = found as (typeof inProgress)[number]
          entry.setBody(Buffer.from(each.body))
          entry.replayed = each.replayed
          entry.end(each.status, 0)
          Object.assign(expected, {
            id: ++ended,
            ...(each.status !== undefined && { status: each.status }),
            ...(each.body !== '' && { body: each.body }),
            flags: each.replayed ? { replayed: true } : {}
          })
        }
      }
      compare(0)
    })
  )
})

test('describes a request only when it has changed, and keeps nothing for those who peek', () => {
  let count = 0
  const counted: Describe = (each) => {
    count += 1
    return describe(each)
  }
  const journal = createJournal({ capacity: 2, clock: () => 0, describe: counted, count: () => {} })
  const entry = journal.open('/', undefined)
  const look = () => entry.toRecordedRequest()
  look()
  look()
  expect(count).toBe(1)
  entry.setBody(Buffer.from('{}'))
  expect([look(), look()].map(({ body }) => body)).toEqual(['{}', '{}'])
  expect(count).toBe(2)
  entry.end(200)
  entry.peek()
  entry.peek()
  expect(count).toBe(4)
  expect([look(), entry.peek()].map(({ status }) => status)).toEqual([200, 200])
  expect(count).toBe(5)
})

test('keeps at most 32 MiB, and counts what it has forgotten for that', () => {
  const journal = createJournal({ capacity: 100, clock: () => 0, describe, count })
  const text = 'x'.repeat(1024 * 1024)
  const inProgress = journal.open(text, undefined)
  for (let sequence = 2; sequence <= 40; sequence++) journal.open(text, undefined).end(200)
  const sequences = () => journal.requests().map(({ sequence }) => sequence)
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([32, 9, 8])
  inProgress.end(200)
  expect(sequences()).toHaveLength(32)
  for (let sequence = 41; sequence <= 160; sequence++) journal.open('small', undefined).end(200)
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([100, 61, 60])
  journal.clear()
  for (let sequence = 161; sequence <= 200; sequence++) journal.open(text, undefined).end(200)
  expect([sequences().length, sequences()[0], journal.lost()]).toEqual([32, 169, 8])
})

test('drops and clears the journal of one environment only', () => {
  const journals = journalService({ capacity: 10, clock: () => 0, describe, counterOf: () => count })
  const [first, second] = [1, 2].map((key) => ({ key, now: () => 0, assumptions: assume('document') }))
  for (const environment of [first, second]) journals.of(environment).open('/', undefined)
  const dropped = journals.of(first)
  journals.of(first).clear()
  expect([journals.of(first).requests().length, journals.of(second).requests().length]).toEqual([0, 1])
  journals.drop(1)
  expect([dropped.closed, journals.of(first).closed, journals.of(second).closed]).toEqual([true, false, false])
})

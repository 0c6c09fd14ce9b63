import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry, Kind } from '../../../src/control/requests/recorded-request.js'
import { createJournal } from '../../../src/control/requests/service.js'

/** Shows of a request no more than its text. */
const KIND: Kind = {
  operation: 'listMessages',
  describe: (text, body) => ({
    ...{ method: 'GET', path: text, query: {}, headers: {}, unread: { query: [], headers: [] } },
    ...(body && { body: body.bytes.toString() })
  })
}

/** A request by the words of the behaviour alone. */
interface Modelled {
  n: number
  path: string
  /** In the order of the answers, from 1. */
  place?: number
  status?: number
  body?: string
  marks: object
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', 'ж'.repeat(341), 'a'.repeat(341), '漢'.repeat(342), '\u{1f4e6}'.repeat(171), 'long '.repeat(900))
)
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('open' as const), text: text.filter((each) => each.isWellFormed()) })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      what: fc.constant('close' as const),
      which: fc.nat(),
      status: fc.option(fc.integer({ min: 200, max: 599 }), { nil: undefined }),
      body: fc.constantFrom('', '{}'),
      replayed: fc.boolean()
    })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('look' as const), after: fc.nat(40) }) }
)

test('a journal of any capacity has its last requests, as a list of all of them would', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 2, 3, 7, 64, 65, 200),
      fc.array(step, { maxLength: 250, size: 'max' }),
      (capacity, steps) => {
        const journal = createJournal(capacity, () => 0)
        const going: { entry: Entry; model: Modelled }[] = []
        const all: Modelled[] = []
        let cleared = 0
        let answered = 0
        const kept = (after: number) => all.slice(-capacity).filter(({ n }) => n > Math.max(after, cleared))
        const look = (after: number) => {
          const listed = journal
            .entries(after)
            .map(({ n, path, status, body, marks }) => ({ n, path, status, body, marks }))
          expect(listed).toEqual(
            kept(after).map(({ place: _, status, body, ...shown }) => ({ ...shown, status, body }))
          )
          expect(journal.lost(after)).toBe(
            all.filter(({ n }) => n > Math.max(after, cleared)).length - kept(after).length
          )
          const inOrder = kept(0).flatMap(({ n, place = 0 }) => (place > after ? [{ n, place }] : []))
          const seen = after > answered ? kept(0).flatMap(({ n, place }) => (place ? [{ n, place }] : [])) : inOrder
          expect(journal.answeredAfter(after).map(({ place, entry }) => ({ n: entry.n, place }))).toEqual(
            seen.sort((one, other) => one.place - other.place)
          )
        }
        for (const each of steps) {
          if (each.what === 'open') {
            const model: Modelled = { n: all.length + 1, path: each.text, marks: {} }
            all.push(model)
            going.push({ entry: journal.open(KIND, each.text), model })
          } else if (each.what === 'clear') {
            journal.clear()
            cleared = all.length
          } else if (each.what === 'look') {
            look(each.after)
          } else if (going.length > 0) {
            const [ended] = going.splice(each.which % going.length, 1)
            const { entry, model } = ended as (typeof going)[number]
            entry.setBody(Buffer.from(each.body))
            if (each.replayed) entry.mark({ replayed: true })
            entry.close({ status: each.status, size: 0, reason: undefined })
            Object.assign(model, {
              place: ++answered,
              ...(each.status !== undefined && { status: each.status }),
              ...(each.body !== '' && { body: each.body }),
              marks: each.replayed ? { replayed: true } : {}
            })
          }
        }
        look(0)
      }
    )
  )
})

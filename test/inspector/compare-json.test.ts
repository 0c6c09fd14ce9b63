import { expect, test } from 'vitest'
import { compareJson } from '../../src/inspector/parts/compare-json.js'

/** Returns the kind of each difference between two values, keyed by path. */
const differences = (one: unknown, other: unknown) =>
  Object.fromEntries(compareJson(one, other).kinds)

test('list entries are matched by _id', () => {
  const one = { data: [{ _id: 'b', read: true }, { _id: 'a' }] }
  const other = { data: [{ _id: 'new' }, { _id: 'b', read: false }, { _id: 'a' }] }
  expect(differences(one, other)).toEqual({ '/data/b/read': 'value', '/data/new': 'value' })
})

test('the same entries in a different order count as one difference', () => {
  const [a, b] = [{ _id: 'a' }, { _id: 'b' }]
  expect(differences({ data: [a, b] }, { data: [b, a] })).toEqual({ '/data': 'order' })
})

test('list entries are matched by position unless each has a unique _id', () => {
  expect(differences([1, 2], [1, 3])).toEqual({ '/1': 'value' })
  const twice = (read: boolean) => [{ _id: 'a' }, { _id: 'a', read }]
  expect(differences(twice(true), twice(false))).toEqual({ '/1/read': 'value' })
})

test('differences in timestamps and request ids are counted but not reported', () => {
  const one = { timestamp: '2026-02-18T10:00:00.000Z', requestId: 'req-1' }
  const other = { timestamp: '2026-02-18T10:00:01.000Z', requestId: 'req-2' }
  const { kinds, ignoredCount } = compareJson(one, other)
  expect({ size: kinds.size, ignoredCount }).toEqual({ size: 0, ignoredCount: 2 })
})

test.each([
  { one: { at: '2026-02-18T10:00:00Z' }, other: { at: null }, path: '/at' },
  { one: { a: 1 }, other: {}, path: '/a' },
  { one: { a: undefined }, other: {}, path: '/a' },
  { one: { 'a/b': 1 }, other: { 'a/b': 2 }, path: '/a%2Fb' },
  { one: [], other: {}, path: '' },
  { one: 'text', other: 'other', path: '' }
])('$one and $other differ at the path "$path"', ({ one, other, path }) => {
  expect(differences(one, other)).toEqual({ [path]: 'value' })
  expect(differences(other, one)).toEqual({ [path]: 'value' })
})

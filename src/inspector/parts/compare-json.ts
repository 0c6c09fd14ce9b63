/**
 * How two JSON values differ at a path. `value`: the values differ, or only one side has a value.
 * `order`: the entries that both lists contain are in a different order.
 */
export type DifferenceKind = 'value' | 'order'

/** The differences between two JSON values. */
export interface JsonDifferences {
  /** Maps the path of each difference to its kind, in document order. */
  kinds: ReadonlyMap<string, DifferenceKind>
  /** The number of differing timestamps and request ids that `kinds` leaves out. */
  ignoredCount: number
}

/** The path of the whole value. */
export const ROOT_PATH = ''

/** Returns the path of a field or list entry. */
export const pathOf = (parent: string, key: string) => `${parent}/${encodeURIComponent(key)}`

/**
 * Compares two JSON values. List entries are matched by `_id` if every entry has a unique `_id`,
 * and by position otherwise. Ignores timestamps and request ids unless `isExact` is set.
 */
export function compareJson(
  one: unknown,
  other: unknown,
  { isExact = false } = {}
): JsonDifferences {
  const kinds = new Map<string, DifferenceKind>()
  let ignoredCount = 0
  const compare = (left: unknown, right: unknown, path: string, name: string): void => {
    if (isCollection(left) && isCollection(right) && Array.isArray(left) === Array.isArray(right)) {
      compareCollections(left, right, path)
    } else if (left !== right) {
      if (!isExact && isIgnored(name, left, right)) ignoredCount += 1
      else kinds.set(path, 'value')
    }
  }
  const compareCollections = (left: object, right: object, path: string): void => {
    const leftEntries = new Map(entriesOf(left))
    const rightEntries = new Map(entriesOf(right))
    if (Array.isArray(left) && !isSameOrder(leftEntries, rightEntries)) kinds.set(path, 'order')
    for (const key of new Set([...leftEntries.keys(), ...rightEntries.keys()])) {
      const isOnBothSides = leftEntries.has(key) && rightEntries.has(key)
      const entryPath = pathOf(path, key)
      if (isOnBothSides) compare(leftEntries.get(key), rightEntries.get(key), entryPath, key)
      else kinds.set(entryPath, 'value')
    }
  }
  compare(one, other, ROOT_PATH, '')
  return { kinds, ignoredCount }
}

/**
 * Returns the entries of an object or list with their keys. The key of a list entry is its `_id` if
 * every entry of the list has a unique `_id`, and its index otherwise.
 */
export function entriesOf(value: object): [key: string, value: unknown][] {
  if (!Array.isArray(value)) return Object.entries(value)
  const ids = value.map((entry) => Object(entry)._id)
  const haveIds = ids.every((id) => typeof id === 'string') && new Set(ids).size === ids.length
  return value.map((entry, index) => [String(haveIds ? ids[index] : index), entry])
}

/** Returns whether a value is an object or a list. */
export const isCollection = (value: unknown): value is object =>
  typeof value === 'object' && value !== null

type Entries = ReadonlyMap<string, unknown>

/** Returns whether the entries that are on both sides have the same order. */
function isSameOrder(left: Entries, right: Entries): boolean {
  const leftKeys = [...left.keys()].filter((key) => right.has(key))
  const rightKeys = [...right.keys()].filter((key) => left.has(key))
  return leftKeys.every((key, index) => key === rightKeys[index])
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const REQUEST_ID = /^(x-)?request[-_]?id$/i

function isIgnored(name: string, left: unknown, right: unknown): boolean {
  if (typeof left !== 'string' || typeof right !== 'string') return false
  return REQUEST_ID.test(name) || (TIMESTAMP.test(left) && TIMESTAMP.test(right))
}

import type { Coverage, CoverageItem, OperationCoverage } from './schemas.js'
import { isCovered, percentageOf, totalsOf } from './totals.js'

/**
 * Merges the coverage of several runs, as if one server had received all requests. `runs` must not
 * be empty.
 */
export function mergeCoverage(runs: readonly Coverage[]): Coverage {
  // Skip runs without requests. They list the items for the server's default assumptions, which may
  // differ from the assumptions of the environments that received requests.
  const used = runs.filter(({ requests }) => requests > 0)
  return (used.length > 0 ? used : runs.slice(0, 1)).reduce(addCoverage)
}

function addCoverage(one: Coverage, other: Coverage): Coverage {
  const operations = mergeBy(
    [...one.operations, ...other.operations],
    ({ operation }) => operation,
    addOperation
  )
  const totals = totalsOf(operations.flatMap(({ items }) => items))
  return {
    percentage: percentageOf(totals),
    ...totals,
    requests: one.requests + other.requests,
    operations,
    unmocked: {
      requests: one.unmocked.requests + other.unmocked.requests,
      targets: mergeBy(
        [...one.unmocked.targets, ...other.unmocked.targets],
        ({ method, path }) => `${method} ${path}`,
        addRequests
      )
    }
  }
}

function addOperation(one: OperationCoverage, other: OperationCoverage): OperationCoverage {
  const items = mergeBy([...one.items, ...other.items], ({ id }) => id, addItem)
  return {
    ...addRequests(one, other),
    ...totalsOf(items),
    items,
    others: mergeBy([...one.others, ...other.others], ({ status }) => status, addTally),
    unknownParameters: mergeBy(
      [...one.unknownParameters, ...other.unknownParameters],
      ({ parameter }) => parameter,
      addRequests
    )
  }
}

function addItem(one: CoverageItem, other: CoverageItem): CoverageItem {
  const item = addTally(one, other)
  return { ...item, covered: isCovered(item) }
}

function addTally<Record extends { count: number; injected: number }>(
  one: Record,
  other: Record
): Record {
  return { ...one, count: one.count + other.count, injected: one.injected + other.injected }
}

function addRequests<Record extends { requests: number }>(one: Record, other: Record): Record {
  return { ...one, requests: one.requests + other.requests }
}

/** Merges items with the same key. Keeps the order in which the keys first occur. */
function mergeBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string | number,
  add: (one: Item, other: Item) => Item
): Item[] {
  const merged = new Map<string | number, Item>()
  for (const item of items) {
    const before = merged.get(keyOf(item))
    merged.set(keyOf(item), before ? add(before, item) : item)
  }
  return [...merged.values()]
}

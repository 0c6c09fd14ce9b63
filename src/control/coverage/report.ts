import type { Counts, OperationCounts } from './counts.js'
import type { CoveragePlan, PlannedItem } from './plan.js'
import type { Coverage, CoverageItem, OperationCoverage } from './schemas.js'

/** Returns the coverage of the items that are wanted. */
export function reportOf(
  plans: readonly CoveragePlan[],
  counts: Counts,
  isWanted: (item: PlannedItem) => boolean
): Coverage {
  const operations = plans.map((plan) => operationCoverage(plan, counts.operations.get(plan), isWanted))
  const covered = sum(operations.map((operation) => operation.covered))
  const total = sum(operations.map((operation) => operation.total))
  return {
    percentage: Math.floor((covered / total) * 1000) / 10,
    covered,
    total,
    requests: counts.requests,
    operations,
    unserved: {
      requests: counts.unservedRequests,
      targets: [...counts.unserved].map(([target, requests]) => {
        const [method = '', path = ''] = target.split(' ', 2)
        return { method, path, requests }
      })
    }
  }
}

function operationCoverage(
  { operation: { id, method, url }, items: planned }: CoveragePlan,
  counts: OperationCounts | undefined,
  isWanted: (item: PlannedItem) => boolean
): OperationCoverage {
  const counted = planned.map((item, index) => {
    const [met = 0, injected = 0] = counts?.items.subarray(index * 2) ?? []
    return { item, met, injected }
  })
  const items = counted
    .filter(({ item }) => isWanted(item))
    .map(({ item: { id, kind, name, byFault, how, requests }, met, injected }): CoverageItem => {
      const covered = met > 0 || (byFault && injected > 0)
      return { id, kind, name, met, injected, byFault, covered, how, requests }
    })
  const unwanted = counted.filter(({ item, met, injected }) => item.error && !isWanted(item) && met + injected > 0)
  return {
    operation: id,
    method,
    path: url.replace(/:(\w+)/g, '{$1}'),
    requests: counts?.requests ?? 0,
    covered: items.filter(({ covered }) => covered).length,
    total: items.length,
    items,
    others: [
      ...unwanted.map(({ item, met, injected }) => ({ status: item.error?.status ?? 0, met, injected })),
      ...[...(counts?.others ?? [])].map(([status, [met, injected]]) => ({ status, met, injected }))
    ],
    unread: [...(counts?.unread.counts ?? [])].map(([parameter, requests]) => ({ parameter, requests }))
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

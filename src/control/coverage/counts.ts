import type { JournalEntry } from '../requests/entry.js'
import type { RecordedRequest } from '../requests/schemas.js'
import { type CoveragePlan, UNREAD } from './plan.js'

/** How many names of parameters, and of methods and paths, are kept. */
const MAX_NAMES = 20
const MAX_LENGTH = 200

export interface OperationCounts {
  requests: number
  /** Of each item of the plan how often it was met, and after that how often by a fault. */
  items: Float64Array
  /** The same of statuses that are not in the plan. */
  others: Map<number, [met: number, injected: number]>
  unread: Map<string, number>
}

type Beside = Pick<RecordedRequest, 'method' | 'path' | 'unread'>

/** Returns, of a request that is not all of the contract, what is beside it. Most are, and need not be described. */
export function besideContract(entry: JournalEntry): Beside | undefined {
  return entry.operation && (entry.sent & UNREAD) === 0 ? undefined : entry.peek()
}

/** What the requests of an environment, or of all, have met. */
export type Counts = ReturnType<typeof createCounts>

export function createCounts() {
  const operations = new Map<CoveragePlan, OperationCounts>()
  /** By method and path. */
  const unserved = new Map<string, number>()
  let [requests, unservedRequests] = [0, 0]

  return {
    operations,
    unserved,

    get requests(): number {
      return requests
    },

    get unservedRequests(): number {
      return unservedRequests
    },

    clear(): void {
      operations.clear()
      unserved.clear()
      requests = unservedRequests = 0
    },

    /** Counts a request that has ended, with its plan if an operation serves it. */
    add(entry: JournalEntry, plan: CoveragePlan | undefined, beside: Beside | undefined): void {
      requests += 1
      if (plan) addRequest(countsOf(plan), plan, entry, beside)
      else unservedRequests += 1
      if (!plan && beside) addName(unserved, `${beside.method} ${beside.path}`)
    }
  }

  function countsOf(plan: CoveragePlan): OperationCounts {
    let counts = operations.get(plan)
    if (!counts) {
      counts = { requests: 0, items: new Float64Array(plan.items.length * 2), others: new Map(), unread: new Map() }
      operations.set(plan, counts)
    }
    return counts
  }
}

function addRequest(
  counts: OperationCounts,
  plan: CoveragePlan,
  entry: JournalEntry,
  beside: Beside | undefined
): void {
  const { items } = counts
  const { status, sent } = entry
  const column = entry.injected ? 1 : 0
  counts.requests += 1
  increment(items, column)
  if (beside) for (const name of beside.unread.query) addName(counts.unread, name)
  if (status === 0) return
  const index = plan.codes.get(entry.errorCode) ?? plan.statuses.get(status)
  if (index === undefined) addOther(counts, status, column)
  else increment(items, index * 2 + column)
  if (status !== 200) return
  const bits = (sent & ~UNREAD) | (entry.hasKey ? plan.key : 0) | (entry.replayed ? plan.replay : 0)
  for (let rest = bits; rest !== 0; rest &= rest - 1) {
    increment(items, (plan.firstSent + 31 - Math.clz32(rest & -rest)) * 2 + column)
  }
}

function increment(numbers: Float64Array, index: number): void {
  numbers[index] = (numbers[index] ?? 0) + 1
}

function addOther({ others }: OperationCounts, status: number, column: 0 | 1): void {
  const counts = others.get(status) ?? [0, 0]
  counts[column] += 1
  others.set(status, counts)
}

function addName(names: Map<string, number>, name: string): void {
  const shown = name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}...` : name
  const count = names.get(shown)
  if (count !== undefined || names.size < MAX_NAMES) names.set(shown, (count ?? 0) + 1)
}

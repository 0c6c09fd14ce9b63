import { pathOf } from '../../http/target.js'
import { unreadParameters } from '../../http/unread.js'
import { parametersOf } from '../requests/details.js'
import type { JournalEntry } from '../requests/entry.js'
import { type CoveragePlan, UNREAD } from './plan.js'

/** How many names of parameters, and of methods and paths, are kept. */
const MAX_NAMES = 20
const MAX_LENGTH = 200
/** How many texts are remembered that stand for these names, and how many characters of one. */
const MAX_SENT = 100
const MAX_SENT_LENGTH = 1000

/** What is counted of a request that has ended. */
export type EndedRequest = Pick<JournalEntry, 'status' | 'errorCode' | 'sent' | 'hasKey' | 'replayed' | 'injected'>

/** Counts by name, without secrets. */
interface Names {
  counts: Map<string, number>
  /** The names by the texts that were sent, as it takes a query for each word to find secrets in one. */
  bySent: Map<string, string>
}

export interface OperationCounts {
  requests: number
  /** Of each item of the plan how often it was met, and after that how often by a fault. */
  items: Float64Array
  /** The same of statuses that are not in the plan. */
  others: Map<number, [met: number, injected: number]>
  unread: Names
}

/** Returns the function that replaces secrets in texts of a request. */
export type Redaction = (entry: JournalEntry) => (text: string) => string

/** What of a request is beside the contract, as it was sent. */
interface Beside {
  method: string
  path: string
  unread: readonly string[]
  redact: (text: string) => string
}

/** Returns, of a request that is not all of the contract, what is beside it. */
export function besideContract(entry: JournalEntry, redaction: Redaction): Beside | undefined {
  const { operation } = entry
  if (operation && (entry.sent & UNREAD) === 0) return undefined
  const [method = '', url = ''] = entry.text.split('\n', 2)
  const unread = operation ? unreadParameters([...new Set(parametersOf(url).map(([name]) => name))], operation) : []
  let redacted: ReturnType<Redaction> | undefined
  const redact = (text: string) => {
    redacted ??= redaction(entry)
    return redacted(text)
  }
  return { method, path: pathOf(url), unread, redact }
}

/** What the requests of an environment, or of all, have met. */
export type Counts = ReturnType<typeof createCounts>

export function createCounts() {
  const operations = new Map<CoveragePlan, OperationCounts>()
  /** By method and path. */
  const unserved = createNames()
  let [requests, unservedRequests] = [0, 0]

  return {
    operations,
    unserved: unserved.counts,

    get requests(): number {
      return requests
    },

    get unservedRequests(): number {
      return unservedRequests
    },

    clear(): void {
      operations.clear()
      unserved.counts.clear()
      unserved.bySent.clear()
      requests = unservedRequests = 0
    },

    /** Counts a request that has ended, with its plan if an operation serves it. */
    add(entry: EndedRequest, plan: CoveragePlan | undefined, beside: Beside | undefined): void {
      requests += 1
      if (plan) addRequest(countsOf(plan), plan, entry, beside)
      else unservedRequests += 1
      if (plan || !beside) return
      const { method, path, redact } = beside
      addName(unserved, `${method} ${path}`, () => `${method} ${redact(path)}`)
    }
  }

  function countsOf(plan: CoveragePlan): OperationCounts {
    let counts = operations.get(plan)
    if (!counts) {
      counts = { requests: 0, items: new Float64Array(plan.items.length * 2), others: new Map(), unread: createNames() }
      operations.set(plan, counts)
    }
    return counts
  }
}

function addRequest(
  counts: OperationCounts,
  plan: CoveragePlan,
  entry: EndedRequest,
  beside: Beside | undefined
): void {
  const { items } = counts
  const { status, sent } = entry
  const column = entry.injected ? 1 : 0
  counts.requests += 1
  increment(items, column)
  if (beside) for (const name of beside.unread) addName(counts.unread, name, () => beside.redact(name))
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

function createNames(): Names {
  return { counts: new Map(), bySent: new Map() }
}

/** Counts a text that was sent by the name it is shown as. What is new when all names are taken is not looked at. */
function addName({ counts, bySent }: Names, sent: string, show: () => string): void {
  let name = bySent.get(sent)
  if (name === undefined) {
    if (counts.size >= MAX_NAMES) return
    const shown = show()
    name = shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}...` : shown
    if (bySent.size < MAX_SENT && sent.length <= MAX_SENT_LENGTH) bySent.set(sent, name)
  }
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

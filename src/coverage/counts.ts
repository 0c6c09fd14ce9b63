import type { Operation } from '../schema/operation.js'

/** The maximum number of different names that a `NameCounts` counts. */
const MAX_NAMES = 20
/** The maximum number of characters in a name. Longer names are cut off. */
const MAX_NAME_LENGTH = 200

export interface Tally {
  /** The number of responses from the server itself. */
  count: number
  /** The number of responses from injected faults. */
  injected: number
}

/** Counts how often each of the first 20 names occurs. Ignores all other names. */
class NameCounts {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    const isLong = name.length > MAX_NAME_LENGTH
    const key = isLong ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name
    const count = this.#counts.get(key)
    if (count === undefined && this.#counts.size >= MAX_NAMES) return
    this.#counts.set(key, (count ?? 0) + 1)
  }

  entries(): [name: string, count: number][] {
    return [...this.#counts]
  }
}

class OperationCounts {
  /** The counts for each coverage item, by the item's id. */
  readonly items = new Tallies<string>()
  readonly statuses = new Tallies<number>()
  readonly unknownParameters = new NameCounts()
}

class Tallies<Key> {
  readonly #tallies = new Map<Key, Tally>()

  add(key: Key, isInjected: boolean): void {
    const tally = this.get(key)
    if (isInjected) tally.injected += 1
    else tally.count += 1
    this.#tallies.set(key, tally)
  }

  get(key: Key): Tally {
    return this.#tallies.get(key) ?? { count: 0, injected: 0 }
  }

  entries(): [Key, Tally][] {
    return [...this.#tallies]
  }
}

/** The counts for the requests of one environment or of the whole server. */
export class RequestCounts {
  unmockedRequests = 0
  /** Methods and paths that match no operation, such as `GET /v1/topics`. */
  readonly unmockedTargets = new NameCounts()
  readonly #operations = new Map<Operation, OperationCounts>()

  of(operation: Operation): OperationCounts {
    const existing = this.#operations.get(operation)
    if (existing) return existing
    const counts = new OperationCounts()
    this.#operations.set(operation, counts)
    return counts
  }
}

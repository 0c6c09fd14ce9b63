import { assume } from '../domain/assumptions.js'
import { MalformedQuery } from '../domain/query-string.js'
import type { Environment, EnvironmentDefaults } from '../environments/service.js'
import { isUnmocked, type JournalEntry } from '../journal/entry.js'
import { type Operation, unknownParameters } from '../schema/operation.js'
import { RequestCounts } from './counts.js'
import { isDocumented, type PlannedItem, planOf } from './items.js'
import type { Coverage, CoverageItem, OperationCoverage } from './schemas.js'
import { isCovered, percentageOf, totalsOf } from './totals.js'

/**
 * Counts how often requests cover each item of the API reference, per environment and for the whole
 * server. The counts are kept in memory only. Resetting an environment or clearing its journal
 * doesn't change the counts.
 */
export class CoverageService {
  readonly #defaults: EnvironmentDefaults
  readonly #plans = new Map<Operation, readonly PlannedItem[]>()
  #server = new RequestCounts()
  #environments = new WeakMap<Environment, RequestCounts>()
  /**
   * The documented items of all environments that have received a request. Which items are
   * documented depends on an environment's assumptions.
   */
  readonly #documented = new Set<PlannedItem>()

  constructor(defaults: EnvironmentDefaults) {
    this.#defaults = defaults
  }

  /** Adds an operation's items to the coverage. */
  include(operation: Operation): void {
    this.#plans.set(operation, planOf(operation))
  }

  /** Counts a completed request. `environment` is undefined if the request has no valid API key. */
  count(entry: JournalEntry, environment: Environment | undefined): void {
    // The API reference doesn't document HEAD requests, so don't count them.
    if (entry.operation && entry.method === 'HEAD') return
    const covered = this.#itemsCoveredBy(entry)
    const description = this.#needsDescription(entry)
      ? entry.journal.describer.request(entry)
      : undefined
    this.#add(this.#server, entry, covered, description)
    if (environment) this.#add(this.#countsOf(environment), entry, covered, description)
  }

  /**
   * Returns the coverage of an environment. Leaves out the status 401, because unauthenticated
   * requests don't belong to an environment.
   */
  of(environment: Environment): Coverage {
    const { name, assumptions } = environment
    const counts = this.#environments.get(environment) ?? new RequestCounts()
    const coverage = this.#coverageOf(
      counts,
      (item) => item.error?.status !== 401 && isDocumented(item, assumptions)
    )
    return { ...coverage, environment: name }
  }

  /**
   * Returns the coverage of all requests, including requests to environments that no longer exist.
   */
  ofServer(): Coverage {
    const assumptions = assume(this.#defaults.profile, this.#defaults.assumptions)
    const hasRequests = this.#documented.size > 0
    return this.#coverageOf(this.#server, (item) =>
      hasRequests ? this.#documented.has(item) : isDocumented(item, assumptions)
    )
  }

  /** Clears the counts of an environment. */
  clear(environment: Environment): void {
    this.#environments.delete(environment)
  }

  /** Clears the counts of all environments and of the whole server. */
  clearAll(): void {
    this.#server = new RequestCounts()
    this.#documented.clear()
    this.#environments = new WeakMap()
  }

  #itemsCoveredBy(entry: JournalEntry): readonly PlannedItem[] {
    const plan = entry.operation && this.#plans.get(entry.operation)
    return plan?.filter((item) => item.isCoveredBy(entry)) ?? []
  }

  /**
   * Returns whether the coverage lists the request's path or its unknown parameters. Both are taken
   * from the request's description, which contains no secrets.
   */
  #needsDescription({ operation, query, stub }: JournalEntry): boolean {
    if (stub !== undefined) return false
    if (!operation) return true
    if (query instanceof MalformedQuery) return false
    return unknownParameters(Object.keys(query), operation).length > 0
  }

  #add(
    counts: RequestCounts,
    entry: JournalEntry,
    covered: readonly PlannedItem[],
    description: ReturnType<JournalEntry['journal']['describer']['request']> | undefined
  ): void {
    const { operation, method, status, injected } = entry
    if (!operation) {
      if (!isUnmocked(entry)) return
      counts.unmockedRequests += 1
      counts.unmockedTargets.add(`${method} ${description?.path}`)
      return
    }
    const operationCounts = counts.of(operation)
    for (const { id } of covered) operationCounts.items.add(id, injected)
    if (status > 0) operationCounts.statuses.add(status, injected)
    for (const name of description?.unknown.query ?? []) operationCounts.unknownParameters.add(name)
  }

  #countsOf(environment: Environment): RequestCounts {
    const existing = this.#environments.get(environment)
    if (existing) return existing
    const counts = new RequestCounts()
    this.#environments.set(environment, counts)
    for (const item of [...this.#plans.values()].flat()) {
      if (isDocumented(item, environment.assumptions)) this.#documented.add(item)
    }
    return counts
  }

  #coverageOf(counts: RequestCounts, isIncluded: (item: PlannedItem) => boolean): Coverage {
    const operations = [...this.#plans].map(([operation, plan]) =>
      operationCoverage(operation, plan.filter(isIncluded), counts)
    )
    const totals = totalsOf(operations.flatMap((operation) => operation.items))
    const { unmockedRequests } = counts
    return {
      percentage: percentageOf(totals),
      ...totals,
      requests: operations.reduce((sum, { requests }) => sum + requests, unmockedRequests),
      operations,
      unmocked: { requests: unmockedRequests, targets: unmockedTargets(counts) }
    }
  }
}

function unmockedTargets({ unmockedTargets }: RequestCounts): Coverage['unmocked']['targets'] {
  return unmockedTargets.entries().map(([target, requests]) => {
    const [method = '', path = ''] = target.split(' ')
    return { method, path, requests }
  })
}

function operationCoverage(
  operation: Operation,
  plan: readonly PlannedItem[],
  allCounts: RequestCounts
): OperationCoverage {
  const counts = allCounts.of(operation)
  const items = plan.map((item) => toCoverageItem(item, counts.items.get(item.id)))
  const documentedStatuses = new Set(plan.map(({ error }) => error?.status ?? 200))
  const called = counts.items.get(plan[0]?.id ?? '')
  return {
    operation: operation.id,
    method: operation.method,
    path: operation.url.replace(/:(\w+)/g, '{$1}'),
    requests: called.count + called.injected,
    ...totalsOf(items),
    items,
    others: counts.statuses
      .entries()
      .filter(([status]) => !documentedStatuses.has(status as 200))
      .map(([status, tally]) => ({ status, ...tally })),
    unknownParameters: counts.unknownParameters
      .entries()
      .map(([parameter, requests]) => ({ parameter, requests }))
  }
}

function toCoverageItem(
  { id, kind, name, how, error }: PlannedItem,
  { count, injected }: { count: number; injected: number }
): CoverageItem {
  const byFault = error?.status === 500
  const covered = isCovered({ count, injected, byFault })
  return { id, kind, name, count, injected, byFault, covered, how }
}

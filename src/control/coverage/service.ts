import { type Assumptions, assume } from '../../core/assumptions.js'
import type { Environment, EnvironmentDefaults } from '../../environments/service.js'
import type { JournalEntry } from '../requests/entry.js'
import { besideContract, type Counts, createCounts, type Redaction } from './counts.js'
import { type CoveragePlan, isDocumented, type PlannedItem, planOf, sentBits } from './plan.js'
import { reportOf } from './report.js'
import type { Coverage } from './schemas.js'

type Operation = CoveragePlan['operation']
type CountedEnvironment = Pick<Environment, 'key' | 'assumptions'>

/**
 * Counts what the requests of each environment, and of all together, have met of what the contract documents. In memory,
 * and apart from the journals: neither their capacity nor emptying them matters, nor a reset of the environment.
 */
export function coverageService(defaults: EnvironmentDefaults, redaction: Redaction) {
  const plans = new Map<Operation, CoveragePlan>()
  const server = createCounts()
  const environments = new Map<number, Counts>()
  /** What was documented for the environments that have had requests. */
  const documented = new Set<PlannedItem>()

  return {
    /** Adds an operation to what is counted. */
    include(operation: Operation): void {
      if (!plans.has(operation)) plans.set(operation, planOf(operation))
    },

    /** Returns what a request was sent with, as its journal entry keeps it until it ends. */
    sentBits(operation: Operation, query: Parameters<typeof sentBits>[1]): number {
      const plan = plans.get(operation)
      return plan ? sentBits(plan, query) : 0
    },

    /** Returns a function that counts a request that has ended; of `undefined`, one without a valid key. */
    counterOf(environment: CountedEnvironment | undefined): (entry: JournalEntry) => void {
      const own = environment && countsOf(environment)
      return (entry) => {
        if (entry.ignored) return
        const plan = entry.operation && plans.get(entry.operation)
        if (environment && own?.requests === 0) noteDocumented(environment.assumptions)
        const beside = besideContract(entry, redaction)
        own?.add(entry, plan, beside)
        server.add(entry, plan, beside)
      }
    },

    /** Returns the coverage of an environment. Requests without a valid key belong to none, so it has no 401. */
    of(environment: Environment): Coverage {
      const isWanted = (item: PlannedItem) => item.error?.status !== 401 && isDocumented(item, environment.assumptions)
      return { ...reportOf([...plans.values()], countsOf(environment), isWanted), environment: environment.name }
    },

    /** Returns the coverage of all requests, also those of environments that have been removed. */
    ofServer(): Coverage {
      const assumptions = assume(defaults.profile, defaults.assumptions)
      const isWanted = (item: PlannedItem) =>
        documented.size > 0 ? documented.has(item) : isDocumented(item, assumptions)
      return reportOf([...plans.values()], server, isWanted)
    },

    /** Starts again for an environment. */
    clear: ({ key }: Environment): void => environments.get(key)?.clear(),

    /** Starts again for all environments and the server. */
    clearAll(): void {
      for (const counts of [server, ...environments.values()]) counts.clear()
      documented.clear()
    },

    /** Forgets a removed environment; the server's counts keep what it had. */
    drop: (environmentKey: number): void => void environments.delete(environmentKey)
  }

  function countsOf({ key }: CountedEnvironment): Counts {
    let counts = environments.get(key)
    if (!counts) {
      counts = createCounts()
      environments.set(key, counts)
    }
    return counts
  }

  function noteDocumented(assumptions: Assumptions): void {
    for (const { items } of plans.values()) {
      for (const item of items) if (isDocumented(item, assumptions)) documented.add(item)
    }
  }
}

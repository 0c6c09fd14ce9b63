import { type Connection, path } from './connection.js'
import type { FaultRule, NewFaultRule } from './control-api.js'

/** The fault rules of an environment. */
export interface Faults {
  /** Returns all rules with their counters, in the order they were added. */
  list(): Promise<FaultRule[]>
  /** Adds a rule, which applies once unless `times` is given. */
  add(rule: NewFaultRule): Promise<FaultRule>
  remove(id: string): Promise<void>
  /** Removes all rules. */
  clear(): Promise<void>
}

export function faultsOf(connection: Connection): Faults {
  return {
    list: async () => (await connection.json<{ faults: FaultRule[] }>('GET', '/_mock/faults')).faults,
    add: (rule) => connection.json('POST', '/_mock/faults', { body: rule }),
    remove: (id) => connection.done('DELETE', path`/_mock/faults/${id}`),
    clear: () => connection.done('DELETE', '/_mock/faults')
  }
}

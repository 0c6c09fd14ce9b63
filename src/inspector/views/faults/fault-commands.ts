import type { FaultRule } from '../../../client/index.js'
import type { Action } from '../../parts/popover.js'
import { useCommands } from '../../shell/commands.js'
import { useSession } from '../../shell/session.js'
import { useAction } from '../actions.js'
import {
  EFFECTS,
  isUsedUp,
  LATENCIES,
  OPERATIONS,
  useAddFault,
  useSetLatency
} from './fault-choices.js'

/** Adds commands to the palette that add and remove faults, and that set the latency. */
export function useFaultCommands(rules: readonly FaultRule[]): void {
  const addFault = useAddFault()
  const setLatency = useSetLatency()
  const removeRules = useRemoveRules()
  const faults = Object.entries(OPERATIONS).flatMap(([target, operation]) =>
    Object.keys(EFFECTS).map(
      (effect): Action => ({
        icon: 'bolt',
        name: `Fault: ${target}, ${effect}, once`,
        run: () => addFault({ operation }, effect, 'once', target)
      })
    )
  )
  const latencies = Object.keys(LATENCIES).map(
    (name): Action => ({ icon: 'bolt', name: `Latency: ${name}`, run: () => setLatency(name) })
  )
  const removeAll: Action = {
    icon: 'bolt',
    name: 'Faults: remove all',
    run: () => removeRules(rules, 'Removed all faults')
  }
  useCommands([...latencies, ...(rules.length > 0 ? [removeAll] : []), ...faults])
}

/** Returns a function that removes rules. Undo adds back the rules that weren't used up. */
export function useRemoveRules() {
  const { env } = useSession()
  const runAction = useAction()
  return (rules: readonly FaultRule[], successText: string) => {
    const remove = () => Promise.all(rules.map(({ id }) => env.faults.remove(id)))
    const addAgain = async () => {
      for (const removed of rules.filter((rule) => !isUsedUp(rule))) {
        const { id: _id, seen: _seen, hits, times, ...rule } = removed
        await env.faults.add({ ...rule, times: times === 'always' ? times : times - hits })
      }
    }
    return runAction(remove, successText, addAgain)
  }
}

import { useState } from 'preact/hooks'
import type { FaultEffect, LatencyPreset, LatencySetting, NewFaultRule, Operation } from '../../../client/index.js'
import { useToasts } from '../../parts/toast.js'
import { type Command, useCommands } from '../../shell/palette.js'
import { useSession } from '../../shell/session.js'
import { durationWords } from './words.js'

/** The operations, by the words that a request is told by. */
export const OPERATIONS: readonly [Operation | undefined, string][] = [
  [undefined, 'Any request'],
  ['listMessages', 'List messages'],
  ['setIntegrationAsPrimary', 'Set primary'],
  ['retrieveWorkflowStep', 'Get step']
]

/** What the app meets, by its name. */
export const EFFECTS: readonly [string, FaultEffect, hint: string][] = [
  ['500', { status: 500 }, 'An internal error'],
  ['503', { status: 503, headers: { 'retry-after': '1' } }, 'Out of service, to be tried again in a second'],
  ['429', { status: 429 }, 'Too many requests, with the headers of the rate limit'],
  ['Timeout', { delay: 60_000 }, 'Done as ever, a minute late'],
  ['Reset', { abort: 'reset' }, 'The connection is closed, nothing is done'],
  ['Cut off', { abort: 'truncate' }, 'Done, but half of the answer comes'],
  ['Lost answer', { lostAnswer: true }, 'Done, but no answer comes: is it safe to try again?']
]

export const TIMES: readonly [NonNullable<NewFaultRule['times']>, string][] = [
  [1, 'once'],
  [2, 'twice'],
  ['always', 'always']
]

/** The presets of the server, and what is asked for most. */
export const LATENCIES: readonly [string, LatencyPreset | LatencySetting, hint: string][] = [
  ['None', 'none', 'As fast as the server is'],
  ['Office', 'office', 'A line to a region nearby: from 20 ms, on average 30 ms'],
  ['Mobile', 'mobile', 'A phone on 4G: from 80 ms, on average 150 ms'],
  ['Bad', 'bad', 'A phone on a train: from 400 ms, on average 1 s'],
  ['500 ms', { delay: 500, spread: 0 }, 'Each answer 500 ms later'],
  ['2 s', { delay: 2000, spread: 0 }, 'Each answer 2 s later']
]

/** What one does with the faults and the latency of the environment; each tells what came of it. */
export function useFaultActions() {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const [isBusy, setBusy] = useState(false)
  const act = async <Result>(
    action: () => Promise<Result>,
    words: string,
    undo?: (result: Result) => Promise<unknown>
  ) => {
    setBusy(true)
    // Wrapped, as most actions have no result.
    const done = await run(async () => ({ result: await action() }))
    setBusy(false)
    changed()
    if (!done) return
    const takeBack = async () => {
      await run(async () => undo?.(done.result))
      changed()
    }
    tell(words, undo && { name: 'Undo', run: takeBack })
  }
  return {
    isBusy,
    add: (rule: NewFaultRule, words: string) =>
      act(
        () => env.faults.add(rule),
        words,
        ({ id }) => env.faults.remove(id)
      ),
    remove: (id: string) => act(() => env.faults.remove(id), `Removed ${id}`),
    clear: () => act(() => env.faults.clear(), 'All faults are removed'),
    setLatency: (latency: LatencyPreset | LatencySetting, words: string) =>
      act(() => env.latency.set(latency), words === 'None' ? 'Answers are not delayed' : `Answers are slow: ${words}`)
  }
}

/** Returns a length of time by which answers come later, such as `at least 80 ms later, on average 150 ms`. */
export function latencyWords(delay: number, spread: number): string {
  if (spread === 0) return `${durationWords(delay)} later`
  return `at least ${durationWords(delay)} later, on average ${durationWords(delay + spread)}`
}

/** Offers faults and latencies in the palette, wherever one is. */
export function useFaultCommands(): void {
  const { add, clear, setLatency } = useFaultActions()
  useCommands([
    ...OPERATIONS.flatMap(([operation, words]) =>
      EFFECTS.map(
        ([name, effect]): Command => ({
          name: `Fail the next ${operation ?? 'request'}: ${name}`,
          run: () => void add({ ...(operation && { operation }), effect }, `${words}: ${name}, once`)
        })
      )
    ),
    { name: 'Remove all faults', run: () => void clear() },
    ...LATENCIES.map(
      ([name, latency]): Command => ({
        name: `Latency: ${name.toLowerCase()}`,
        run: () => void setLatency(latency, name)
      })
    )
  ])
}

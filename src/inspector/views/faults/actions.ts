import { useState } from 'preact/hooks'
import type { FaultRule, LatencyPreset, LatencySetting, NewFaultRule } from '../../../client/index.js'
import { useNotices } from '../../parts/notices.js'
import { type Command, useCommands } from '../../shell/palette.js'
import { addressOf, useRoute } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { ONE_CLICKS, OPERATIONS, PRESETS, ruleOf } from './one-click.js'
import { durationWords } from './words.js'

/** What one does with the faults and the latency of the environment; each tells what came of it. */
export function useFaultActions() {
  const { env, changed } = useSession()
  const { view } = useRoute()
  const { run, tell } = useNotices()
  const [isBusy, setBusy] = useState(false)
  const act = async <Result>(action: () => Promise<Result>, words: (result: Result) => string) => {
    setBusy(true)
    // Wrapped, as most actions have no result.
    const done = await run(async () => ({ result: await action() }))
    setBusy(false)
    if (!done) return
    changed()
    tell(words(done.result), view === 'faults' ? undefined : { href: addressOf(['faults']), text: 'Faults' })
  }
  return {
    isBusy,
    add: (rule: NewFaultRule, name: string) =>
      act(
        () => env.faults.add(rule),
        ({ times, operation }) =>
          `${name}: ${times === 'always' ? 'from now on for each' : 'for the next'} ${operation ?? 'request'}`
      ),
    remove: ({ id }: FaultRule) =>
      act(
        () => env.faults.remove(id),
        () => `Removed ${id}`
      ),
    clear: () =>
      act(
        () => env.faults.clear(),
        () => 'All faults removed'
      ),
    setLatency: (latency: LatencyPreset | LatencySetting) =>
      act(
        () => env.latency.set(latency),
        ({ delay, spread }) =>
          delay + spread === 0 ? 'Answers are not delayed' : `Answers come ${latencyWords(delay, spread)}`
      )
  }
}

export function latencyWords(delay: number, spread: number): string {
  if (spread === 0) return `${durationWords(delay)} later`
  return `at least ${durationWords(delay)} later, on average ${durationWords(delay + spread)}`
}

/** Offers the faults and latencies of one click in the palette, wherever one is. */
export function useFaultCommands(): void {
  const { add, clear, setLatency } = useFaultActions()
  const next = [undefined, ...OPERATIONS].flatMap((operation) =>
    ONE_CLICKS.map(
      (each): Command => ({
        name: `Fail the next ${operation ?? 'request'}: ${each.name}`,
        run: () => void add(ruleOf(each, { operation, isAlways: false }), each.name)
      })
    )
  )
  useCommands([
    ...next,
    { name: 'Remove all faults', run: () => void clear() },
    ...PRESETS.map(({ name }): Command => ({ name: `Latency: ${name}`, run: () => void setLatency(name) }))
  ])
}

import './faults.css'
import '../../parts/items.css'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { useLive } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { useFaultActions } from './actions.js'
import { AddRule, OneClickCard } from './add.js'
import { LatencyCard } from './latency.js'
import { targetOf } from './one-click.js'
import { RuleList } from './rules.js'

/** Milliseconds from a request until the counters are loaded again, with all that came meanwhile. */
const COUNTERS_AFTER = 300

/** What goes wrong on purpose: faults, and the latency; at `#/faults?operation=listMessages&times=always`. */
export function FaultsView({ route: { params } }: ViewProps) {
  const { env, version } = useSession()
  const { isBusy, clear } = useFaultActions()
  const [isAdding, setAdding] = useState(false)
  const faults = useResource(() => env.faults.list(), [env, version])
  const latency = useResource(() => env.latency.get(), [env, version])
  useReloadByRequests(() => {
    faults.reload()
    latency.reload()
  })
  useCommands([{ name: 'Add a fault rule by hand', run: () => setAdding(true) }])
  const rules = faults.value ?? []
  const target = targetOf(params)
  return (
    <>
      <div class="view-head">
        <h1>Faults</h1>
        <span class="row spread">
          <button type="button" onClick={() => setAdding(true)}>
            Add a rule by hand
          </button>
          <button type="button" class="danger" disabled={isBusy || rules.length === 0} onClick={clear}>
            Remove all
          </button>
        </span>
      </div>
      <OneClickCard rules={rules} target={target} />
      <LatencyCard latency={latency} />
      {faults.error !== undefined && <ErrorNote error={faults.error} retry={faults.reload} />}
      {faults.value && <RuleList rules={rules} />}
      {isAdding && <AddRule close={() => setAdding(false)} />}
    </>
  )
}

/** Calls `reload` a moment after requests have come. */
function useReloadByRequests(reload: () => void): void {
  const live = useLive()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = live.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        reload()
      }, COUNTERS_AFTER)
    })
    return () => {
      end()
      clearTimeout(timer)
    }
    // Those of resources stay the same.
  }, [live])
}

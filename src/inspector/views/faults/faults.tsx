import './faults.css'
import '../../parts/items.css'
import { useState } from 'preact/hooks'
import { ErrorNote } from '../../parts/errors.js'
import { useCommands } from '../../shell/palette.js'
import type { ViewProps } from '../view.js'
import { useFaultActions } from './actions.js'
import { AddRule, OneClickCard } from './add.js'
import { LatencyCard } from './latency.js'
import { targetOf } from './one-click.js'
import { RuleList } from './rules.js'
import { useFaultState } from './state.js'

/** What goes wrong on purpose: faults, and the latency; at `#/faults?operation=listMessages&times=always`. */
export function FaultsView({ route: { params } }: ViewProps) {
  const { isBusy, clear } = useFaultActions()
  const [isAdding, setAdding] = useState(false)
  const { faults, latency } = useFaultState()
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

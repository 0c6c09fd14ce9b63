import { useId, useState } from 'preact/hooks'
import type { Latency } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'
import type { Resource } from '../../parts/resource.js'
import { latencyWords, useFaultActions } from './actions.js'
import { PRESETS } from './one-click.js'

/** How much later all answers come: by a preset, or by figures of one's own. */
export function LatencyCard({ latency: { value, error, reload } }: { latency: Resource<Latency> }) {
  const { isBusy, setLatency } = useFaultActions()
  const id = useId()
  return (
    <section class="card" aria-labelledby={id}>
      <div class="row">
        <h2 id={id}>Latency</h2>
        {value && (
          <span class="hint">
            {value.delay + value.spread === 0
              ? 'Answers are not delayed.'
              : `Each answer comes ${latencyWords(value.delay, value.spread)}.`}
          </span>
        )}
      </div>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      <div class="fault-choices">
        {PRESETS.map(({ name, title, hint }) => (
          <button
            key={name}
            type="button"
            aria-pressed={value?.preset === name}
            disabled={isBusy}
            onClick={() => setLatency(name)}
          >
            <b>{title}</b>
            <span class="hint">{hint}</span>
          </button>
        ))}
      </div>
      {value && <OwnFigures latency={value} />}
    </section>
  )
}

function OwnFigures({ latency }: { latency: Latency }) {
  const { isBusy, setLatency } = useFaultActions()
  // What one has typed stays when another sets the latency meanwhile.
  const [typed, setTyped] = useState<{ delay?: string; spread?: string }>({})
  const { delay = String(latency.delay), spread = String(latency.spread) } = typed
  const isSame = Number(delay) === latency.delay && Number(spread) === latency.spread
  const field = (label: string, value: string, set: (value: string) => void) => (
    <label class="inline">
      {label}
      <input
        type="number"
        class="fault-figure"
        required
        min="0"
        step="1"
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
      ms
    </label>
  )
  return (
    <form
      class="row"
      onSubmit={async (event) => {
        event.preventDefault()
        await setLatency({ delay: Number(delay), spread: Number(spread) })
        setTyped({})
      }}
    >
      {field('Your own: at least', delay, (text) => setTyped({ ...typed, delay: text }))}
      {field('and on average this much more', spread, (text) => setTyped({ ...typed, spread: text }))}
      <button type="submit" disabled={isBusy || isSame}>
        Set
      </button>
    </form>
  )
}

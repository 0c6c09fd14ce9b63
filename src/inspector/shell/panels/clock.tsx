import { useEffect, useState } from 'preact/hooks'
import type { ClockState, Duration } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { signedDuration, timeText } from '../../parts/times.js'
import { type PanelProps, useAction } from '../panel.js'
import { useSession } from '../session.js'

const STEPS: readonly [string, Duration][] = [
  ['1 minute', '1m'],
  ['1 hour', '1h'],
  ['1 day', '1d'],
  ['1 week', '7d']
]

/** The time of the environment, and what changes it. */
export function ClockPanel({ close, reload }: PanelProps) {
  const { env, latest } = useSession()
  const { value: clock, error, isLoading, reload: again } = useResource(() => env.clock.get(), [env, latest])
  const { act, isRunning } = useAction({ reload })
  const [by, setBy] = useState('')
  const [at, setAt] = useState('')
  const now = (state: ClockState) => `It is ${timeText(state.now)} in the environment`
  return (
    <Dialog title="Clock of the environment" close={close}>
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={again} />}
      {clock && <Now clock={clock} />}
      <div class="row">
        <button
          type="button"
          disabled={isRunning || clock?.setting.mode === 'fixed'}
          onClick={() => act(async () => env.clock.set((await env.clock.get()).now), now)}
        >
          Stop it now
        </button>
        <button
          type="button"
          disabled={isRunning || clock?.setting.mode === 'wall'}
          onClick={() => act(() => env.clock.set({ mode: 'wall' }), now)}
        >
          Back to the machine's time
        </button>
      </div>
      <div class="row" role="group" aria-label="Advance">
        Advance by
        {STEPS.map(([name, step]) => (
          <button key={name} type="button" disabled={isRunning} onClick={() => act(() => env.clock.advance(step), now)}>
            {name}
          </button>
        ))}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          act(() => env.clock.advance(by as Duration), now)
        }}
      >
        <label>
          Another length of time
          <input value={by} placeholder="90m, 12h, 3d" required onInput={(event) => setBy(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={isRunning}>
          Advance
        </button>
      </form>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          act(() => env.clock.set(`${at}Z`), now)
        }}
      >
        <label>
          A time in UTC
          <input
            type="datetime-local"
            step="1"
            value={at}
            required
            onInput={(event) => setAt(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isRunning}>
          Stop it there
        </button>
      </form>
    </Dialog>
  )
}

function Now({ clock: { setting, now } }: { clock: ClockState }) {
  const elapsed = useElapsed(now, setting.mode !== 'fixed')
  return (
    <div>
      <p class="now">
        <time dateTime={now}>{timeText(new Date(Date.parse(now) + elapsed).toISOString())}</time>
      </p>
      <p class="hint">
        {setting.mode === 'wall'
          ? "It follows the machine's clock."
          : setting.mode === 'fixed'
            ? 'It is stopped.'
            : `It runs, ${signedDuration(setting.by)} from the machine's clock.`}
      </p>
    </div>
  )
}

/** Milliseconds since a time was told, by the second. */
function useElapsed(now: string, isRunning: boolean): number {
  const [elapsed, setElapsed] = useState(0)
  useEffect(() => {
    const startedAt = performance.now()
    setElapsed(0)
    if (!isRunning) return
    const timer = setInterval(() => setElapsed(performance.now() - startedAt), 1000)
    return () => clearInterval(timer)
  }, [now, isRunning])
  return elapsed
}

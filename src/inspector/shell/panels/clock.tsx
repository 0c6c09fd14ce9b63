import { useEffect, useState } from 'preact/hooks'
import type { ClockState, ClockTime, Duration } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { Popover } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { shortTime, signedDuration, timeText } from '../../parts/times.js'
import { useToasts } from '../../parts/toast.js'
import { useSession } from '../session.js'

const STEPS: readonly [string, Duration][] = [
  ['1 minute', '1m'],
  ['1 hour', '1h'],
  ['1 day', '1d'],
  ['1 week', '7d']
]

/** The time of the environment in the bar, and what changes it. */
export function ClockPopover() {
  const { env, latest } = useSession()
  const { value: clock, error, reload } = useResource(() => env.clock.get(), [env, latest])
  const now = useNow(clock)
  const isOwn = clock !== undefined && clock.setting.mode !== 'wall'
  return (
    <Popover
      class={`quiet toned ${toneClass(isOwn ? 'warn' : undefined)}`}
      label={`Clock: ${timeText(now)}`}
      isPadded
      button={
        <>
          <Icon name="clock" />
          <span class="text">{clock && shortTime(now).slice(0, -3)}</span>
        </>
      }
    >
      {() =>
        error !== undefined ? <ErrorNote error={error} retry={reload} /> : clock && <Clock {...{ clock, now }} />
      }
    </Popover>
  )
}

/** The time as it goes on. */
function useNow(clock: ClockState | undefined): string {
  const [, tick] = useState(0)
  const { mode } = clock?.setting ?? {}
  useEffect(() => {
    const timer = mode === 'fixed' ? undefined : setInterval(() => tick((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [mode])
  if (clock && mode === 'fixed') return clock.now
  return new Date(Date.now() + (clock?.setting.mode === 'offset' ? clock.setting.by : 0)).toISOString()
}

function Clock({ clock: { setting }, now }: { clock: ClockState; now: string }) {
  const { env, changed } = useSession()
  const { run, tell } = useToasts()
  const [at, setAt] = useState('')
  const act = async (action: () => Promise<ClockState>) => {
    const state = await run(action)
    if (!state) return
    changed()
    const restored: ClockTime = setting
    tell(`It is ${timeText(state.now)}`, { name: 'Undo', run: () => act(() => env.clock.set(restored)) })
  }
  const words = {
    wall: 'It is that of the machine.',
    fixed: 'It stands still.',
    offset: setting.mode === 'offset' ? `It runs, ${signedDuration(setting.by)} from the machine's.` : ''
  }
  return (
    <div class="form clock">
      <div>
        <p class="big">{shortTime(now)}</p>
        <p class="hint">{words[setting.mode]} All times are UTC.</p>
      </div>
      <div class="line" role="group" aria-label="Go ahead">
        {STEPS.map(([name, step]) => (
          <button key={name} type="button" onClick={() => act(() => env.clock.advance(step))}>
            +{name}
          </button>
        ))}
      </div>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void act(() => env.clock.set(`${at}Z`))
        }}
      >
        <input
          type="datetime-local"
          step="1"
          aria-label="A time in UTC"
          required
          value={at}
          onInput={(event) => setAt(event.currentTarget.value)}
        />
        <button type="submit">Stop it there</button>
      </form>
      <div class="line">
        {setting.mode !== 'fixed' && (
          <button type="button" onClick={() => act(async () => env.clock.set((await env.clock.get()).now))}>
            Stop it now
          </button>
        )}
        {setting.mode !== 'wall' && (
          <button type="button" onClick={() => act(() => env.clock.set({ mode: 'wall' }))}>
            The machine's time
          </button>
        )}
      </div>
    </div>
  )
}

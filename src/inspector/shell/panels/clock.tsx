import { useEffect, useState } from 'preact/hooks'
import type { ClockState } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { type Action, Popover } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { shortTime, signedDuration, timeText } from '../../parts/times.js'
import { run, tell } from '../../parts/toast.js'
import { useCommands } from '../palette.js'
import { useSession } from '../session.js'

const STEPS = [
  ['1 minute', '1m'],
  ['1 hour', '1h'],
  ['1 day', '1d'],
  ['1 week', '7d']
] as const

/** The time of the environment in the bar, and what changes it. */
export function ClockPopover() {
  const { env, latest, changed } = useSession()
  const { value: clock, error, reload } = useResource(() => env.clock.get(), [env, latest])
  const now = useNow(clock)
  const setting = clock?.setting ?? { mode: 'wall' }
  const act = async (action: () => Promise<ClockState>) => {
    const state = await run(action)
    if (!state) return
    changed()
    tell(`It is ${timeText(state.now)}`, { name: 'Undo', run: () => act(() => env.clock.set(setting)) })
  }
  const steps = STEPS.map(([name, by]): Action => ({ name: `+${name}`, run: () => act(() => env.clock.advance(by)) }))
  const stop = { name: 'Stop it now', run: () => act(async () => env.clock.set((await env.clock.get()).now)) }
  const follow = { name: "The machine's time", run: () => act(() => env.clock.set({ mode: 'wall' })) }
  useCommands([...steps, stop, follow].map((each) => ({ ...each, name: `Clock: ${each.name}`, icon: 'clock' })))
  const stopThere = (event: Event) => {
    event.preventDefault()
    const at = new FormData(event.currentTarget as HTMLFormElement).get('at')
    void act(() => env.clock.set(`${at}Z`))
  }
  const buttons = (actions: readonly Action[]) => (
    <div class="line" role="group" aria-label="Clock">
      {actions.map(({ name, run: press }) => (
        <button key={name} onClick={press}>
          {name}
        </button>
      ))}
    </div>
  )
  const words = {
    wall: 'It is that of the machine.',
    fixed: 'It stands still.',
    offset: setting.mode === 'offset' ? `It runs, ${signedDuration(setting.by)} from the machine's.` : ''
  }
  return (
    <Popover
      class={`quiet toned ${toneClass(setting.mode === 'wall' ? undefined : 'warn')}`}
      label={`Clock: ${timeText(now)}`}
      isPadded
      button={
        <>
          <Icon name="clock" />
          <span class="text">{clock && shortTime(now).slice(0, -3)}</span>
        </>
      }
    >
      {() => (
        <div class="form clock">
          {error !== undefined && <ErrorNote error={error} retry={reload} />}
          <div>
            <p class="big">{shortTime(now)}</p>
            <p class="hint">{words[setting.mode]} All times are UTC.</p>
          </div>
          {buttons(steps)}
          <form class="line" onSubmit={stopThere}>
            <input type="datetime-local" name="at" step="1" aria-label="A time in UTC" required />
            <button>Stop it there</button>
          </form>
          {buttons([...(setting.mode === 'fixed' ? [] : [stop]), ...(setting.mode === 'wall' ? [] : [follow])])}
        </div>
      )}
    </Popover>
  )
}

/** The time as it goes on. */
function useNow(clock: ClockState | undefined): string {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  const { setting, now } = clock ?? { setting: { mode: 'wall' }, now: '' }
  if (setting.mode === 'fixed') return now
  return new Date(Date.now() + (setting.mode === 'offset' ? setting.by : 0)).toISOString()
}

import { useEffect, useState } from 'preact/hooks'
import type { ClockState, ClockTime } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { Icon } from '../../parts/icon.js'
import { type Fields, JsonDialog } from '../../parts/json-form.js'
import { type Action, ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { shortTime, signedDuration, timeText } from '../../parts/times.js'
import { run, tell } from '../../parts/toast.js'
import { useCommands } from '../palette.js'
import { useSession } from '../session.js'

const STEPS = [
  ['+1 minute', '1m'],
  ['+1 hour', '1h'],
  ['+1 day', '1d'],
  ['+1 week', '7d']
] as const

/** The time of the environment in the bar, and what changes it. */
export function ClockMenu() {
  const { env, version, changed } = useSession()
  const { value: clock } = useResource(() => env.clock.get(), [env, version])
  const [isSetting, setSetting] = useState(false)
  const now = useNow(clock)
  const setting = clock?.setting ?? { mode: 'wall' }
  const act = async (action: () => Promise<ClockState>) => {
    const state = await action()
    changed()
    tell(`It is ${timeText(state.now)}, ${wordsOf(state)}`, {
      name: 'Undo',
      run: () => set(setting)
    })
  }
  const set = (time: ClockTime) => run(() => act(() => env.clock.set(time)))
  const actions: readonly Action[] = [
    ...STEPS.map(([name, by]) => ({
      name,
      run: () => run(() => act(() => env.clock.advance(by)))
    })),
    { name: 'Stop it now', run: () => set(now) },
    { name: 'Stop it at…', run: () => setSetting(true) },
    { name: "The machine's time", run: () => set({ mode: 'wall' }) }
  ]
  const stop = ({ at }: Fields) => act(() => env.clock.set(String(at)))
  const dialog = {
    title: 'Stop the clock at a time',
    value: { at: now },
    button: 'Stop it there',
    submit: stop
  }
  useCommands(actions.map(({ name, run }) => ({ name: `Clock: ${name}`, icon: 'clock', run })))
  return (
    <>
      <ActionMenu
        class={`quiet toned ${toneClass(setting.mode === 'wall' ? undefined : 'warn')}`}
        label={`Clock: ${timeText(now)}`}
        groups={[{ title: clock && `UTC, ${wordsOf(clock)}`, actions }]}
        button={[
          <Icon key="icon" name="clock" />,
          <span key="time" class="text">
            {clock && shortTime(now).slice(0, -3)}
          </span>
        ]}
      />
      {isSetting && <JsonDialog {...dialog} close={() => setSetting(false)} />}
    </>
  )
}

function wordsOf({ setting }: ClockState): string {
  if (setting.mode === 'offset') return `${signedDuration(setting.by)} from the machine's`
  return setting.mode === 'fixed' ? 'standing still' : 'as of the machine'
}

/** The time as it goes on. */
function useNow(clock: ClockState | undefined): string {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  if (clock?.setting.mode === 'fixed') return clock.now
  const by = clock?.setting.mode === 'offset' ? clock.setting.by : 0
  return new Date(Date.now() + by).toISOString()
}

import { useEffect, useState } from 'preact/hooks'
import type { ClockState, ClockTime } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { formatShortTime, formatTime, signedDuration } from '../../parts/format-time.js'
import { Icon } from '../../parts/icon.js'
import { type Fields, JsonDialog } from '../../parts/json-dialog.js'
import { type Action, ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { runWithToast, showToast } from '../../parts/toast.js'
import { useCommands } from '../commands.js'
import { useSession } from '../session.js'

const STEPS = [
  { name: '+1 minute', duration: '1m' },
  { name: '+1 hour', duration: '1h' },
  { name: '+1 day', duration: '1d' },
  { name: '+1 week', duration: '7d' }
] as const

/**
 * Shows the environment's clock in the bar, with a menu that advances, freezes or resets the clock.
 */
export function ClockMenu() {
  const { env, settingsVersion, reloadAll } = useSession()
  const { value: clock } = useResource(() => env.clock.get(), [env, settingsVersion])
  const [isDialogOpen, setDialogOpen] = useState(false)
  const now = useNow(clock)
  const setting = clock?.setting ?? { mode: 'wall' }
  const change = async (action: () => Promise<ClockState>) => {
    // Don't use the loaded clock, because it may be older than the last change.
    const before = await env.clock.get()
    const state = await action()
    reloadAll()
    const undo = async () => {
      await env.clock.set(before.setting)
      reloadAll()
    }
    showToast(`It is ${formatTime(state.now)} (${describeClock(state)})`, () =>
      runWithToast(undo, 'Undone')
    )
  }
  const set = (time: ClockTime) => runWithToast(() => change(() => env.clock.set(time)))
  const freezeAt = ({ at }: Fields) => change(() => env.clock.set(String(at)))
  const actions: readonly Action[] = [
    ...STEPS.map(({ name, duration }) => ({
      name,
      run: () => runWithToast(() => change(() => env.clock.advance(duration)))
    })),
    { name: 'Freeze now', run: () => set(now) },
    { name: 'Freeze at…', isReadOnly: true, run: () => setDialogOpen(true) },
    { name: 'Use the system time', run: () => set({ mode: 'wall' }) }
  ]
  useCommands(
    actions.map((action) => ({ ...action, name: `Clock: ${action.name}`, icon: 'clock' }))
  )
  const button = [
    <Icon key="icon" name="clock" />,
    <span key="time" class="text">
      {clock && formatShortTime(now).slice(0, -3)}
    </span>
  ]
  return (
    <>
      <ActionMenu
        class={`quiet toned ${toneClass(setting.mode === 'wall' ? undefined : 'warn')}`}
        label={`Clock: ${formatTime(now)}`}
        groups={[{ title: clock && `UTC, ${describeClock(clock)}`, actions }]}
        button={button}
      />
      {isDialogOpen && (
        <JsonDialog
          title="Freeze the clock at a time"
          fields={[{ name: 'at', label: 'Time in UTC', kind: 'time', value: now }]}
          button="Freeze"
          submit={freezeAt}
          close={() => setDialogOpen(false)}
        />
      )}
    </>
  )
}

function describeClock({ setting }: ClockState): string {
  if (setting.mode === 'offset') return `${signedDuration(setting.by)} from the system time`
  return setting.mode === 'fixed' ? 'frozen' : 'system time'
}

/** Returns a clock's current time, and rerenders the component every second. */
function useNow(clock: ClockState | undefined): string {
  const [, rerender] = useState({})
  useEffect(() => {
    const timer = setInterval(() => rerender({}), 1000)
    return () => clearInterval(timer)
  }, [])
  if (clock?.setting.mode === 'fixed') return clock.now
  const offset = clock?.setting.mode === 'offset' ? clock.setting.by : 0
  return new Date(Date.now() + offset).toISOString()
}

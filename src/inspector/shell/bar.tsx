import { useEffect, useState } from 'preact/hooks'
import type { ListedEnvironment } from '../../client/index.js'
import { toneClass } from '../parts/chip.js'
import { copyText } from '../parts/copy.js'
import { Icon } from '../parts/icon.js'
import { type ActionGroups, ActionMenu } from '../parts/popover.js'
import { useResource } from '../parts/resource.js'
import { shortTime, timeText } from '../parts/times.js'
import { useToasts } from '../parts/toast.js'
import { delayOf, rulesOn, useFaultState } from '../views/faults/state.js'
import { useEnvironmentCommands } from './environment-commands.js'
import { KeysDialog } from './keys-dialog.js'
import { usePalette } from './palette.js'
import { environmentAddress, usePanel } from './panel.js'
import { Panels } from './panels/panels.js'
import { exportState } from './panels/seed.js'
import { addressOf, go, useRoute } from './router.js'
import { useSession } from './session.js'

interface Props {
  environments: readonly ListedEnvironment[]
  /** Loads the list of environments again. */
  reload(): void
}

/** The one bar of the page: which environment is shown, its time, its faults, and the way to all else. */
export function Bar({ environments, reload }: Props) {
  const { open } = usePalette()
  const { changed } = useSession()
  const more: ActionGroups = [
    {
      actions: [
        { name: 'API documentation', run: () => window.open('docs', '_blank', 'noopener') },
        { name: 'Load everything again', icon: 'again', run: changed }
      ]
    }
  ]
  useEnvironmentCommands(environments, reload)
  return (
    <header class="bar">
      <span class="logo">
        <Icon name="bell" />
      </span>
      <EnvironmentMenu environments={environments} />
      <Clock />
      <Faults />
      <button type="button" class="find" aria-label="Find anything" aria-keyshortcuts="Control+K" onClick={open}>
        <Icon name="find" />
        <span>Find anything</span>
        <kbd>{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ActionMenu button={<Icon name="more" />} label="More" class="quiet only-icon" groups={more} />
      <KeysDialog />
      <Panels environments={environments} reload={reload} />
    </header>
  )
}

function EnvironmentMenu({ environments }: Pick<Props, 'environments'>) {
  const { listed, env } = useSession()
  const { view } = useRoute()
  const { open } = usePanel()
  const { run } = useToasts()
  const name = listed?.name ?? 'Environment'
  const groups: ActionGroups = [
    {
      title: 'Environments',
      actions: [
        ...environments.slice(0, 12).map((each) => ({
          name: each.name,
          ...(each.environmentId === listed?.environmentId && { icon: 'check' as const }),
          run: () => go(environmentAddress(view, each))
        })),
        { name: 'All environments…', run: () => open('environments') }
      ]
    },
    {
      title: 'Beside it',
      actions: environments
        .filter(({ environmentId }) => environmentId !== listed?.environmentId)
        .slice(0, 6)
        .map((each) => ({ name: each.name, run: () => go(addressOf(['requests'], { beside: each.name })) }))
    },
    {
      title: name,
      actions: [
        { name: 'Copy key', icon: 'copy', run: () => run(() => copyText(env.apiKey), 'Copied') },
        { name: 'Profile…', hint: listed?.profile, run: () => open('profile') },
        { name: 'Snapshots…', run: () => open('snapshots') },
        { name: 'Load a seed…', run: () => open('seed') },
        { name: 'Export as a seed', run: () => run(() => exportState(env, listed?.name)) },
        { name: 'Reset…', isDanger: true, run: () => open('reset') }
      ]
    }
  ]
  return (
    <ActionMenu
      class="quiet environment"
      label={`Environment ${name}`}
      groups={groups}
      button={
        <>
          <span class="dot is-good" />
          <bdi class="cut">{name}</bdi>
          <Icon name="down" />
        </>
      }
    />
  )
}

/** The time of the environment, to the minute as it goes on. */
function Clock() {
  const { env, latest } = useSession()
  const { open } = usePanel()
  const { value: clock } = useResource(() => env.clock.get(), [env, latest])
  const [, tick] = useState(0)
  const isRunning = clock?.setting.mode !== 'fixed'
  useEffect(() => {
    const timer = isRunning ? setInterval(() => tick((count) => count + 1), 10_000) : undefined
    return () => clearInterval(timer)
  }, [isRunning])
  const ahead = clock?.setting.mode === 'offset' ? clock.setting.by : 0
  const now = clock?.setting.mode === 'fixed' ? clock.now : new Date(Date.now() + ahead).toISOString()
  return (
    <button
      type="button"
      class={`quiet toned ${toneClass(clock?.setting.mode === 'wall' ? undefined : 'warn')}`}
      aria-label={`Clock: ${timeText(now)}`}
      title={timeText(now)}
      onClick={() => open('clock')}
    >
      <Icon name="clock" />
      <span class="text">{clock && shortTime(now).slice(0, -3)}</span>
    </button>
  )
}

function Faults() {
  const { faults, latency } = useFaultState()
  const count = rulesOn(faults).length + (delayOf(latency) > 0 ? 1 : 0)
  const words = count === 1 ? '1 fault' : `${count} faults`
  return (
    <a
      class={`button quiet toned ${toneClass(count > 0 ? 'fault' : undefined)}`}
      aria-label={words}
      href={addressOf(['faults'])}
    >
      <Icon name="bolt" />
      {count > 0 && <span>{count}</span>}
      <span class="text">{count === 1 ? 'fault' : 'faults'}</span>
    </a>
  )
}

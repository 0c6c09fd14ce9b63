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
  const { open: openPanel } = usePanel()
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
      <ClockPopover />
      <FaultsPopover />
      <button type="button" class="quiet" aria-label="Changes" onClick={() => openPanel('snapshots')}>
        <span class="diamond" />
        <span class="text">Changes</span>
      </button>
      <button type="button" class="find" aria-label="Find anything" aria-keyshortcuts="Control+K" onClick={open}>
        <Icon name="find" />
        <span>Find anything</span>
        <kbd>{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ActionMenu button={<Icon name="more" />} label="More" class="quiet only-icon" groups={more} />
      <Panels environments={environments} reload={reload} />
    </header>
  )
}

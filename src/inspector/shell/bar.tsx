import type { ListedEnvironment } from '../../client/index.js'
import { Icon } from '../parts/icon.js'
import { type ActionGroups, ActionMenu } from '../parts/popover.js'
import { FaultsPopover } from '../views/faults/faults.js'
import { useEnvironmentCommands } from './environment-commands.js'
import { KeysDialog } from './keys-dialog.js'
import { usePalette } from './palette.js'
import { usePanel } from './panel.js'
import { ClockPopover } from './panels/clock.js'
import { EnvironmentMenu } from './panels/environment-menu.js'
import { Panels } from './panels/panels.js'
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
  useEnvironmentCommands(environments)
  return (
    <>
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
      </header>
      <KeysDialog />
      <Panels environments={environments} reload={reload} />
    </>
  )
}

import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import { useShortcut } from '../parts/keyboard.js'
import { type Action, type ActionGroup, ActionMenu } from '../parts/popover.js'
import { FaultsPopover } from '../views/faults/faults.js'
import { useCommands } from './commands.js'
import { Palette } from './palette.js'
import { ClockMenu } from './panels/clock.js'
import { type DialogView, useEnvironmentActions } from './panels/environment.js'
import { SnapshotsDialog } from './panels/snapshots.js'
import { hrefTo, navigate } from './router.js'
import { useSession } from './session.js'

/**
 * The environment menu shows at most this many actions per group. The palette lists all of them.
 */
const MAX_IN_MENU = 8

/**
 * The top bar, with menus for the environment, the clock and faults, and buttons for changes and
 * the palette.
 */
export function Bar() {
  const { listed } = useSession()
  const docsUrl = `docs?${new URLSearchParams({ environment: listed?.name ?? '' })}`
  const [OpenDialog, setOpenDialog] = useState<DialogView>()
  // Pass a function that returns `dialog`. The setter would call `dialog` itself instead of storing
  // it, because a component is a function.
  const open = (dialog: DialogView | undefined) => setOpenDialog(() => dialog)
  const togglePalette = () =>
    setOpenDialog((current?: DialogView) => (current === Palette ? undefined : Palette))
  const { groups, rejectionDialog } = useEnvironmentActions(open)
  const moreActions: readonly Action[] = [
    { name: 'New request', icon: 'send', run: () => navigate(hrefTo(['requests', 'new'])) },
    { name: 'API documentation', run: () => window.open(docsUrl, '_blank', 'noopener') },
    { name: 'Keyboard shortcuts', hint: '?', run: () => open(Shortcuts) }
  ]
  useShortcut('ctrl+k', togglePalette)
  useShortcut('?', () => open(Shortcuts))
  useCommands([
    ...groups.flatMap(({ title, actions }) =>
      actions.map((action) => ({ ...action, hint: action.hint ?? title }))
    ),
    ...moreActions.map((action) => ({ ...action, isReadOnly: true }))
  ])
  return (
    <>
      <header class="bar line">
        <span class="line is-accent">
          <Icon name="bell" />
        </span>
        <EnvironmentMenu name={listed?.name ?? 'Environment'} groups={groups} />
        <ClockMenu />
        <FaultsPopover />
        <button class="quiet is-accent" aria-label="Changes" onClick={() => open(SnapshotsDialog)}>
          <Icon name="diamond" />
          <span class="text">Changes</span>
        </button>
        <button class="find spread" aria-label="Find anything" onClick={() => open(Palette)}>
          <Icon name="find" />
          <span>Find anything</span>
          <kbd class="spread">{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <ActionMenu label="More" groups={[{ actions: moreActions }]} />
      </header>
      {OpenDialog && <OpenDialog close={() => open(undefined)} />}
      {rejectionDialog}
    </>
  )
}

function EnvironmentMenu({ name, groups }: { name: string; groups: readonly ActionGroup[] }) {
  const shortGroups = groups.map(({ title, actions }) => ({
    title,
    actions: actions.slice(0, MAX_IN_MENU)
  }))
  const button = (
    <>
      <span class="dot is-good" />
      <bdi class="cut">{name}</bdi>
      <Icon name="down" />
    </>
  )
  return (
    <ActionMenu
      class="quiet environment"
      label={`Environment ${name}`}
      groups={shortGroups}
      button={button}
    />
  )
}

const SHORTCUTS: Record<string, string> = {
  'Ctrl K': 'Find an action or a record (⌘ K on a Mac)',
  '/': 'Search the list',
  '↓ ↑': 'Move through the list',
  Enter: 'Open',
  Esc: 'Close',
  p: 'Pause the list of requests',
  'j k': 'Next or previous difference between two responses',
  'Ctrl Enter': 'Send the request in the form',
  '?': 'Show these shortcuts'
}

function Shortcuts({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <dl class="facts">
        {Object.entries(SHORTCUTS).map(([key, description]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={description}>{description}</dd>
        ])}
      </dl>
    </Dialog>
  )
}

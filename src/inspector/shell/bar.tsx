import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { type Action, ActionMenu } from '../parts/popover.js'
import { FaultsPopover } from '../views/faults/faults.js'
import { Palette, useCommands } from './palette.js'
import { ClockMenu } from './panels/clock.js'
import { type DialogView, useEnvironmentActions } from './panels/environment.js'
import { SnapshotsDialog } from './panels/snapshots.js'
import { useSession } from './session.js'

/** As many of a group as one can look over in a menu; the palette has all. */
const IN_MENU = 8

/** The one bar of the page: which environment is shown, its time, its faults, and the way to all else. */
export function Bar() {
  const { listed, changed } = useSession()
  const [Shown, show] = useState<DialogView>()
  const open = (dialog: DialogView | undefined) => show(() => dialog)
  const { groups, refusal } = useEnvironmentActions(open)
  const more: readonly Action[] = [
    { name: 'API documentation', run: () => window.open('docs', '_blank', 'noopener') },
    { name: 'Load everything again', icon: 'again', run: changed },
    { name: 'Show the keys', hint: '?', run: () => open(Keys) }
  ]
  useKey('ctrl+k', () => show((now?: DialogView) => (now === Palette ? undefined : Palette)))
  useKey('?', () => open(Keys))
  useCommands([
    ...groups.flatMap(({ title, actions }) => actions.map((each) => ({ ...each, hint: title }))),
    ...more
  ])
  const name = listed?.name ?? 'Environment'
  return (
    <>
      <header class="bar line">
        <span class="line is-accent">
          <Icon name="bell" />
        </span>
        <ActionMenu
          class="quiet environment"
          label={`Environment ${name}`}
          groups={groups.map(({ title, actions }) => ({
            title,
            actions: actions.slice(0, IN_MENU)
          }))}
          button={
            <>
              <span class="dot is-good" />
              <bdi class="cut">{name}</bdi>
              <Icon name="down" />
            </>
          }
        />
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
        <ActionMenu label="More" groups={[{ actions: more }]} />
      </header>
      {Shown && <Shown close={() => open(undefined)} />}
      {refusal}
    </>
  )
}

const KEYS: Record<string, string> = {
  'Ctrl K': 'Find an action or a record (also ⌘ K)',
  '/': 'Search the list',
  '↓ ↑': 'Walk through the list',
  Enter: 'Open',
  Esc: 'Close what is open',
  p: 'Pause the requests',
  '?': 'Show these keys'
}

function Keys({ close }: { close: () => void }) {
  const lines = Object.entries(KEYS).map(([key, what]) => [
    <dt key={key}>
      <kbd>{key}</kbd>
    </dt>,
    <dd key={what}>{what}</dd>
  ])
  return (
    <Dialog title="Keys" close={close}>
      <dl class="facts">{lines}</dl>
    </Dialog>
  )
}

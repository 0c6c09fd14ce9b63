import { useState } from 'preact/hooks'
import { copyText } from '../parts/copy.js'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { type Action, type ActionGroups, ActionMenu } from '../parts/popover.js'
import { run } from '../parts/toast.js'
import { FaultsPopover } from '../views/faults/faults.js'
import { Palette, useCommands } from './palette.js'
import { ClockMenu } from './panels/clock.js'
import { NewEnvironment, ProfileDialog } from './panels/environment.js'
import { useReset } from './panels/go-back.js'
import { exportState, useSeeds } from './panels/seed.js'
import { SnapshotsDialog } from './panels/snapshots.js'
import { addressOf, environmentAddress, go, useRoute } from './router.js'
import { useSession } from './session.js'

/** As many of a group as one can look over in a menu; the palette has all. */
const IN_MENU = 8

const DIALOGS = {
  palette: Palette,
  snapshots: SnapshotsDialog,
  profile: ProfileDialog,
  new: NewEnvironment,
  keys: Keys
}
type DialogName = keyof typeof DIALOGS

/** The one bar of the page: which environment is shown, its time, its faults, and the way to all else. */
export function Bar() {
  const { listed, changed } = useSession()
  const [shown, show] = useState<DialogName>()
  const { groups, refusal } = useEnvironmentActions(show)
  const more: readonly Action[] = [
    { name: 'API documentation', run: () => window.open('docs', '_blank', 'noopener') },
    { name: 'Load everything again', icon: 'again', run: changed },
    { name: 'Show the keys', hint: '?', run: () => show('keys') }
  ]
  useKey('ctrl+k', () => show((now) => (now === 'palette' ? undefined : 'palette')))
  useKey('?', () => show('keys'))
  useCommands([...groups.flatMap(({ title, actions }) => actions.map((each) => ({ ...each, hint: title }))), ...more])
  const name = listed?.name ?? 'Environment'
  const Shown = shown && DIALOGS[shown]
  return (
    <>
      <header class="bar line">
        <span class="line is-accent">
          <Icon name="bell" />
        </span>
        <ActionMenu
          class="quiet environment"
          label={`Environment ${name}`}
          groups={groups.map(({ title, actions }) => ({ title, actions: actions.slice(0, IN_MENU) }))}
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
        <button class="quiet is-accent" aria-label="Changes" onClick={() => show('snapshots')}>
          <Icon name="diamond" />
          <span class="text">Changes</span>
        </button>
        <button class="find spread" aria-label="Find anything" onClick={() => show('palette')}>
          <Icon name="find" />
          <span>Find anything</span>
          <kbd class="spread">{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <ActionMenu label="More" groups={[{ actions: more }]} />
      </header>
      {Shown && <Shown close={() => show(undefined)} />}
      {refusal}
    </>
  )
}

/** What one does with the environment as a whole, and the way to the others. */
function useEnvironmentActions(show: (dialog: DialogName) => void) {
  const { listed, env, environments } = useSession()
  const { view } = useRoute()
  const { actions: seeds, refusal } = useSeeds()
  const own: readonly Action[] = [
    { name: 'Snapshots and changes…', run: () => show('snapshots') },
    { name: 'Export as a seed', run: () => run(() => exportState(env, listed?.name)) },
    ...seeds,
    { name: 'Profile…', hint: listed?.profile, run: () => show('profile') },
    { name: 'Copy key', icon: 'copy', run: () => run(() => copyText(env.apiKey), 'Copied') },
    { name: 'Reset', isDanger: true, run: useReset() }
  ]
  const all = environments.map((each): Action => {
    const isShown = each.environmentId === listed?.environmentId
    return { name: each.name, icon: isShown ? 'check' : undefined, run: () => go(environmentAddress(view, each.name)) }
  })
  const beside = ({ name }: Action) => ({ name, run: () => go(addressOf(['requests'], { beside: name })) })
  const others: ActionGroups = [
    { title: 'Environments', actions: [{ name: 'Make one…', run: () => show('new') }, ...all] },
    { title: 'Beside it', actions: all.filter(({ icon }) => !icon).map(beside) }
  ]
  const groups = [{ title: listed?.name ?? 'Environment', actions: own }, ...(listed ? others : [])]
  return { groups, refusal }
}

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Find an action or a record (also ⌘ K)'],
  ['/', 'Search the list'],
  ['↓ ↑', 'Walk through the list'],
  ['Enter', 'Open'],
  ['Esc', 'Close what is open'],
  ['p', 'Pause the requests'],
  ['?', 'Show these keys']
]

function Keys({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl class="facts">
        {KEYS.map(([key, what]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={what}>{what}</dd>
        ])}
      </dl>
    </Dialog>
  )
}

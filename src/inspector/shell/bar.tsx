import { useState } from 'preact/hooks'
import { copyText } from '../parts/copy.js'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { type Action, type ActionGroups, ActionMenu } from '../parts/popover.js'
import { run } from '../parts/toast.js'
import { FaultsPopover } from '../views/faults/faults.js'
import { Palette, useCommands } from './palette.js'
import { environmentAddress, usePanel } from './panel.js'
import { ClockPopover } from './panels/clock.js'
import { NewEnvironment, ProfilePanel } from './panels/environments.js'
import { snapshotName, useReset } from './panels/go-back.js'
import { exportState, SeedPanel } from './panels/seed.js'
import { SnapshotsPanel } from './panels/snapshots.js'
import { addressOf, go, useRoute } from './router.js'
import { useSession } from './session.js'

/** As many of a group as one can look over in a menu; the palette has all. */
const IN_MENU = 7

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Find an action or a record (also ⌘ K)'],
  ['/', 'Search the list'],
  ['↓ ↑', 'Walk through the list'],
  ['Enter', 'Open'],
  ['Esc', 'Close what is open'],
  ['p', 'Pause the requests'],
  ['?', 'Show these keys']
]

/** The one bar of the page: which environment is shown, its time, its faults, and the way to all else. */
export function Bar() {
  const { listed, changed } = useSession()
  const { name: panel, open, close } = usePanel()
  const [over, setOver] = useState<'palette' | 'keys'>()
  const groups = useEnvironmentActions()
  const more: readonly Action[] = [
    { name: 'API documentation', run: () => window.open('docs', '_blank', 'noopener') },
    { name: 'Load everything again', icon: 'again', run: changed },
    { name: 'Show the keys', hint: '?', run: () => setOver('keys') }
  ]
  useKey('ctrl+k', () => setOver((now) => (now === 'palette' ? undefined : 'palette')))
  useKey('?', () => setOver('keys'))
  useCommands([...groups.flatMap(({ title, actions }) => actions.map((each) => ({ ...each, hint: title }))), ...more])
  const name = listed?.name ?? 'Environment'
  return (
    <>
      <header class="bar line">
        <span class="logo">
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
        <ClockPopover />
        <FaultsPopover />
        <button class="quiet" aria-label="Changes" onClick={() => open('snapshots')}>
          <span class="diamond" />
          <span class="text">Changes</span>
        </button>
        <button
          class="find spread"
          aria-label="Find anything"
          aria-keyshortcuts="Control+K"
          onClick={() => setOver('palette')}
        >
          <Icon name="find" />
          <span>Find anything</span>
          <kbd class="spread">{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
        </button>
        <ActionMenu label="More" groups={[{ actions: more }]} />
      </header>
      {panel === 'snapshots' && <SnapshotsPanel close={close} />}
      {panel === 'profile' && <ProfilePanel close={close} />}
      {panel === 'environment' && listed && <NewEnvironment close={close} />}
      <SeedPanel isOpen={panel === 'seed'} open={() => open('seed')} close={close} />
      {over === 'palette' && <Palette close={() => setOver(undefined)} />}
      {over === 'keys' && (
        <Dialog title="Keys" close={() => setOver(undefined)}>
          <dl class="facts">
            {KEYS.map(([key, what]) => [
              <dt key={key}>
                <kbd>{key}</kbd>
              </dt>,
              <dd key={what}>{what}</dd>
            ])}
          </dl>
        </Dialog>
      )}
    </>
  )
}

/** What one does with the environment as a whole, and the way to the others. */
function useEnvironmentActions(): ActionGroups {
  const { listed, env, environments, changed } = useSession()
  const { view } = useRoute()
  const { open } = usePanel()
  const reset = useReset()
  const take = async () => {
    await run(() => env.snapshot(snapshotName()), 'Took a snapshot')
    changed()
  }
  const own: readonly Action[] = [
    { name: 'Take a snapshot', run: take },
    { name: 'Snapshots and changes…', run: () => open('snapshots') },
    { name: 'Export as a seed', run: () => run(() => exportState(env, listed?.name)) },
    { name: 'Load a seed…', run: () => open('seed') },
    { name: 'Profile…', hint: listed?.profile, run: () => open('profile') },
    { name: 'Copy key', icon: 'copy', run: () => run(() => copyText(env.apiKey), 'Copied') },
    { name: 'Reset', isDanger: true, run: reset }
  ]
  if (!listed) return [{ title: 'Environment', actions: own }]
  const all = environments.map((each): Action => {
    const isShown = each.environmentId === listed.environmentId
    return { name: each.name, icon: isShown ? 'check' : undefined, run: () => go(environmentAddress(view, each)) }
  })
  const beside = ({ name }: Action) => ({ name, run: () => go(addressOf(['requests'], { beside: name })) })
  return [
    { title: listed.name, actions: own },
    { title: 'Environments', actions: [{ name: 'Make one…', run: () => open('environment') }, ...all] },
    { title: 'Beside it', actions: all.filter(({ icon }) => !icon).map(beside) }
  ]
}

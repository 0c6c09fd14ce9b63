import type { FunctionComponent } from 'preact'
import type { EnvironmentOptions } from '../../../client/index.js'
import { copyText } from '../../parts/copy.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import type { Action } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { run } from '../../parts/toast.js'
import { addressOf, go, useRoute } from '../router.js'
import { useSession } from '../session.js'
import { SnapshotsDialog } from './snapshots.js'
import { exportState, useReset, useSeeds } from './state.js'

/** What a choice may open over the page. */
export type DialogView = FunctionComponent<{ close: () => void }>

/** What one does with the environment as a whole, and the way to the others; and a refusal to show. */
export function useEnvironmentActions(open: (dialog: DialogView) => void) {
  const { listed, env, environments } = useSession()
  const { view } = useRoute()
  const { actions: seeds, refusal } = useSeeds()
  const reset = useReset()
  const own: readonly Action[] = [
    { name: 'Snapshots and changes…', run: () => open(SnapshotsDialog) },
    { name: 'Export as a seed', run: () => run(() => exportState(env, listed?.name)) },
    ...seeds,
    ...(listed ? [{ name: 'Profile…', hint: listed.profile, run: () => open(ProfileDialog) }] : []),
    { name: 'Copy key', icon: 'copy', run: () => run(() => copyText(env.apiKey), 'Copied') },
    { name: 'Reset', isDanger: true, run: reset }
  ]
  const all = environments.map(({ name, environmentId }): Action => {
    const icon = environmentId === listed?.environmentId ? 'check' : undefined
    return { name, icon, run: () => go(addressOf([view], { environment: name })) }
  })
  const groups = [
    { title: listed?.name ?? 'Environment', actions: own },
    {
      title: 'Environments',
      actions: [{ name: 'Make one…', run: () => open(NewEnvironment) }, ...all]
    }
  ]
  // Who has but a key can't do more with others.
  return { groups: groups.slice(0, listed ? 2 : 1), refusal }
}

/** Makes an environment, at first one with what this one has now. */
function NewEnvironment({ close }: { close: () => void }) {
  const { mock, listed, changed } = useSession()
  const { view } = useRoute()
  const make = async (options: EnvironmentOptions) => {
    const { name } = await mock.environment(options)
    changed()
    go(addressOf([view], { environment: name }))
  }
  const fork = { name: `${listed?.name}, a fork`, from: listed?.name, profile: listed?.profile }
  return (
    <JsonDialog
      title="Make an environment"
      value={fork}
      button="Make it"
      submit={make}
      close={close}
    />
  )
}

/** The profile of the environment: which position it takes on each assumption, and which of them are its own. */
function ProfileDialog({ close }: { close: () => void }) {
  const { mock, listed } = useSession()
  const { value, error, reload } = useResource(() => mock.assumptions(), [mock])
  const profile = listed?.profile ?? 'document'
  const positions = value && Object.fromEntries(value.map((each) => [each.id, each[profile]]))
  return (
    <Dialog title={`Profile ${profile}`} close={close}>
      <p class="muted">
        Chosen when the environment was made; marked is what is not as the profile has it.
      </p>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {positions && (
        <JsonTree
          label="Positions"
          value={{ ...positions, ...listed?.assumptions }}
          other={positions}
        />
      )}
    </Dialog>
  )
}

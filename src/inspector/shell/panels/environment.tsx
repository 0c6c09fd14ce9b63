import type { FunctionComponent } from 'preact'
import {
  type EnvironmentOptions,
  type ListedEnvironment,
  MockError
} from '../../../client/index.js'
import { copyText } from '../../parts/copy.js'
import { type Fields, JsonDialog } from '../../parts/json-dialog.js'
import type { Action } from '../../parts/popover.js'
import { runWithToast } from '../../parts/toast.js'
import { StubsDialog } from '../../views/stubs/stubs.js'
import { hrefOfEnvironment, sortEnvironments, titleOf } from '../environments.js'
import { hrefTo, navigate, useRoute } from '../router.js'
import { useSession } from '../session.js'
import { EnvironmentsDialog } from './environment-list.js'
import { SnapshotsDialog } from './snapshots.js'
import { exportState, useReset, useSeeds } from './state.js'

/** A dialog that can be opened from a menu. */
export type DialogView = FunctionComponent<{ close: () => void }>

/**
 * Returns the actions of the environment menu. If a seed was rejected, also returns a dialog with
 * the errors.
 */
export function useEnvironmentActions(open: (dialog: DialogView) => void) {
  const { listed, env, environments } = useSession()
  const { view } = useRoute()
  const { actions: seedActions, rejectionDialog } = useSeeds()
  const reset = useReset()
  const ownActions: Action[] = [
    { name: 'Snapshots and changes…', isReadOnly: true, run: () => open(SnapshotsDialog) },
    { name: 'Stubs…', isReadOnly: true, run: () => open(StubsDialog) },
    {
      name: 'Export as a seed',
      isReadOnly: true,
      run: () => runWithToast(() => exportState(env, listed?.name))
    },
    ...seedActions
  ]
  if (listed) {
    ownActions.push({
      name: 'Profile',
      hint: listed.profile,
      isReadOnly: true,
      run: () => window.open('_mock/assumptions', '_blank', 'noopener')
    })
  }
  ownActions.push(
    {
      name: 'Copy API key',
      icon: 'copy',
      isReadOnly: true,
      run: () => runWithToast(() => copyText(env.apiKey), 'Copied')
    },
    { name: 'Reset', isDanger: true, run: reset }
  )
  const otherActions = [
    { name: 'New environment…', isReadOnly: true, run: () => open(NewEnvironmentDialog) },
    {
      name: 'All environments and tests…',
      isReadOnly: true,
      run: () => open(EnvironmentsDialog)
    },
    ...sortEnvironments(environments).map(
      (environment): Action => ({
        name: titleOf(environment),
        hint: environment.removed ? 'removed' : environment.test?.outcome,
        icon: environment.environmentId === listed?.environmentId ? 'check' : undefined,
        isReadOnly: true,
        run: () => navigate(hrefOfEnvironment(environment, view))
      })
    )
  ]
  const groups = [{ title: listed?.name ?? 'Environment', actions: ownActions }]
  // `listed` is undefined if the user has only an API key, which gives no access to other
  // environments.
  if (listed) groups.push({ title: 'Environments', actions: otherActions })
  return { groups, rejectionDialog }
}

const PROFILES = ['document', 'live'] satisfies EnvironmentOptions['profile'][]
const NO_SOURCE = 'nothing'
/** The server's limit for `ttl`: 30 days. */
const MAX_HOURS = 30 * 24

/** Throws if the name is taken. The form shows the error next to the name field. */
function assertUnused(name: unknown, environments: readonly ListedEnvironment[]): void {
  if (!environments.some((environment) => environment.name === name)) return
  const message = `another environment already has the name ${name}; choose a different name`
  throw new MockError(message, { fields: { name: { messages: [message] } } })
}

/** A dialog that creates an environment, by default as a fork of the current one. */
function NewEnvironmentDialog({ close }: { close: () => void }) {
  const { mock, listed, environments, reloadAll } = useSession()
  const { view } = useRoute()
  const create = async ({ from, hours, ...options }: Fields) => {
    assertUnused(options.name, environments)
    const { name } = await mock.environment({
      ...options,
      ...(from !== NO_SOURCE && { from: String(from) }),
      ...(hours !== undefined && { ttl: `${Number(hours)}h` })
    })
    reloadAll()
    navigate(hrefTo([view], { environment: name }))
  }
  const sources = [...environments.map(({ name }) => name), NO_SOURCE]
  return (
    <JsonDialog
      title="New environment"
      value={{}}
      fields={[
        { name: 'name', label: 'Name', value: `Fork of ${listed?.name}` },
        { name: 'from', label: 'Copy of', kind: 'select', options: sources, value: listed?.name },
        {
          name: 'profile',
          label: 'Profile',
          kind: 'select',
          options: PROFILES,
          value: listed?.profile
        },
        {
          name: 'clock',
          label: 'Freeze its clock at (UTC)',
          kind: 'time',
          hint: 'Leave empty to use the clock of the copied environment.'
        },
        {
          name: 'hours',
          label: 'Remove it when unused for (hours)',
          kind: 'number',
          max: MAX_HOURS,
          hint: 'Leave empty to never remove the environment.'
        }
      ]}
      button="Create"
      submit={create}
      close={close}
    />
  )
}

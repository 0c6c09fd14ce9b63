import type { ListedEnvironment } from '../../../client/index.js'
import { copyText } from '../../parts/copy.js'
import { Icon } from '../../parts/icon.js'
import { type ActionGroups, ActionMenu } from '../../parts/popover.js'
import { useToasts } from '../../parts/toast.js'
import { environmentAddress, usePanel } from '../panel.js'
import { addressOf, go, useRoute } from '../router.js'
import { useSession } from '../session.js'
import { snapshotName, useGoBack } from './go-back.js'
import { exportState } from './seed.js'

/** As many environments as one can look over; the rest is a click away. */
const SHOWN = 6

/** The one menu of the environment as a whole. */
export function EnvironmentMenu({ environments }: { environments: readonly ListedEnvironment[] }) {
  const { listed, env } = useSession()
  const { view } = useRoute()
  const { open } = usePanel()
  const { run } = useToasts()
  const reset = useReset()
  const name = listed?.name ?? 'Environment'
  const groups: ActionGroups = [
    {
      title: name,
      actions: [
        { name: 'Take a snapshot', run: () => run(() => env.snapshot(snapshotName()), 'Took a snapshot') },
        { name: 'Snapshots and changes…', run: () => open('snapshots') },
        { name: 'Export as a seed', run: () => run(() => exportState(env, listed?.name)) },
        { name: 'Load a seed…', run: () => open('seed') },
        { name: 'Profile…', hint: listed?.profile, run: () => open('profile') },
        { name: 'Copy key', icon: 'copy', run: () => run(() => copyText(env.apiKey), 'Copied') },
        { name: 'Empty the list of requests', run: () => run(() => env.requests.clear(), 'The list is empty') },
        { name: 'Reset', isDanger: true, run: reset }
      ]
    },
    ...(listed
      ? [
          {
            title: 'Environments',
            actions: [
              ...environments.slice(0, SHOWN).map((each) => ({
                name: each.name,
                ...(each.environmentId === listed.environmentId && { icon: 'check' as const }),
                run: () => go(environmentAddress(view, each))
              })),
              { name: 'All environments…', run: () => open('environments') }
            ]
          },
          {
            title: 'Beside it',
            actions: environments
              .filter(({ environmentId }) => environmentId !== listed.environmentId)
              .slice(0, SHOWN)
              .map((each) => ({
                name: each.name,
                run: () => go(addressOf(['requests'], { beside: each.name }))
              }))
          }
        ]
      : [])
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

/** Returns what sets data, clock and idempotency keys back to what the environment was created or seeded with. */
export function useReset() {
  const { env, listed } = useSession()
  const goBack = useGoBack()
  return () =>
    goBack(`${listed?.name ?? 'The environment'} is reset`, () =>
      env.reset({ parts: ['data', 'clock', 'idempotency'] })
    )
}

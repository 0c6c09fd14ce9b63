import type { EnvironmentDiff } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { timeText } from '../../parts/times.js'
import { run } from '../../parts/toast.js'
import { Actions, useAct } from '../../views/acts.js'
import { Differences, differencesOf } from '../../views/differences.js'
import { useSession } from '../session.js'
import { snapshotName, useGoBack, useReset } from './state.js'

/** What the environment has changed: since each snapshot, newest first, and since it was made. */
export function SnapshotsDialog({ close }: { close: () => void }) {
  const { env, version } = useSession()
  const {
    value: snapshots = [],
    error,
    reload
  } = useResource(() => env.snapshots(), [env, version])
  const goBack = useGoBack()
  const reset = useReset()
  const act = useAct()
  const take = () => act(() => env.snapshot(snapshotName()), 'Took a snapshot')
  return (
    <Dialog title="Snapshots and changes" close={close} wide>
      <Actions actions={[{ name: 'Take a snapshot', run: take }]} />
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      <ul class="states">
        {snapshots.toReversed().map(({ name, createdAt, diff, restore, remove }) => (
          <State
            key={name}
            title={name}
            hint={timeText(createdAt)}
            compare={diff}
            goBack={() => run(() => goBack(`${name} is restored`, restore))}
            remove={() => act(remove, `Deleted ${name}`)}
          />
        ))}
        <State
          title="As it was made"
          hint="created, or seeded last"
          compare={env.diff}
          goBack={reset}
        />
      </ul>
    </Dialog>
  )
}

interface StateProps {
  title: string
  hint: string
  compare(): Promise<EnvironmentDiff>
  goBack(): unknown
  remove?(): unknown
}

/** A state that one can go back to, and what the present one has over it. */
function State({ title, hint, compare, goBack, remove }: StateProps) {
  const { version } = useSession()
  const { value, error, reload } = useResource(compare, [version])
  return (
    <li class="card state" aria-label={title}>
      <div class="line">
        <b dir="auto">{title}</b>
        <span class="hint">{hint}</span>
        <button class="spread" onClick={goBack}>
          {remove ? 'Restore' : 'Reset to it'}
        </button>
        {remove && (
          <ActionMenu
            label={`More of ${title}`}
            groups={[{ actions: [{ name: 'Delete it for good', isDanger: true, run: remove }] }]}
          />
        )}
      </div>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {value && <Differences all={differencesOf(value)} />}
    </li>
  )
}

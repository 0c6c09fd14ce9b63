import type { EnvironmentDiff } from '../../../client/index.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/error-note.js'
import { formatTime } from '../../parts/format-time.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { runWithToast } from '../../parts/toast.js'
import { ActionButtons, useAction } from '../../views/actions.js'
import { DiffList, diffEntries } from '../../views/diff.js'
import { LoadError, WhileConnected } from '../connection-note.js'
import { useSession } from '../session.js'
import { snapshotName, useReplaceState, useReset } from './state.js'

/**
 * Lists the snapshots, newest first, and the baseline. Shows how the current data differs from each
 * of them.
 */
export function SnapshotsDialog({ close }: { close: () => void }) {
  const { env, version } = useSession()
  const { value, error, reload } = useResource(() => env.snapshots(), [env, version])
  const snapshots = (value ?? []).toReversed()
  const replaceState = useReplaceState()
  const reset = useReset()
  const runAction = useAction()
  const take = () => runAction(() => env.snapshot(snapshotName()), 'Took a snapshot')
  return (
    <Dialog title="Snapshots and changes" close={close} wide>
      <ActionButtons actions={[{ name: 'Take a snapshot', run: take }]} />
      <LoadError error={error} retry={reload} />
      <ul class="states">
        {snapshots.map(({ name, createdAt, diff, restore, remove }) => (
          <SavedState
            key={name}
            title={name}
            hint={formatTime(createdAt)}
            compare={diff}
            restore={() => runWithToast(() => replaceState(`Restored ${name}`, restore))}
            remove={() => runAction(remove, `Deleted ${name}`)}
          />
        ))}
        <SavedState
          title="Baseline"
          hint="state when created or last seeded"
          compare={env.diff}
          restore={reset}
        />
      </ul>
    </Dialog>
  )
}

interface SavedStateProps {
  title: string
  hint: string
  compare(): Promise<EnvironmentDiff>
  restore(): unknown
  /** Deletes the snapshot. Undefined for the baseline, which can't be deleted. */
  remove?(): unknown
}

/** A snapshot or the baseline, and how the current data differs from it. */
function SavedState({ title, hint, compare, restore, remove }: SavedStateProps) {
  const { version } = useSession()
  const { value, error, reload } = useResource(compare, [version])
  return (
    <li class="card state" aria-label={title}>
      <div class="line">
        <b dir="auto">{title}</b>
        <span class="hint">{hint}</span>
        <button class="spread" onClick={restore}>
          {remove ? 'Restore' : 'Reset to baseline'}
        </button>
        {remove && (
          <ActionMenu
            label={`More for ${title}`}
            groups={[{ actions: [{ name: 'Delete permanently', isDanger: true, run: remove }] }]}
          />
        )}
      </div>
      <WhileConnected>
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
      </WhileConnected>
      {value && <DiffList entries={diffEntries(value)} />}
    </li>
  )
}

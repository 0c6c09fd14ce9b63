import { useState } from 'preact/hooks'
import type { Snapshot, StoredSnapshot } from '../../../client/index.js'
import { ConfirmButton } from '../../parts/confirm.js'
import { Dialog } from '../../parts/dialog.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { timeText } from '../../parts/times.js'
import { type PanelProps, useAction } from '../panel.js'
import { useSession } from '../session.js'
import { Differences } from './differences.js'

/** Stored states of the environment: takes, compares, restores and deletes them. */
export function SnapshotsPanel({ close, reload }: PanelProps) {
  const { env, latest } = useSession()
  const { value: snapshots, error, isLoading, reload: again } = useResource(() => env.snapshots(), [env, latest])
  const { act, isRunning, error: refusal } = useAction({ reload, showsErrors: true })
  const [name, setName] = useState('')
  const isTaken = snapshots?.some((each) => each.name === name)
  const take = async () => {
    await act(
      () => env.snapshot(name || undefined),
      (taken) => `Taken: ${taken.name}`
    )
    setName('')
  }
  return (
    <Dialog title="Snapshots" close={close} wide>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          take()
        }}
      >
        <label>
          Name
          <input
            value={name}
            dir="auto"
            maxLength={200}
            placeholder="before-checkout"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isRunning}>
          {isTaken ? 'Take in place of it' : 'Take a snapshot'}
        </button>
      </form>
      {refusal !== undefined && <ErrorNote error={refusal} />}
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={again} />}
      {snapshots?.length === 0 && (
        <Empty title="There are no snapshots">
          <p>
            One keeps the data, the clock and the idempotency keys as they are now, to go back to or to compare with.
          </p>
        </Empty>
      )}
      <ul class="snapshots">
        {snapshots?.map((snapshot) => (
          <SnapshotItem key={snapshot.name} snapshot={snapshot} act={act} isRunning={isRunning} />
        ))}
      </ul>
    </Dialog>
  )
}

function SnapshotItem({
  snapshot,
  act,
  isRunning
}: Pick<ReturnType<typeof useAction>, 'act' | 'isRunning'> & { snapshot: StoredSnapshot }) {
  const { name, createdAt, size } = snapshot
  const [isCompared, setCompared] = useState(false)
  return (
    <li class="card" aria-label={name}>
      <div class="row">
        <strong dir="auto">{name}</strong>
        <span class="hint">
          {timeText(createdAt)}; {sizeText(size)}
        </span>
        <span class="row spread">
          <button type="button" aria-pressed={isCompared} onClick={() => setCompared(!isCompared)}>
            Compare with now
          </button>
          <button type="button" disabled={isRunning} onClick={() => act(() => snapshot.restore(), `Restored: ${name}`)}>
            Restore
          </button>
          <ConfirmButton
            question={`Delete the snapshot ${name}?`}
            button="Delete it"
            run={() => {
              setCompared(false)
              return act(() => snapshot.remove(), `Deleted: ${name}`)
            }}
          >
            Delete
          </ConfirmButton>
        </span>
      </div>
      {isCompared && <Differences snapshot={snapshot} />}
    </li>
  )
}

function sizeText({ integrations, subscribers, workflows, messages, idempotencyKeys }: Snapshot['size']): string {
  return [
    [messages, 'messages'],
    [integrations, 'integrations'],
    [workflows, 'workflows'],
    [subscribers, 'subscribers'],
    [idempotencyKeys, 'idempotency keys']
  ]
    .map(([count, noun]) => `${count?.toLocaleString()} ${noun}`)
    .join(', ')
}

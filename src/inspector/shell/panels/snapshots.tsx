import type { RecordDifferences, SnapshotDifferences } from '../../../client/index.js'
import { Chip, type Tone } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { timeText } from '../../parts/times.js'
import { run } from '../../parts/toast.js'
import { useSession } from '../session.js'
import { snapshotName, useGoBack, useReset } from './state.js'

/** What the environment has changed: since each snapshot, newest first, and since it was made. */
export function SnapshotsDialog({ close }: { close: () => void }) {
  const { env, version, changed } = useSession()
  const { value: snapshots = [], error, reload } = useResource(() => env.snapshots(), [env, version])
  const goBack = useGoBack()
  const reset = useReset()
  const act = async (action: () => Promise<unknown>, done: string) => {
    await run(action, done)
    changed()
  }
  return (
    <Dialog title="Snapshots and changes" close={close} wide>
      <div class="line">
        <button class="primary" onClick={() => act(() => env.snapshot(snapshotName()), 'Took a snapshot')}>
          Take a snapshot
        </button>
      </div>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      <ul class="states">
        {snapshots.toReversed().map(({ name, createdAt, differences, restore, remove }) => (
          <State
            key={name}
            title={name}
            hint={timeText(createdAt)}
            compare={differences}
            goBack={() => run(() => goBack(`${name} is restored`, restore))}
            remove={() => act(remove, `Deleted ${name}`)}
          />
        ))}
        <State title="As it was made" hint="created, or seeded last" compare={env.differences} goBack={reset} />
      </ul>
    </Dialog>
  )
}

interface StateProps {
  title: string
  hint: string
  compare(): Promise<SnapshotDifferences>
  goBack(): unknown
  remove?(): unknown
}

/** A state that one can go back to, and what the present one has over it, field by field. */
function State({ title, hint, compare, goBack, remove }: StateProps) {
  const { version } = useSession()
  const { value, error, isLoading, reload } = useResource(compare, [version])
  const lines = value && linesOf(value)
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
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      {lines?.length === 0 && <p class="muted">Nothing has changed since.</p>}
      <ul class="records">
        {lines?.map(({ tone, words, id, fields }) => (
          <li key={`${words} ${id}`}>
            <Chip tone={tone}>{words}</Chip> <code dir="auto">{id}</code>
            {fields.map(({ field, before, after }) => (
              <p key={field} class="mono" dir="auto">
                <b>{field}</b> {before !== undefined && <del class="toned is-bad">{before}</del>}{' '}
                {after !== undefined && <ins class="toned is-good">{after}</ins>}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </li>
  )
}

interface Line {
  tone: Tone
  words: string
  id: string
  fields: NonNullable<RecordDifferences['changed']['fields']>
}

const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const

function linesOf({ settings, ...kinds }: SnapshotDifferences): Line[] {
  const ofRecords = Object.entries(kinds).flatMap(([kind, differences]) =>
    Object.entries(TONES).flatMap(([change, tone]) => {
      const { count, ids, fields = [] }: RecordDifferences['changed'] = differences[change as keyof typeof TONES]
      const noun = kind === 'idempotencyKeys' ? 'idempotency key' : kind.slice(0, -1)
      const words = `${noun} ${change}`
      const lines = ids.map((id) => ({ tone, words, id, fields: fields.filter((each) => each.id === id) }))
      const more = count - ids.length
      return more > 0 ? [...lines, { tone, words, id: `and ${more.toLocaleString()} more`, fields: [] }] : lines
    })
  )
  return [...ofRecords, ...settings.map((id): Line => ({ tone: 'warn', words: 'setting changed', id, fields: [] }))]
}

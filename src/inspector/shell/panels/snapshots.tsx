import { useState } from 'preact/hooks'
import type { RecordDifferences, SnapshotDifferences } from '../../../client/index.js'
import { Chip, type Tone } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { timeText } from '../../parts/times.js'
import { run } from '../../parts/toast.js'
import { useSession } from '../session.js'
import { snapshotName, useGoBack, useReset } from './go-back.js'

const NOUNS: Record<Exclude<keyof SnapshotDifferences, 'settings'>, string> = {
  integrations: 'integration',
  messages: 'message',
  workflows: 'workflow',
  subscribers: 'subscriber',
  idempotencyKeys: 'idempotency key'
}
const CHANGES = [
  ['added', 'good'],
  ['removed', 'bad'],
  ['changed', 'warn']
] as const

/** What the environment has changed: since each snapshot, newest first, and since it was made. */
export function SnapshotsPanel({ close }: { close: () => void }) {
  const { env, latest, changed } = useSession()
  const { value: snapshots, error, isLoading, reload } = useResource(() => env.snapshots(), [env, latest])
  const [name, setName] = useState('')
  const goBack = useGoBack()
  const reset = useReset()
  const act = async (action: () => Promise<unknown>, done: string) => {
    await run(action, done)
    changed()
  }
  const take = (event: Event) => {
    event.preventDefault()
    setName('')
    void act(() => env.snapshot(name || snapshotName()), 'Took a snapshot')
  }
  return (
    <Dialog title="Snapshots and changes" close={close} wide>
      <form class="line" onSubmit={take}>
        <input
          aria-label="Name of the snapshot"
          placeholder="A name, if you like"
          value={name}
          dir="auto"
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button class="primary">Take a snapshot</button>
      </form>
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      <ul class="states">
        {snapshots?.toReversed().map(({ name, createdAt, size, differences, restore, remove }, index) => (
          <State
            key={name}
            title={name}
            hint={`${timeText(createdAt)} · ${size.messages.toLocaleString()} messages`}
            isOpen={index === 0}
            compare={differences}
            goBack={() => run(() => goBack(`${name} is restored`, restore))}
            remove={() => act(remove, `Deleted ${name}`)}
          />
        ))}
        {snapshots && (
          <State
            title="As it was made"
            hint="created, or seeded last"
            isOpen
            compare={env.differences}
            goBack={reset}
          />
        )}
      </ul>
    </Dialog>
  )
}

interface StateProps {
  title: string
  hint: string
  /** Whether it is at first. */
  isOpen: boolean
  compare(): Promise<SnapshotDifferences>
  goBack(): unknown
  remove?(): unknown
}

function State({ title, hint, isOpen: isOpenAtFirst, compare, goBack, remove }: StateProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <li class="card state" aria-label={title}>
      <div class="line">
        <button class="quiet" aria-expanded={isOpen} title="What has changed since" onClick={() => setOpen(!isOpen)}>
          <b dir="auto">{title}</b>
        </button>
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
      {isOpen && <Differences compare={compare} />}
    </li>
  )
}

/** What the present state has over another, field by field. */
function Differences({ compare }: Pick<StateProps, 'compare'>) {
  const { latest } = useSession()
  const { value, error, isLoading, reload } = useResource(() => compare(), [latest])
  if (error !== undefined && !isLoading) return <ErrorNote error={error} retry={reload} />
  if (value === undefined) return <p class="muted">Comparing…</p>
  const lines = linesOf(value)
  if (lines.length === 0) return <p class="muted">Nothing has changed since.</p>
  return (
    <ul class="records">
      {lines.map(({ tone, words, id, fields }) => (
        <li key={`${words} ${id}`}>
          <Chip tone={tone}>{words}</Chip> <code dir="auto">{id}</code>
          {fields.map(({ field, before, after }) => (
            <p key={field} class="mono" dir="auto">
              <b>{field}</b> {before !== undefined && <del>{before}</del>} {after !== undefined && <ins>{after}</ins>}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}

interface Line {
  tone: Tone
  words: string
  id: string
  fields: NonNullable<RecordDifferences['changed']['fields']>
}

function linesOf({ settings, ...kinds }: SnapshotDifferences): Line[] {
  const ofRecords = Object.entries(kinds).flatMap(([kind, differences]) =>
    CHANGES.flatMap(([change, tone]) => {
      const { count, ids, fields = [] }: RecordDifferences['changed'] = differences[change]
      const words = `${NOUNS[kind as keyof typeof NOUNS]} ${change}`
      const lines = ids.map((id) => ({ tone, words, id, fields: fields.filter((each) => each.id === id) }))
      const more = count - ids.length
      return more > 0 ? [...lines, { tone, words, id: `and ${more.toLocaleString()} more`, fields: [] }] : lines
    })
  )
  return [...ofRecords, ...settings.map((id): Line => ({ tone: 'warn', words: 'setting changed', id, fields: [] }))]
}

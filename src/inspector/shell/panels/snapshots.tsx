import { useState } from 'preact/hooks'
import type { RecordDifferences, Snapshot, SnapshotDifferences, StoredSnapshot } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { Dialog } from '../../parts/dialog.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { timeText } from '../../parts/times.js'
import { useToasts } from '../../parts/toast.js'
import type { PanelProps } from '../panel.js'
import { useSession } from '../session.js'
import { useReset } from './environment-menu.js'
import { snapshotName, useGoBack } from './go-back.js'

const KINDS: Record<Exclude<keyof SnapshotDifferences, 'settings'>, string> = {
  integrations: 'integration',
  messages: 'message',
  workflows: 'workflow',
  subscribers: 'subscriber',
  idempotencyKeys: 'idempotency key'
}

/** What the environment has changed: since each snapshot, newest first, and since it was made. */
export function SnapshotsPanel({ close }: PanelProps) {
  const { env, latest, changed } = useSession()
  const { run } = useToasts()
  const { value: snapshots, error, isLoading, reload } = useResource(() => env.snapshots(), [env, latest])
  const [name, setName] = useState('')
  const goBack = useGoBack()
  const reset = useReset()
  const take = async () => {
    await run(() => env.snapshot(name || snapshotName()), 'Took a snapshot')
    setName('')
    changed()
  }
  const newestFirst = [...(snapshots ?? [])].reverse()
  return (
    <Dialog title="Snapshots and changes" close={close} wide>
      <form
        class="line"
        onSubmit={(event) => {
          event.preventDefault()
          void take()
        }}
      >
        <input
          aria-label="Name of the snapshot"
          placeholder="A name, if you like"
          value={name}
          dir="auto"
          maxLength={200}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Take a snapshot
        </button>
      </form>
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      <ul class="states">
        {newestFirst.map((snapshot, index) => (
          <State
            key={snapshot.name}
            title={snapshot.name}
            hint={`${timeText(snapshot.createdAt)} · ${sizeText(snapshot.size)}`}
            isOpen={index === 0}
            compare={snapshot.differences}
            goBack={() => goBack(`${snapshot.name} is restored`, snapshot.restore)}
            remove={async () => {
              await run(() => snapshot.remove(), `Deleted ${snapshot.name}`)
              changed()
            }}
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
  isOpen: boolean
  compare: StoredSnapshot['differences']
  goBack(): unknown
  remove?(): unknown
}

function State({ title, hint, isOpen: isOpenAtFirst, compare, goBack, remove }: StateProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  return (
    <li class="card" aria-label={title}>
      <div class="line">
        <button
          type="button"
          class="quiet only-icon"
          aria-expanded={isOpen}
          aria-label={`What has changed since ${title}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'down' : 'back'} />
        </button>
        <span>
          <b dir="auto">{title}</b> <span class="hint">{hint}</span>
        </span>
        <button type="button" class="spread" onClick={goBack}>
          {remove ? 'Restore' : 'Reset to it'}
        </button>
        {remove && (
          <ActionMenu
            class="quiet only-icon"
            button={<Icon name="more" />}
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
  const kinds = Object.entries(KINDS).map(([kind, noun]) => ({ noun, ...value[kind as keyof typeof KINDS] }))
  const isSame = value.settings.length === 0 && kinds.every((each) => countOf(each) === 0)
  if (isSame) return <p class="muted">Nothing has changed since.</p>
  return (
    <ul class="differences">
      {kinds.map(({ noun, added, removed, changed }) => [
        <Records key={`${noun}+`} tone="good" words={`${noun} added`} {...added} />,
        <Records key={`${noun}-`} tone="bad" words={`${noun} removed`} {...removed} />,
        <Records key={`${noun}~`} tone="warn" words={`${noun} changed`} {...changed} />
      ])}
      {value.settings.map((setting) => (
        <li key={setting}>
          <Chip tone="warn">setting changed</Chip> <code>{setting}</code>
        </li>
      ))}
    </ul>
  )
}

function countOf({ added, removed, changed }: RecordDifferences): number {
  return added.count + removed.count + changed.count
}

interface RecordsProps extends Partial<RecordDifferences['changed']> {
  tone: 'good' | 'bad' | 'warn'
  words: string
}

function Records({ tone, words, count = 0, ids = [], fields = [] }: RecordsProps) {
  return (
    <>
      {ids.map((id) => (
        <li key={id}>
          <Chip tone={tone}>{words}</Chip> <code dir="auto">{id}</code>
          <dl class="facts mono">
            {fields
              .filter((each) => each.id === id)
              .map(({ field, before, after }) => [
                <dt key={field}>{field}</dt>,
                <dd key={`${field}:`}>
                  {before !== undefined && <del dir="auto">{before}</del>}{' '}
                  {after !== undefined && <ins dir="auto">{after}</ins>}
                </dd>
              ])}
          </dl>
        </li>
      ))}
      {count > ids.length && (
        <li class="muted">
          and {(count - ids.length).toLocaleString()} more: {words}
        </li>
      )}
    </>
  )
}

function sizeText({ integrations, workflows, messages }: Snapshot['size']): string {
  return `${messages.toLocaleString()} messages, ${integrations} integrations, ${workflows} workflows`
}

import type { RecordDifferences, SnapshotDifferences, StoredSnapshot } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { useSession } from '../session.js'

const KINDS: Record<Exclude<keyof SnapshotDifferences, 'settings'>, string> = {
  integrations: 'Integrations',
  messages: 'Messages',
  workflows: 'Workflows',
  subscribers: 'Subscribers',
  idempotencyKeys: 'Idempotency keys'
}
const CHANGES: Record<keyof RecordDifferences, string> = {
  added: 'added since',
  changed: 'changed since',
  removed: 'removed since'
}

/** What the present state has over a snapshot. */
export function Differences({ snapshot }: { snapshot: StoredSnapshot }) {
  const { latest } = useSession()
  const { value, error, isLoading, reload } = useResource(() => snapshot.differences(), [snapshot.name, latest])
  if (error !== undefined && !isLoading) return <ErrorNote error={error} retry={reload} />
  if (value === undefined) return <p class="hint">Comparing…</p>
  const rows = Object.entries(KINDS).flatMap(([kind, title]) =>
    Object.entries(CHANGES).flatMap(([change, words]) => {
      const { count, ids } = value[kind as keyof typeof KINDS][change as keyof RecordDifferences]
      return count === 0 ? [] : [{ title, words, count, ids }]
    })
  )
  if (rows.length === 0 && value.settings.length === 0) return <p>Nothing differs from now.</p>
  return (
    <ul class="differences">
      {rows.map(({ title, words, count, ids }) => (
        <li key={`${title} ${words}`}>
          {title}: {count.toLocaleString()} {words}
          <div class="ids">
            {ids.map((id) => (
              <code key={id} dir="auto">
                {id}
              </code>
            ))}
            {count > ids.length && <span class="hint">and {(count - ids.length).toLocaleString()} more</span>}
          </div>
        </li>
      ))}
      {value.settings.length > 0 && <li>Settings: {value.settings.join(', ')}</li>}
    </ul>
  )
}

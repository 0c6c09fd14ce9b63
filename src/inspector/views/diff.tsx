import type { EnvironmentDiff, RecordDiff } from '../../client/index.js'
import { Chip, type Tone } from '../parts/chip.js'

/**
 * A line of a diff: a record or setting that differs, or a note that the list of records is
 * incomplete. The `id` of a note is its text.
 */
export interface DiffEntry {
  tone: Tone
  /** What happened, such as `message added`. */
  description: string
  /** A short description of the record, such as its name. */
  label?: string | undefined
  id: string
  fields: NonNullable<RecordDiff['changed']['fields']>
}

const CHANGES = [
  { change: 'added', tone: 'good' },
  { change: 'removed', tone: 'bad' },
  { change: 'changed', tone: 'warn' }
] as const

/** Returns the entries of a diff. */
export function diffEntries({ settings = [], ...kinds }: Partial<EnvironmentDiff>): DiffEntry[] {
  const records = Object.entries(kinds).flatMap(([kind, diff]) => {
    const noun = kind === 'idempotencyKeys' ? 'idempotency key' : kind.slice(0, -1)
    const entries = CHANGES.flatMap(({ change, tone }) =>
      entriesOf(diff, change, { tone, description: `${noun} ${change}` })
    )
    return diff.compared === undefined ? entries : [...entries, partialEntry(noun, diff.compared)]
  })
  const changedSettings = settings.map(
    (id): DiffEntry => ({ tone: 'warn', description: 'setting changed', id, fields: [] })
  )
  return [...records, ...changedSettings]
}

/** Returns a note that only some records of a kind were compared, so others may differ too. */
const partialEntry = (noun: string, compared: number): DiffEntry => ({
  tone: 'warn',
  description: 'incomplete',
  id: `only ${compared.toLocaleString()} ${noun}s were compared`,
  fields: []
})

function entriesOf(
  diff: RecordDiff,
  change: (typeof CHANGES)[number]['change'],
  common: Pick<DiffEntry, 'tone' | 'description'>
): DiffEntry[] {
  const { count, ids, fields = [] }: RecordDiff['changed'] = diff[change]
  const labels = new Map(Object.entries(diff.labels ?? {}))
  const entries = ids.map((id) => ({
    ...common,
    label: labels.get(id),
    id,
    fields: fields.filter((field) => field.id === id)
  }))
  const unlisted = count - ids.length
  if (unlisted === 0) return entries
  const more = { ...common, id: `and ${unlisted.toLocaleString()} more`, fields: [] }
  return [...entries, more]
}

/** Lists the entries of a diff, with the old and new values of changed fields. */
export function DiffList({ entries }: { entries: readonly DiffEntry[] }) {
  if (entries.length === 0) return <p class="muted">No changes since then.</p>
  return (
    <ul class="records">
      {entries.map(({ tone, description, label, id, fields }) => (
        <li key={`${description} ${id}`}>
          <Chip tone={tone}>{description}</Chip> <span dir="auto">{label}</span>{' '}
          <code dir="auto">{id}</code>
          {fields.map(({ field, step, before, after }) => (
            <p key={field} class="mono" dir="auto">
              {step} <b>{field}</b>{' '}
              {before !== undefined && <del class="toned is-bad">{before}</del>}{' '}
              {after !== undefined && <ins class="toned is-good">{after}</ins>}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}

import type { EnvironmentDiff, RecordDiff } from '../../client/index.js'
import { Chip, type Tone } from '../parts/chip.js'

/** A record or a setting that differs, with its fields; or how many more there are of its kind. */
export interface Difference {
  tone: Tone
  words: string
  id: string
  fields: NonNullable<RecordDiff['changed']['fields']>
}

const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const

/** Returns what a state has over an earlier one, record by record. */
export function differencesOf({ settings = [], ...kinds }: Partial<EnvironmentDiff>): Difference[] {
  const ofRecords = Object.entries(kinds).flatMap(([kind, differences]) =>
    Object.entries(TONES).flatMap(([change, tone]) => {
      const {
        count,
        ids,
        fields = []
      }: RecordDiff['changed'] = differences[change as keyof typeof TONES]
      const noun = kind === 'idempotencyKeys' ? 'idempotency key' : kind.slice(0, -1)
      const words = `${noun} ${change}`
      const lines = ids.map((id) => ({
        tone,
        words,
        id,
        fields: fields.filter((each) => each.id === id)
      }))
      const more = count - ids.length
      return more > 0
        ? [...lines, { tone, words, id: `and ${more.toLocaleString()} more`, fields: [] }]
        : lines
    })
  )
  return [
    ...ofRecords,
    ...settings.map((id) => ({ tone: TONES.changed, words: 'setting changed', id, fields: [] }))
  ]
}

/** What differs, field by field. */
export function Differences({ all }: { all: readonly Difference[] }) {
  if (all.length === 0) return <p class="muted">Nothing has changed since.</p>
  return (
    <ul class="records">
      {all.map(({ tone, words, id, fields }) => (
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
  )
}

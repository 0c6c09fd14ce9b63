import { isDeepStrictEqual } from 'node:util'
import { getTableName } from 'drizzle-orm'
import type { DatasetKind } from '../core/enums.js'
import type { Db } from '../db/open.js'
import { DATASET_TABLES } from '../db/schema.js'
import { type EnvironmentRow, type Homes, perKind, replacements, withOtherIds } from './repository.js'
import type { RecordDifferences, SnapshotDifferences } from './schemas.js'

/** How many records of a kind are named. */
const MAX_NAMED = 20

/** The columns with what records of a kind are called. */
const NAMES: Record<DatasetKind, string> = {
  integrations: 'identifier',
  subscribers: 'subscriber_id',
  workflows: 'identifier',
  messages: 'id',
  idempotency: 'key'
}

/** Returns the SQL of what there is of a record, on one side of the comparison; `shown` returns that of JSON with ids. */
function contentOf(kind: DatasetKind, side: string, shown = (column: string) => column): string {
  if (kind === 'idempotency') return `${side}.fingerprint, ${side}.status, ${shown(`${side}.body`)}`
  if (kind !== 'workflows') return shown(`${side}.document`)
  return `${side}.document, (SELECT json_group_array(document ORDER BY position) FROM workflow_steps
    WHERE dataset = ${side}.dataset AND workflow_id = ${side}.id)`
}

/** Compares two states of an environment. */
export function compareStates(
  db: Db,
  otherHomes: (row: EnvironmentRow) => Homes,
  present: EnvironmentRow,
  former: EnvironmentRow
): SnapshotDifferences {
  const { idempotency: idempotencyKeys, ...ofRecords } = perKind(compareRecords)
  return { ...ofRecords, idempotencyKeys, settings: changedSettings(present, former) }

  function compareRecords(kind: DatasetKind): RecordDifferences {
    const [own, other] = [present[kind], former[kind]]
    const none = (): RecordDifferences['added'] => ({ count: 0, ids: [] })
    const found = { added: none(), removed: none(), changed: none() }
    // What both refer to is the same.
    if (own === other) return found
    const homeOf = (state: EnvironmentRow) => otherHomes(state)[kind] ?? state
    const ids = replacements(homeOf(former), homeOf(present))
    const statement = db.client.prepare<object, { name: string; change: keyof RecordDifferences }>(comparisonSql(kind))
    for (const { name, change } of statement.iterate({ own, other, ...ids })) {
      found[change].count++
      if (found[change].ids.length < MAX_NAMED) found[change].ids.push(name)
    }
    return found
  }
}

/** Selects the records that one of the datasets has not, or not the same, in the order of their ids. */
function comparisonSql(kind: DatasetKind): string {
  const table = getTableName(DATASET_TABLES[kind][0])
  const ids = kind === 'idempotency' ? ['scope', 'key'] : ['id']
  const isOther = (alias: string, dataset: string) =>
    [`${alias}.dataset = ${dataset}`, ...ids.map((id) => `${alias}.${id} = own.${id}`)].join(' AND ')
  const selected = ids.map((id) => `own.${id}`).join()
  // Two halves, as to a FULL JOIN SQLite would take no index.
  return `SELECT ${selected}, own.${NAMES[kind]} AS name, iif(other.dataset IS NULL, 'added', 'changed') AS change
    FROM ${table} AS own LEFT JOIN ${table} AS other ON ${isOther('other', '@other')}
    WHERE own.dataset = @own AND (other.dataset IS NULL
      OR (${contentOf(kind, 'own')}) IS NOT (${contentOf(kind, 'other', withOtherIds)}))
    UNION ALL
    SELECT ${selected}, own.${NAMES[kind]}, 'removed' FROM ${table} AS own
    WHERE own.dataset = @other AND NOT EXISTS (SELECT 1 FROM ${table} AS other WHERE ${isOther('other', '@own')})
    ORDER BY ${ids.map((_id, index) => index + 1).join()}`
}

/** Returns the names of the settings that differ, an assumption as `assumptions.<id>`. */
function changedSettings(present: EnvironmentRow, former: EnvironmentRow): string[] {
  const settings = (['profile', 'clock', 'randomSeed'] as const).filter(
    (name) => !isDeepStrictEqual(present[name], former[name])
  )
  const ids = new Set([...Object.keys(former.assumptions), ...Object.keys(present.assumptions)])
  const assumptions = [...ids].filter((id) => present.assumptions[id] !== former.assumptions[id])
  return [...settings, ...assumptions.map((id) => `assumptions.${id}`)]
}

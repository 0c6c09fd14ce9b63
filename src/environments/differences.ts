import { isDeepStrictEqual } from 'node:util'
import { getTableName } from 'drizzle-orm'
import { SECRET_NAME } from '../core/credentials.js'
import type { DatasetKind } from '../core/enums.js'
import type { Db } from '../db/open.js'
import { DATASET_TABLES } from '../db/schema.js'
import { type EnvironmentRow, type Homes, perKind, replacements, withOtherIds } from './repository.js'
import type { FieldDifference, RecordDifferences, SnapshotDifferences } from './schemas.js'

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
    const found: RecordDifferences = { added: none(), removed: none(), changed: none() }
    // What both refer to is the same.
    if (own === other) return found
    const homeOf = (state: EnvironmentRow) => otherHomes(state)[kind] ?? state
    const ids = replacements(homeOf(former), homeOf(present))
    const changed: Found[] = []
    for (const each of db.client.prepare<object, Found>(comparisonSql(kind)).iterate({ own, other, ...ids })) {
      const { name, change } = each
      found[change].count++
      if (found[change].ids.length === MAX_NAMED) continue
      found[change].ids.push(name)
      if (change === 'changed') changed.push(each)
    }
    if (kind === 'idempotency' || changed.length === 0) return found
    const documents = db.client.prepare<object, { before: string; after: string }>(documentsSql(kind))
    found.changed.fields = changed.flatMap(({ id, name }) => {
      const both = documents.get({ own, other, id, ...ids })
      return both ? differingFields(name, JSON.parse(both.before), JSON.parse(both.after)) : []
    })
    return found
  }
}

interface Found {
  id: string
  name: string
  change: keyof RecordDifferences
}

/** Selects a record on both sides. */
function documentsSql(kind: DatasetKind): string {
  const table = getTableName(DATASET_TABLES[kind][0])
  return `SELECT own.document AS after, ${withOtherIds('other.document')} AS before FROM ${table} AS own
    JOIN ${table} AS other ON other.dataset = @other AND other.id = own.id WHERE own.dataset = @own AND own.id = @id`
}

type Fields = Record<string, unknown>

/** Returns the fields of a record that differ; if none does, it is the steps of a workflow. */
function differingFields(id: string, before: Fields, after: Fields): FieldDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const differing = names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
  if (differing.length === 0) return [{ id, field: 'steps' }]
  return differing.map((field) => ({
    ...{ id, field },
    ...(before[field] !== undefined && { before: shown(field, before[field]) }),
    ...(after[field] !== undefined && { after: shown(field, after[field]) })
  }))
}

/** Returns a value as JSON, without what may be secret: of lists and objects nothing is shown. */
function shown(field: string, value: unknown): string {
  if (SECRET_NAME.test(field)) return '***'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}'
  return JSON.stringify(value).slice(0, 200)
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

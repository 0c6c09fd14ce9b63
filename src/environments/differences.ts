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
/** How many fields of a kind are told. */
const MAX_FIELDS = 200
/** How many characters of a value. */
const MAX_VALUE = 200

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
    const statement = db.client.prepare<object, { id?: string; name: string; change: keyof RecordDifferences }>(
      comparisonSql(kind)
    )
    const named: { id: string; name: string }[] = []
    for (const { id, name, change } of statement.iterate({ own, other, ...ids })) {
      found[change].count++
      if (found[change].ids.length === MAX_NAMED) continue
      found[change].ids.push(name)
      if (change === 'changed' && id !== undefined) named.push({ id, name })
    }
    if (kind === 'idempotency' || named.length === 0) return found
    const both = db.client.prepare<object, { after: string; before: string }>(documentsSql(kind))
    const fields = named.flatMap(({ id, name }) => {
      const { after = '{}', before = '{}' } = both.get({ own, other, id, ...ids }) ?? {}
      return differingFields(name, documentOf(before), documentOf(after))
    })
    return { ...found, changed: { ...found.changed, fields: fields.slice(0, MAX_FIELDS) } }
  }
}

/** Selects the two documents of a record; those of a workflow have its steps. */
function documentsSql(kind: DatasetKind): string {
  const table = getTableName(DATASET_TABLES[kind][0])
  const ofSide = (side: string) =>
    kind === 'workflows'
      ? `json_set(${side}.document, '$.steps', (SELECT json_group_array(json(document) ORDER BY position) FROM workflow_steps
          WHERE dataset = ${side}.dataset AND workflow_id = ${side}.id))`
      : `${side}.document`
  return `SELECT ${ofSide('own')} AS after, ${withOtherIds(ofSide('other'))} AS before
    FROM ${table} AS own JOIN ${table} AS other ON other.dataset = @other AND other.id = own.id
    WHERE own.dataset = @own AND own.id = @id`
}

/** Steps by their ids, so that each is compared with itself. */
function documentOf(json: string): Record<string, unknown> {
  const { steps, ...fields } = JSON.parse(json)
  if (!Array.isArray(steps)) return steps === undefined ? fields : { ...fields, steps }
  return { ...fields, steps: Object.fromEntries(steps.map((step) => [step.stepId, step])) }
}

/** Returns the fields that differ, at any depth of objects, each by its path such as `controlValues.subject`. */
function differingFields(id: string, before: unknown, after: unknown, path: string[] = []): FieldDifference[] {
  if (isDeepStrictEqual(before, after)) return []
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => differingFields(id, before[name], after[name], [...path, name]))
  }
  const isSecret = path.some((name) => SECRET_NAME.test(name))
  const hidden = (name: string, value: unknown) => (SECRET_NAME.test(name) ? '***' : value)
  const textOf = (value: unknown) => (isSecret ? '***' : JSON.stringify(value, hidden).slice(0, MAX_VALUE))
  return [
    {
      id,
      field: path.join('.'),
      ...(before !== undefined && { before: textOf(before) }),
      ...(after !== undefined && { after: textOf(after) })
    }
  ]
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

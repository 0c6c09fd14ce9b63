import { isDeepStrictEqual } from 'node:util'
import { getTableName } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { DATASET_TABLES } from '../db/schema.js'
import { SECRET_NAME } from '../domain/credentials.js'
import type { DatasetKind } from '../domain/enums.js'
import { isObject } from '../schema/validation.js'
import {
  type EnvironmentRow,
  type Home,
  perKind,
  replacements,
  withOtherIds
} from './repository.js'
import type { EnvironmentDiff, FieldChange, RecordDiff } from './schemas.js'

/** How many records of a kind are named, how many of their fields are told, and how many characters of a value. */
const MAX_NAMED = 20
const MAX_FIELDS = 200
const MAX_VALUE = 200

/** The columns with what records of a kind are called. */
const NAMES: Record<DatasetKind, string> = {
  integrations: 'identifier',
  subscribers: 'subscriber_id',
  workflows: 'identifier',
  messages: 'id',
  idempotency: 'key'
}

type Compared = { name: string; change: keyof RecordDiff; before: string; after: string }

/** Compares two states of an environment. */
export function compareStates(
  { client }: Db,
  present: EnvironmentRow,
  former: EnvironmentRow
): EnvironmentDiff {
  const home = client.prepare(
    'SELECT environment_id AS id, organization_id AS organizationId FROM datasets WHERE key = ?'
  )
  const { idempotency: idempotencyKeys, ...ofRecords } = perKind(compareRecords)
  return { ...ofRecords, idempotencyKeys, settings: changedSettings(present, former) }

  function compareRecords(kind: DatasetKind): RecordDiff {
    const [own, other] = [present[kind], former[kind]]
    const none = (): RecordDiff['added'] => ({ count: 0, ids: [] })
    const found = { added: none(), removed: none(), changed: none() }
    // What both refer to is the same.
    if (own === other) return found
    const ids = replacements(home.get(other) as Home, home.get(own) as Home)
    const fields: FieldChange[] = []
    const statement = client.prepare<object, Compared>(comparisonSql(kind))
    for (const { name, change, before, after } of statement.iterate({ own, other, ...ids })) {
      found[change].count++
      if (found[change].ids.length === MAX_NAMED) continue
      found[change].ids.push(name)
      if (change === 'changed')
        fields.push(...differingFields(name, fieldsOf(before), fieldsOf(after)))
    }
    if (kind === 'idempotency' || found.changed.count === 0) return found
    return { ...found, changed: { ...found.changed, fields: fields.slice(0, MAX_FIELDS) } }
  }
}

/** Returns the SQL of what there is of a record, as JSON; that of a workflow has its steps. `shown` is that of JSON with ids. */
function contentOf(kind: DatasetKind, side: string, shown = (json: string) => json): string {
  if (kind === 'idempotency') {
    return `json_array(hex(${side}.fingerprint), ${side}.status, ${shown(`CAST(${side}.body AS TEXT)`)})`
  }
  if (kind !== 'workflows') return shown(`${side}.document`)
  // What a subquery gives is a text again, from SQLite 3.54 on.
  return `json_set(${side}.document, '$.steps', json((SELECT json_group_array(json(document) ORDER BY position)
    FROM workflow_steps WHERE dataset = ${side}.dataset AND workflow_id = ${side}.id)))`
}

/** Returns the fields of a record. Steps are by their ids, so that each is compared with itself. */
function fieldsOf(json: string): Record<string, unknown> {
  const { steps, ...fields } = JSON.parse(json)
  return Array.isArray(steps)
    ? { ...fields, steps: Object.fromEntries(steps.map((each) => [each.stepId, each])) }
    : fields
}

/** Returns the fields that differ, at any depth of objects, each by its path such as `controlValues.subject`. */
function differingFields(
  id: string,
  before: unknown,
  after: unknown,
  path: string[] = []
): FieldChange[] {
  if (isDeepStrictEqual(before, after)) return []
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) =>
      differingFields(id, before[name], after[name], [...path, name])
    )
  }
  const isSecret = path.some((name) => SECRET_NAME.test(name))
  const hidden = (name: string, value: unknown) => (SECRET_NAME.test(name) ? '***' : value)
  const textOf = (value: unknown) =>
    isSecret ? '***' : JSON.stringify(value, hidden).slice(0, MAX_VALUE)
  const shown = Object.entries({ before, after }).filter(([, value]) => value !== undefined)
  return [
    {
      id,
      field: path.join('.'),
      ...Object.fromEntries(shown.map(([name, value]) => [name, textOf(value)]))
    }
  ]
}

/** Selects the records that one of the datasets has not, or not the same, in the order of their ids. */
function comparisonSql(kind: DatasetKind): string {
  const table = getTableName(DATASET_TABLES[kind][0])
  const ids = kind === 'idempotency' ? ['scope', 'key'] : ['id']
  const isOther = (dataset: string) =>
    [`other.dataset = ${dataset}`, ...ids.map((id) => `other.${id} = own.${id}`)].join(' AND ')
  const selected = [...ids, `${NAMES[kind]} AS name`].map((column) => `own.${column}`).join()
  const [before, after] = [contentOf(kind, 'other', withOtherIds), contentOf(kind, 'own')]
  // Two halves, as to a FULL JOIN SQLite would take no index.
  return `SELECT ${selected}, iif(other.dataset IS NULL, 'added', 'changed') AS change, ${before} AS before, ${after} AS after
    FROM ${table} AS own LEFT JOIN ${table} AS other ON ${isOther('@other')}
    WHERE own.dataset = @own AND (other.dataset IS NULL OR ${before} IS NOT ${after})
    UNION ALL
    SELECT ${selected}, 'removed', NULL, NULL FROM ${table} AS own
    WHERE own.dataset = @other AND NOT EXISTS (SELECT 1 FROM ${table} AS other WHERE ${isOther('@own')})
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

import { isDeepStrictEqual } from 'node:util'
import { getTableName } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { DATASET_TABLES } from '../db/schema.js'
import { isSecretName } from '../domain/credentials.js'
import type { DatasetKind } from '../domain/enums.js'
import { MASK } from '../domain/masking.js'
import { shorten } from '../domain/shorten.js'
import type { Stub } from '../domain/stub.js'
import { isObject } from '../schema/validation.js'
import { recordLabel, stepName } from './record-label.js'
import {
  type EnvironmentRepository,
  type EnvironmentRow,
  idReplacements,
  perKind,
  withReplacedIds
} from './repository.js'
import type { EnvironmentDiff, FieldChange, RecordDiff, Redact } from './schemas.js'

/**
 * The maximum number of records of each kind that a quick diff compares, and their maximum total
 * size in bytes. Within these limits, a diff takes a few milliseconds.
 */
const QUICK_RECORDS = 500
const QUICK_BYTES = 2 * 1024 * 1024

const MAX_IDS = 20
const MAX_FIELDS = 200
const MAX_VALUE_LENGTH = 200

/**
 * For each kind of record, the column whose value identifies a record in a diff. Seeds identify
 * records by the same values.
 */
const ID_COLUMNS: Record<DatasetKind, string> = {
  integrations: 'identifier',
  subscribers: 'subscriber_id',
  workflows: 'identifier',
  messages: 'id',
  idempotency: 'key'
}

/** A record that differs between two states. `before` and `after` are its content as JSON. */
type DifferingRow = { name: string } & (
  | { change: 'added'; after: string }
  | { change: 'removed'; before: string }
  | { change: 'changed'; before: string; after: string }
)

interface StateReader {
  client: Db['client']
  repository: EnvironmentRepository
  redact: Redact
  /**
   * Whether to compare only some of the records, so that other requests don't wait for a slow diff.
   */
  isQuick: boolean
}

/** Returns how the current state of an environment differs from an earlier state. */
export function diffStates(
  states: StateReader,
  current: EnvironmentRow,
  earlier: EnvironmentRow
): EnvironmentDiff {
  const diffs = perKind((kind) => diffDatasets(states, kind, current[kind], earlier[kind]))
  const { idempotency: idempotencyKeys, ...records } = diffs
  const settings = changedSettings(current, earlier).map(states.redact)
  return { ...records, idempotencyKeys, settings }
}

function diffDatasets(
  states: StateReader,
  kind: DatasetKind,
  current: number,
  earlier: number
): RecordDiff {
  const diff: RecordDiff = {
    added: { count: 0, ids: [] },
    removed: { count: 0, ids: [] },
    changed: { count: 0, ids: [] }
  }
  if (current === earlier) return diff
  const limits = rowLimits(states, kind, { current, earlier })
  if (limits.isPartial) diff.compared = limits.currentRows
  const fields: FieldChange[] = []
  const labels = new Map<string, string>()
  const rows = differingRows(states, kind, { current, earlier, ...limits })
  for (const row of rows) {
    const listed = diff[row.change]
    listed.count += 1
    if (listed.ids.length === MAX_IDS) continue
    const id = states.redact(row.name)
    listed.ids.push(id)
    const content = row.change === 'removed' ? row.before : row.after
    const label = recordLabel(kind, content, states.redact)
    // Several records may have the same masked id, so a masked id gets no label.
    if (label && label !== id && id === row.name) labels.set(id, label)
    if (row.change === 'changed') fields.push(...fieldChanges(id, row, states.redact))
  }
  if (labels.size > 0) diff.labels = Object.fromEntries(labels)
  if (kind !== 'idempotency' && diff.changed.count > 0) {
    diff.changed.fields = fields.slice(0, MAX_FIELDS)
  }
  return diff
}

/** Returns the fields of a record that differ, without secrets. */
function fieldChanges(
  id: string,
  { before, after }: { before: string; after: string },
  redact: Redact
): FieldChange[] {
  const earlier = fieldsOf(before)
  const current = fieldsOf(after)
  return changedFields(earlier, current).map(({ path, ...values }) => {
    const step = stepName(current, path) ?? stepName(earlier, path)
    return {
      id,
      field: redact(path.join('.')),
      ...(step && { step: redact(step) }),
      ...printValues(values, path, redact)
    }
  })
}

/** The datasets to compare, and how many rows of each. */
interface Comparison extends RowLimits {
  current: number
  earlier: number
}

function differingRows(
  { client, repository }: StateReader,
  kind: DatasetKind,
  { current, earlier, currentRows, earlierRows }: Comparison
) {
  const statement = client.prepare<object, DifferingRow>(diffSql(kind))
  const ids = idReplacements(repository.ownerOf(earlier), repository.ownerOf(current))
  return statement.iterate({ current, earlier, currentRows, earlierRows, ...ids })
}

interface RowLimits {
  currentRows: number
  earlierRows: number
  isPartial: boolean
}

/** For SQLite, a negative limit means no limit. */
const ALL_ROWS = -1

/** Returns how many rows of each dataset a diff compares. */
function rowLimits(
  { client, isQuick }: StateReader,
  kind: DatasetKind,
  { current, earlier }: Pick<Comparison, 'current' | 'earlier'>
): RowLimits {
  if (!isQuick) return { currentRows: ALL_ROWS, earlierRows: ALL_ROWS, isPartial: false }
  const statement = client.prepare<object, number>(sizeSql(kind)).pluck()
  const [inCurrent = NO_ROWS, inEarlier = NO_ROWS] = [current, earlier].map((dataset) =>
    countWithinLimits(statement.all({ dataset, rows: QUICK_RECORDS + 1 }))
  )
  return {
    currentRows: inCurrent.rows,
    earlierRows: inEarlier.rows,
    isPartial: inCurrent.hasMore || inEarlier.hasMore
  }
}

const NO_ROWS = { rows: 0, hasMore: false }

function countWithinLimits(sizes: readonly number[]): { rows: number; hasMore: boolean } {
  let bytes = 0
  const tooMany = sizes.findIndex((size, index) => {
    bytes += size
    return index >= QUICK_RECORDS || bytes > QUICK_BYTES
  })
  return tooMany < 0 ? { rows: sizes.length, hasMore: false } : { rows: tooMany, hasMore: true }
}

/**
 * Returns the fields of a record. Turns its list of steps into an object with step ids as keys, so
 * that each step is compared with its own earlier state.
 */
function fieldsOf(json: string): Record<string, unknown> {
  const { steps, ...fields } = JSON.parse(json)
  if (!Array.isArray(steps)) return fields
  return { ...fields, steps: Object.fromEntries(steps.map((step) => [step.stepId, step])) }
}

/** A field that differs. `before` or `after` is undefined if the field is missing in that state. */
interface DifferingField {
  path: string[]
  before: unknown
  after: unknown
}

/** Returns the fields that differ, including fields of nested objects. */
function changedFields(before: unknown, after: unknown, path: string[] = []): DifferingField[] {
  if (isDeepStrictEqual(before, after)) return []
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) => changedFields(before[name], after[name], [...path, name]))
  }
  return [{ path, before, after }]
}

function printValues(
  { before, after }: Omit<DifferingField, 'path'>,
  path: readonly string[],
  redact: Redact
): Pick<FieldChange, 'before' | 'after'> {
  const isSecret = path.some(isSecretName)
  const print = (value: unknown) =>
    isSecret ? MASK : shorten(redact(JSON.stringify(value)), MAX_VALUE_LENGTH)
  return {
    ...(before !== undefined && { before: print(before) }),
    ...(after !== undefined && { after: print(after) })
  }
}

/**
 * Returns the SQL that selects the records that differ, ordered by id. This SQL is written by hand,
 * because it compares documents with SQLite's JSON functions. It uses a UNION, because SQLite can't
 * use an index for a FULL JOIN.
 */
function diffSql(kind: DatasetKind): string {
  const table = tableOf(kind)
  const ids = idsOf(kind)
  const isOther = (dataset: string) =>
    [`other.dataset = ${dataset}`, ...ids.map((id) => `other.${id} = own.${id}`)].join(' AND ')
  const columns = [...ids, `${ID_COLUMNS[kind]} AS name`].map((column) => `own.${column}`).join()
  const before = contentSql(kind, 'other', withReplacedIds)
  const own = contentSql(kind, 'own')
  const change = "iif(other.dataset IS NULL, 'added', 'changed') AS change"
  return `
    SELECT ${columns}, ${change}, ${before} AS before, ${own} AS after
    FROM ${rowsSql(kind, '@current', '@currentRows')} AS own
    LEFT JOIN ${table} AS other ON ${isOther('@earlier')}
    WHERE other.dataset IS NULL OR ${before} IS NOT ${own}
    UNION ALL
    SELECT ${columns}, 'removed', ${own}, NULL
    FROM ${rowsSql(kind, '@earlier', '@earlierRows')} AS own
    WHERE NOT EXISTS (SELECT 1 FROM ${table} AS other WHERE ${isOther('@current')})
    ORDER BY ${ids.map((_id, index) => index + 1).join()}`
}

const tableOf = (kind: DatasetKind) => getTableName(DATASET_TABLES[kind][0])

const idsOf = (kind: DatasetKind) => (kind === 'idempotency' ? ['scope', 'key'] : ['id'])

/**
 * Returns the SQL that selects the first `rows` rows of a dataset. Messages are sorted from the
 * last to the first inserted, and all other records are sorted by id.
 */
function rowsSql(kind: DatasetKind, dataset: string, rows: string): string {
  const order = kind === 'messages' ? 'sequence DESC' : idsOf(kind).join()
  // Without `+ 0`, SQLite would prepare the statement again every time a limit is bound.
  return `(SELECT * FROM ${tableOf(kind)} WHERE dataset = ${dataset}
    ORDER BY ${order} LIMIT ${rows} + 0)`
}

/** Returns the SQL that selects the size of each record, in the order of `rowsSql`. */
function sizeSql(kind: DatasetKind): string {
  const rows = `${rowsSql(kind, '@dataset', '@rows')} AS own`
  if (kind === 'idempotency') return `SELECT octet_length(own.body) FROM ${rows}`
  if (kind !== 'workflows') return `SELECT octet_length(own.document) FROM ${rows}`
  return `SELECT octet_length(own.document) + (
      SELECT total(octet_length(document)) FROM workflow_steps
      WHERE dataset = own.dataset AND workflow_id = own.id)
    FROM ${rows}`
}

/**
 * Returns an SQL expression for the whole content of a record, as JSON. The content of a workflow
 * includes its steps.
 */
function contentSql(
  kind: DatasetKind,
  alias: string,
  withIds: (json: string) => string = (json) => json
): string {
  if (kind === 'idempotency') {
    const body = withIds(`CAST(${alias}.body AS TEXT)`)
    return `json_array(hex(${alias}.fingerprint), ${alias}.status, ${body})`
  }
  if (kind !== 'workflows') return withIds(`${alias}.document`)
  // Since SQLite 3.54, the subquery returns text, so `json(…)` must parse it.
  return `json_set(${alias}.document, '$.steps', json((
    SELECT json_group_array(json(document) ORDER BY position) FROM workflow_steps
    WHERE dataset = ${alias}.dataset AND workflow_id = ${alias}.id)))`
}

/** Returns the names of the settings that differ. An assumption is named `assumptions.<id>`. */
function changedSettings(current: EnvironmentRow, earlier: EnvironmentRow): string[] {
  const names = (['profile', 'clock', 'randomSeed'] as const).filter(
    (name) => !isDeepStrictEqual(current[name], earlier[name])
  )
  const ids = new Set([...Object.keys(earlier.assumptions), ...Object.keys(current.assumptions)])
  const changedIds = [...ids].filter((id) => current.assumptions[id] !== earlier.assumptions[id])
  return [
    ...names,
    ...changedIds.map((id) => `assumptions.${id}`),
    ...changedStubs(current.stubs, earlier.stubs)
  ]
}

/** Returns a name for each stub that was added, removed or changed: `stubs.<METHOD> <path>`. */
function changedStubs(current: readonly Stub[], earlier: readonly Stub[]): string[] {
  const isIn = (stubs: readonly Stub[]) => (stub: Stub) =>
    stubs.some((other) => isDeepStrictEqual(other, stub))
  const added = current.filter((stub) => !isIn(earlier)(stub))
  const removed = earlier.filter((stub) => !isIn(current)(stub))
  const names = [...added, ...removed].map(({ method, path }) => `stubs.${method} ${path}`)
  return [...new Set(names)]
}

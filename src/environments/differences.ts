import { isDeepStrictEqual } from 'node:util'
import { DATASET_KINDS, type DatasetKind, KEY_SCOPES } from '../core/enums.js'
import type { Db } from '../db/open.js'
import type { HeldDatasets } from './datasets.js'
import { type EnvironmentRow, perKind } from './repository.js'
import type { RecordDifferences, SnapshotDifferences } from './schemas.js'

/** How many records of a kind are named. */
const MAX_NAMED = 20

/** Rows that are compared in one go at most. */
const MAX_AT_ONCE = 100
/** How long to compare in one go, in milliseconds: of large rows fewer. */
const TIME_AT_ONCE = 5

/** Records of one kind: where they are, what tells them apart, and what they are called. */
interface Records {
  table: string
  id: string
  name: string
  /** Narrows the rows of either side down, in SQL. */
  where?: string
  /** Whether `own` and `other`, which have the same id, are not the same, in SQL. */
  differ: string
}

const DOCUMENTS_DIFFER = 'own.document IS NOT other.document'
const stepsOf = (side: string) =>
  `(SELECT json_group_array(document ORDER BY position) FROM workflow_steps
    WHERE dataset = ${side}.dataset AND workflow_id = ${side}.id)`

const RECORDS: Record<DatasetKind, Records[]> = {
  integrations: [{ table: 'integrations', id: 'id', name: 'identifier', differ: DOCUMENTS_DIFFER }],
  subscribers: [{ table: 'subscribers', id: 'id', name: 'subscriber_id', differ: DOCUMENTS_DIFFER }],
  workflows: [
    {
      table: 'workflows',
      id: 'id',
      name: 'identifier',
      differ: `${DOCUMENTS_DIFFER} OR ${stepsOf('own')} IS NOT ${stepsOf('other')}`
    }
  ],
  messages: [{ table: 'messages', id: 'id', name: 'id', differ: DOCUMENTS_DIFFER }],
  idempotency: KEY_SCOPES.map((scope) => ({
    table: 'idempotency_keys',
    id: 'key',
    name: 'key',
    where: `scope = '${scope}'`,
    differ: '(own.fingerprint, own.status, own.body) IS NOT (other.fingerprint, other.status, other.body)'
  }))
}

/** Compares two states of an environment, in steps, each at the moment of the first step, whatever is written meanwhile. */
export function* comparingStates(
  db: Db,
  held: HeldDatasets,
  present: EnvironmentRow,
  former: EnvironmentRow
): Generator<undefined, SnapshotDifferences> {
  try {
    // What both refer to is the same, and then need not be held.
    const differing = DATASET_KINDS.filter((kind) => present[kind] !== former[kind])
    for (const kind of differing) for (const state of [present, former]) held.keep({ [kind]: state[kind] })
    const found = perKind(noDifferences)
    for (const kind of differing) {
      for (const records of RECORDS[kind]) yield* comparing(db, records, present[kind], former[kind], found[kind])
    }
    const { idempotency: idempotencyKeys, ...ofRecords } = found
    return { ...ofRecords, idempotencyKeys, settings: changedSettings(present, former) }
  } finally {
    held.release()
  }
}

function noDifferences(): RecordDifferences {
  const none = () => ({ count: 0, ids: [] })
  return { added: none(), removed: none(), changed: none() }
}

function* comparing(
  db: Db,
  records: Records,
  present: number,
  former: number,
  found: RecordDifferences
): Generator<undefined, void> {
  for (const { name, isMissing } of walking(db, records, present, former)) {
    if (name !== undefined) add(isMissing ? found.added : found.changed, name)
    yield
  }
  for (const { name, isMissing } of walking(db, records, former, present)) {
    if (name !== undefined && isMissing) add(found.removed, name)
    yield
  }
}

function add(records: RecordDifferences['added'], name: string): void {
  records.count++
  if (records.ids.length < MAX_NAMED) records.ids.push(name)
}

interface Difference {
  /** Absent where some rows have been compared and were the same. */
  name?: string
  /** Whether the other dataset has no such record. */
  isMissing?: number
}

/** Yields the records of a dataset that another one has not, or not the same, in the order of their ids. */
function* walking({ client }: Db, { table, id, name, where = '1', differ }: Records, own: number, other: number) {
  const rest = `dataset = @own AND ${where} AND ${id} > @after ORDER BY ${id} LIMIT @count`
  const lastOfNext = client
    .prepare<object, string | null>(`SELECT max(id) FROM (SELECT ${id} AS id FROM ${table} WHERE ${rest})`)
    .pluck()
  const differences = client.prepare<object, Difference>(
    `SELECT own.${name} AS name, other.${id} IS NULL AS isMissing
    FROM (SELECT * FROM ${table} WHERE dataset = @own AND ${where}) AS own
    LEFT JOIN (SELECT * FROM ${table} WHERE dataset = @other AND ${where}) AS other ON other.${id} = own.${id}
    WHERE own.${id} > @after AND own.${id} <= @until AND (other.${id} IS NULL OR ${differ}) ORDER BY own.${id}`
  )
  let count = 1
  for (let after = ''; ; ) {
    const begun = performance.now()
    const until = lastOfNext.get({ own, after, count })
    if (until == null) return
    const found = differences.all({ own, other, after, until })
    const isQuick = performance.now() - begun < TIME_AT_ONCE
    count = isQuick ? Math.min(MAX_AT_ONCE, count * 2) : Math.max(1, Math.floor(count / 2))
    yield* found
    yield {} as Difference
    after = until
  }
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

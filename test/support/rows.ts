import { getTableName } from 'drizzle-orm'
import type { Db } from '../../src/db/open.js'
import { DATASET_TABLES } from '../../src/db/schema.js'
import { DATASET_KINDS } from '../../src/domain/enums.js'

export interface IntegrationRow {
  /** The environment's 1-based position in creation order. */
  environment: number
  id: string
  identifier: string
  channel: string
  active: 0 | 1
  is_primary: 0 | 1
  deleted: 0 | 1
  document: string
}

const NUMBER =
  '(SELECT count(*) FROM environments AS o WHERE o.snapshot_of IS NULL AND o.key <= e.key)'

type Connection = Pick<Db['client'], 'prepare'>

/** Returns all rows of all tables. */
export function allRows(client: Connection): Record<string, Record<string, unknown>[]> {
  const tables = client
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    )
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      client
        .prepare<[], Record<string, unknown>>(`SELECT rowid, * FROM "${name}" ORDER BY rowid`)
        .all()
    ])
  )
}

/**
 * Returns the records of all environments except snapshots, grouped by table. Each row has its
 * environment's position in creation order, and omits the columns `dataset` and `sequence`.
 */
export function environmentRows(client: Connection): Record<string, Record<string, unknown>[]> {
  const tables = DATASET_KINDS.flatMap((kind) =>
    DATASET_TABLES[kind].map((table) => [kind, getTableName(table)])
  )
  return Object.fromEntries(
    tables.map(([kind, table]) => {
      const rows = client.prepare<[], Record<string, unknown>>(
        `SELECT ${NUMBER} AS environment, t.* FROM environments AS e JOIN ${table} AS t ON t.dataset = e.${kind}
        WHERE snapshot_of IS NULL ORDER BY e.key, ${kind === 'idempotency' ? 't.key' : 't.id'}`
      )
      return [table, rows.all().map(({ dataset, sequence, ...row }) => row)]
    })
  )
}

/** Returns the integrations of all environments except snapshots. */
export function integrationRows(client: Connection): IntegrationRow[] {
  return client
    .prepare<[], IntegrationRow>(
      `SELECT ${NUMBER} AS environment, i.id, identifier, channel, active, is_primary, deleted, document
      FROM environments AS e JOIN integrations AS i ON i.dataset = e.integrations
      WHERE snapshot_of IS NULL ORDER BY e.key, i.id`
    )
    .all()
}

export interface KeyRow {
  key: string
  /** The environment's 1-based position in creation order. */
  environment: number
  status: number
  body: Buffer
  created_at: number
}

/**
 * Returns the idempotency keys of all environments except snapshots, with their stored responses.
 * The oldest key comes first.
 */
export function keyRows(client: Connection): KeyRow[] {
  return client
    .prepare<[], KeyRow>(
      `SELECT k.key, ${NUMBER} AS environment, status, body, k.created_at
      FROM environments AS e JOIN idempotency_keys AS k ON k.dataset = e.idempotency
      WHERE snapshot_of IS NULL ORDER BY k.rowid`
    )
    .all()
}

/**
 * Returns the identifiers of the channel's primary integrations in all environments. If
 * `environment` is set, only the environment at this 1-based position is included.
 */
export function primaries(client: Connection, channel: string, environment?: number): string[] {
  return integrationRows(client)
    .filter((row) => row.channel === channel && row.is_primary === 1 && row.deleted === 0)
    .filter((row) => environment === undefined || row.environment === environment)
    .map(({ identifier }) => identifier)
}

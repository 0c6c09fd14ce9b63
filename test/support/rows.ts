import type { Db } from '../../src/db/open.js'

export interface IntegrationRow {
  environment: number
  id: string
  identifier: string
  channel: string
  active: 0 | 1
  is_primary: 0 | 1
  deleted: 0 | 1
  document: string
}

type Connection = Pick<Db['client'], 'prepare'>

/** Every row of every table, as it lies in the database: two of these are equal if nothing was changed between them. */
export function allRows(client: Connection): Record<string, Record<string, unknown>[]> {
  const tables = client
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      client.prepare<[], Record<string, unknown>>(`SELECT rowid, * FROM "${name}" ORDER BY rowid`).all()
    ])
  )
}

/** The integrations of all environments. */
export function integrationRows(client: Connection): IntegrationRow[] {
  return client.prepare<[], IntegrationRow>('SELECT * FROM integrations ORDER BY environment, id').all()
}

export interface KeyRow {
  scope: string
  key: string
  environment: number
  status: number
  body: Buffer
  created_at: number
}

/** What is stored under idempotency keys, oldest first. */
export function keyRows(client: Connection): KeyRow[] {
  return client
    .prepare<[], KeyRow>(
      'SELECT scope, key, environment, status, body, created_at FROM idempotency_keys ORDER BY rowid'
    )
    .all()
}

/** The identifiers of the integrations that are primary and not deleted, of all environments unless one is named. */
export function primaries(client: Connection, channel: string, environment?: number): string[] {
  return integrationRows(client)
    .filter((row) => row.channel === channel && row.is_primary === 1 && row.deleted === 0)
    .filter((row) => environment === undefined || row.environment === environment)
    .map(({ identifier }) => identifier)
}

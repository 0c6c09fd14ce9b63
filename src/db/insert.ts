import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from './open.js'

/** Returns a function that inserts a row. In SQL: drizzle would add half to the time of a million messages. */
export function insertInto<Table extends SQLiteTable>(
  { client }: Db,
  table: Table,
  verb: 'INSERT' | 'INSERT OR REPLACE' = 'INSERT'
): (row: Table['$inferInsert']) => void {
  const columns = Object.entries(getTableColumns(table))
  const names = columns.map(([, { name }]) => name).join()
  const statement = client.prepare(
    `${verb} INTO ${getTableName(table)} (${names}) VALUES (${columns.map(() => '?').join()})`
  )
  return (row: { [column: string]: unknown }) => {
    statement.run(columns.map(([field, column]) => (row[field] != null ? column.mapToDriverValue(row[field]) : null)))
  }
}

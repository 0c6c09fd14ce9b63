import { and, count, eq, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Db } from '../db/open.js'
import { integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'
import type { Environment } from '../environments/environment.js'
import type { MessageRow } from '../messages/row.js'
import type { EnvironmentData } from './environment-data.js'

/** The kinds of records of an environment. Spelled out, as it is in the library's types, which name no package's. */
export type RecordKind = 'messages' | 'integrations' | 'subscribers' | 'workflows' | 'steps'

const TABLES = {
  messages,
  integrations,
  subscribers,
  workflows,
  steps: workflowSteps
} satisfies Record<RecordKind, SQLiteTable>

export type SeedRepository = ReturnType<typeof seedRepository>

export function seedRepository({ orm, client }: Db) {
  // In SQL: drizzle would add half to the time that a million messages take. To replace is another statement, as SQLite
  // keeps a journal of each that may replace, which takes as long as to insert.
  const { sequence, dataset: _, ...columns } = getTableColumns(messages)
  const names = Object.keys(columns) as (keyof MessageRow)[]
  const row = `INTO messages (dataset, ${names.map((name) => columns[name].name).join()}) VALUES (?${', ?'.repeat(names.length)})`
  const newMessage = client.prepare(`INSERT ${row}`)
  const replacement = client.prepare(`INSERT OR REPLACE ${row}`)
  // In SQL: drizzle knows nothing of the indexes there are.
  const messageIndexes = client.prepare<[], { name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages' AND sql NOT LIKE '%UNIQUE%'`
  )
  return {
    insertIntegration: insertInto(integrations),
    insertSubscriber: insertInto(subscribers),
    insertWorkflow: insertInto(workflows),
    insertStep: insertInto(workflowSteps),

    /** In place of one with the same id. */
    insertMessage(dataset: number, added: MessageRow): void {
      const values = [dataset, ...names.map((name) => added[name])]
      try {
        newMessage.run(values)
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
        replacement.run(values)
      }
    },

    /**
     * Works without the indexes of the messages, except that of their ids, and makes them again at the end: for many
     * messages in an almost empty table that takes less time than to keep the indexes at each.
     */
    *withoutIndexes<Step>(work: () => Generator<Step, void, undefined>): Generator<Step, void, undefined> {
      const indexes = messageIndexes.all()
      for (const index of indexes) client.exec(`DROP INDEX ${index.name}`)
      yield* work()
      for (const index of indexes) client.exec(index.sql)
    },

    hasMoreMessagesThan: (number: number) =>
      orm.select({ id: messages.id }).from(messages).limit(1).offset(number).get() !== undefined,

    hasMessage(dataset: number, id: string): boolean {
      const isMeant = and(eq(messages.dataset, dataset), eq(messages.id, id))
      return orm.select({ id: messages.id }).from(messages).where(isMeant).get() !== undefined
    },

    countRecords({ datasets }: Environment): Record<RecordKind, number> {
      const counts = Object.entries(TABLES).map(([kind, table]) => {
        const dataset = datasets[datasetOf(kind as RecordKind)]
        return [kind, orm.select({ count: count() }).from(table).where(eq(table.dataset, dataset)).get()?.count]
      })
      return Object.fromEntries(counts)
    },

    /** Returns the documents in the order in which they were stored; of the messages all or the first ones. */
    listRecords({ datasets }: Environment, messageLimit = -1): Pick<EnvironmentData, RecordKind> {
      const records = Object.entries(TABLES).map(([kind, { dataset, document }]) => {
        const rows = orm.select({ document }).from(TABLES[kind as RecordKind])
        const own = rows.where(eq(dataset, datasets[datasetOf(kind as RecordKind)])).orderBy(sql`rowid`)
        const limited = own.limit(kind === 'messages' ? messageLimit : -1).all()
        return [kind, limited.map((row) => JSON.parse(row.document))]
      })
      return Object.fromEntries(records)
    }
  }

  function datasetOf(kind: RecordKind) {
    return kind === 'steps' ? 'workflows' : kind
  }

  /** An insert that is prepared once: a seed may have a hundred thousand of them. */
  function insertInto<Table extends SQLiteTable>(table: Table): (row: Table['$inferInsert']) => void {
    const names = Object.keys(getTableColumns(table))
    const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]))
    const statement = orm
      .insert(table)
      .values(values as Table['$inferInsert'])
      .prepare()
    return (inserted) => void statement.run(inserted)
  }
}

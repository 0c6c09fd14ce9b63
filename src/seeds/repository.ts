import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'
import type { Datasets } from '../environments/environment.js'
import type { MessageRow } from '../messages/row.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'

/** The kinds of records of an environment. Spelled out, as it is in the library's types, which name no package's. */
export type RecordKind = 'messages' | 'integrations' | 'subscribers' | 'workflows' | 'steps'

const TABLES = {
  messages,
  integrations,
  subscribers,
  workflows,
  steps: workflowSteps
} satisfies Record<RecordKind, SQLiteTable>

export const RECORD_KINDS = Object.keys(TABLES) as RecordKind[]

/**
 * Up to which size, in bytes, the document of a step takes no longer than other records, as most of it is what all steps
 * have, and how many bytes more count as one record: its content may be of templates, which take long to read.
 */
const STEP_SIZE = 4000
const TEMPLATE_SIZE = 60

/** Documents that are read in one go. */
const READ_AT_ONCE = 100

export type SeedRepository = ReturnType<typeof seedRepository>

export function seedRepository(db: Db) {
  const { orm, client } = db
  const insertMessage = insertInto(db, messages)
  // Another statement, as SQLite keeps a journal of each that may replace, which takes as long as to insert.
  const replaceMessage = insertInto(db, messages, 'INSERT OR REPLACE')
  // In SQL: drizzle knows nothing of the indexes there are.
  const messageIndexes = client.prepare<[], { name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages' AND sql NOT LIKE '%UNIQUE%'`
  )
  const nextDocuments = perKind((name) => {
    const from = `FROM ${name} WHERE dataset = ? AND rowid > ?`
    return client.prepare(`SELECT rowid AS address, document ${from} ORDER BY rowid LIMIT ${READ_AT_ONCE}`)
  })
  const count = perKind((name) =>
    client.prepare<[number], number>(`SELECT count(*) FROM ${name} WHERE dataset = ?`).pluck()
  )
  const weigh = perKind((name, kind) => {
    const weight = kind === 'steps' ? `1 + max(octet_length(document) - ${STEP_SIZE}, 0) / ${TEMPLATE_SIZE}` : '1'
    const some = `SELECT ${weight} AS weight FROM ${name} WHERE dataset = ? LIMIT ?`
    return client.prepare<[number, number], number>(`SELECT total(weight) FROM (${some})`).pluck()
  })
  const hasMessage = client.prepare('SELECT 1 FROM messages WHERE dataset = ? AND id = ?').pluck()
  const stepsOf = client
    .prepare<[number, string], string>(
      'SELECT document FROM workflow_steps WHERE dataset = ? AND workflow_id = ? ORDER BY rowid'
    )
    .pluck()

  return {
    insertIntegration: insertInto(db, integrations),
    insertSubscriber: insertInto(db, subscribers),
    insertWorkflow: insertInto(db, workflows),
    insertStep: insertInto(db, workflowSteps),

    /** In place of one with the same id. */
    insertMessage(dataset: number, message: MessageRow): void {
      const row = { ...message, dataset }
      try {
        insertMessage(row)
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
        replaceMessage(row)
      }
    },

    /**
     * Works without the indexes of the messages, except that of their ids, and makes them again at the end: for many
     * messages in an almost empty table that takes less time than to keep the indexes at each.
     */
    *withoutIndexes<Step>(work: () => Generator<Step, void>): Generator<Step | undefined, void> {
      const indexes = messageIndexes.all()
      for (const index of indexes) client.exec(`DROP INDEX ${index.name}`)
      yield* work()
      for (const index of indexes) {
        yield
        client.exec(index.sql)
      }
    },

    hasMoreMessagesThan: (number: number) =>
      orm.select({ id: messages.id }).from(messages).limit(1).offset(number).get() !== undefined,

    hasMessage: (dataset: number, id: string): boolean => hasMessage.get(dataset, id) !== undefined,

    /** Counts the records of each of the kinds. With a limit no more than so many, and a long step as several. */
    countRecords: <Kind extends RecordKind = RecordKind>(
      datasets: Datasets,
      limit?: number,
      kinds: readonly Kind[] = RECORD_KINDS as Kind[]
    ): Record<Kind, number> =>
      Object.fromEntries(
        kinds.map((kind) => {
          const dataset = datasets[datasetOf(kind)]
          return [kind, (limit === undefined ? count[kind].get(dataset) : weigh[kind].get(dataset, limit)) ?? 0]
        })
      ) as Record<Kind, number>,

    /** Faster than `countRecords`. */
    countMessages: ({ messages: dataset }: Datasets): number => count.messages.get(dataset) ?? 0,

    /**
     * Yields the documents of a dataset, all or the first ones, in the order in which they were stored, reading some at a
     * time. The dataset must be held meanwhile.
     */
    *documents(kind: RecordKind, datasets: Datasets, limit = Number.POSITIVE_INFINITY): Generator<object, void> {
      const dataset = datasets[datasetOf(kind)]
      let count = 0
      for (let after = -1; ; ) {
        const rows = nextDocuments[kind].all(dataset, after) as { address: number; document: string }[]
        for (const { document } of rows) {
          if (++count > limit) return
          yield JSON.parse(document)
        }
        const last = rows.at(-1)
        if (!last) return
        after = last.address
      }
    },

    stepsOf: (dataset: number, workflowId: string): WorkflowStep[] =>
      stepsOf.all(dataset, workflowId).map((document) => JSON.parse(document))
  }

  function datasetOf(kind: RecordKind) {
    return kind === 'steps' ? 'workflows' : kind
  }
}

function perKind<Value>(create: (tableName: string, kind: RecordKind) => Value): Record<RecordKind, Value> {
  const values = Object.entries(TABLES).map(([kind, table]) => [kind, create(getTableName(table), kind as RecordKind)])
  return Object.fromEntries(values)
}

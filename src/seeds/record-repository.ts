import { and, desc, eq, getTableName, gte, lt, or, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Channel } from '../core/enums.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { integrations, messages, subscribers, workflows } from '../db/schema.js'
import type { MessageRow } from '../messages/row.js'

type IntegrationRow = typeof integrations.$inferInsert

/** The queries for single records. */
export function recordRepository(db: Db) {
  const { orm, client } = db
  const insertIntegration = insertInto(db, integrations)
  const { channel, primary } = integrations
  const provider = orm
    .select({ document: integrations.document })
    .from(integrations)
    .where(
      and(
        eq(integrations.dataset, sql.placeholder('dataset')),
        eq(channel, sql.placeholder('channel')),
        eq(integrations.active, true),
        eq(integrations.deleted, false)
      )
    )
    .orderBy(desc(primary), sql`rowid`)
    .limit(1)
    .prepare()
  const lastMessageId = client
    .prepare<[number, number], string | null>('SELECT max(id) FROM messages WHERE dataset = ? AND created_at = ?')
    .pluck()

  return {
    findMessage: documentBy(messages.id),
    findIntegration: documentBy(integrations.id),
    findIntegrationByIdentifier: documentBy(integrations.identifier),
    findSubscriber: documentBy(subscribers.subscriberId),
    findWorkflow: documentBy(workflows.identifier),

    /** Returns the integration that messages of the channel go through: its primary one, else its first active one. */
    findProvider(dataset: number, ofChannel: Channel): object | undefined {
      const found = provider.get({ dataset, channel: ofChannel })
      return found && JSON.parse(found.document)
    },

    /** Returns the primary integrations of the channel, and those whose identifier is the base or begins with it and `-`. */
    findClashing(dataset: number, ofChannel: Channel, base: string | undefined): object[] {
      const { document, identifier } = integrations
      const isPrimary = and(eq(channel, ofChannel), eq(primary, true))
      // `.` is what follows `-` in the order of the index.
      const isNumbered = and(gte(identifier, `${base}-`), lt(identifier, `${base}.`))
      const isClashing = base === undefined ? isPrimary : or(isPrimary, eq(identifier, base), isNumbered)
      const found = orm
        .select({ document })
        .from(integrations)
        .where(and(eq(integrations.dataset, dataset), isClashing))
        .orderBy(sql`rowid`)
        .all()
      return found.map((row) => JSON.parse(row.document))
    },

    /** Returns the greatest id of the messages of this time. */
    lastMessageId: (dataset: number, createdAt: number): string | undefined =>
      lastMessageId.get(dataset, createdAt) ?? undefined,

    /** Changes the row of its id. */
    updateMessage({ id, ...columns }: MessageRow & { dataset: number }): void {
      orm
        .update(messages)
        .set(columns)
        .where(isRecord(messages, columns.dataset, id))
        .run()
    },

    deleteMessage: (dataset: number, id: string): void =>
      void orm
        .delete(messages)
        .where(isRecord(messages, dataset, id))
        .run(),

    insertIntegration: (row: IntegrationRow): void => void insertIntegration(row),

    /** Changes the row of its id. */
    updateIntegration({ id, ...columns }: IntegrationRow): void {
      orm
        .update(integrations)
        .set(columns)
        .where(isRecord(integrations, columns.dataset, id))
        .run()
    },

    deleteIntegration: (dataset: number, id: string): void =>
      void orm
        .delete(integrations)
        .where(isRecord(integrations, dataset, id))
        .run()
  }

  /** Returns a function that returns the document of a dataset that has a value in this column. */
  function documentBy(column: SQLiteColumn) {
    const statement = client
      .prepare<[number, string], string>(
        `SELECT document FROM ${getTableName(column.table)} WHERE dataset = ? AND ${column.name} = ?`
      )
      .pluck()
    return (dataset: number, value: string): object | undefined => {
      const document = statement.get(dataset, value)
      return document === undefined ? undefined : JSON.parse(document)
    }
  }
}

function isRecord(table: typeof messages | typeof integrations, dataset: number, id: string) {
  return and(eq(table.dataset, dataset), eq(table.id, id))
}

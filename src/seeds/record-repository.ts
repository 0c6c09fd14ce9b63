import { and, desc, eq, gte, lt, max, or, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Channel } from '../core/enums.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { integrations, messages, subscribers, workflows } from '../db/schema.js'
import type { MessageRow } from '../messages/row.js'

type IntegrationRow = typeof integrations.$inferInsert

/** The queries for single records. */
export function recordRepository(db: Db) {
  const { orm } = db
  const insertIntegration = insertInto(db, integrations)

  return {
    findMessage: (dataset: number, id: string) => documentOf(messages, messages.id, dataset, id),
    findIntegration: (dataset: number, id: string) => documentOf(integrations, integrations.id, dataset, id),
    findIntegrationByIdentifier: (dataset: number, identifier: string) =>
      documentOf(integrations, integrations.identifier, dataset, identifier),
    findSubscriber: (dataset: number, subscriberId: string) =>
      documentOf(subscribers, subscribers.subscriberId, dataset, subscriberId),
    findWorkflow: (dataset: number, identifier: string) =>
      documentOf(workflows, workflows.identifier, dataset, identifier),

    /** Returns the integration that messages of the channel go through: its primary one, else its first active one. */
    findProvider(dataset: number, channel: Channel): object | undefined {
      const { document, primary, active, deleted } = integrations
      const isUsable = and(eq(active, true), eq(deleted, false))
      const found = orm
        .select({ document })
        .from(integrations)
        .where(and(eq(integrations.dataset, dataset), eq(integrations.channel, channel), isUsable))
        .orderBy(desc(primary), sql`rowid`)
        .limit(1)
        .get()
      return parsed(found)
    },

    /** Returns the primary integrations of the channel, and those whose identifier is the base or begins with it and `-`. */
    findClashing(dataset: number, channel: Channel, base: string | undefined): object[] {
      const { document, primary, identifier } = integrations
      const isPrimary = and(eq(integrations.channel, channel), eq(primary, true))
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
    lastMessageId(dataset: number, createdAt: number): string | undefined {
      const isMeant = and(eq(messages.dataset, dataset), eq(messages.createdAt, createdAt))
      return (
        orm
          .select({ id: max(messages.id) })
          .from(messages)
          .where(isMeant)
          .get()?.id ?? undefined
      )
    },

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

  function documentOf(
    table: SQLiteTable & { dataset: SQLiteColumn; document: SQLiteColumn },
    column: SQLiteColumn,
    dataset: number,
    value: string
  ): object | undefined {
    const { document } = table
    const isMeant = and(eq(table.dataset, dataset), eq(column, value))
    return parsed(orm.select({ document }).from(table).where(isMeant).get() as { document: string } | undefined)
  }
}

function parsed(row: { document: string } | undefined): object | undefined {
  return row && JSON.parse(row.document)
}

function isRecord(table: typeof messages | typeof integrations, dataset: number, id: string) {
  return and(eq(table.dataset, dataset), eq(table.id, id))
}

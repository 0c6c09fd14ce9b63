import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { environments, integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'

/** The document as text, or as what it is in UTF-8. */
type NewMessage = Omit<typeof messages.$inferSelect, 'sequence' | 'dataset' | 'document'> & {
  document: string | Buffer
}

const DOCUMENTS = 'SELECT document FROM ?table WHERE dataset = ? ORDER BY rowid LIMIT ?'

/** Inserts, each prepared once: a seed may bring rows by the hundred thousand. */
export function seedRepository({ orm, client }: Db) {
  const value = sql.placeholder
  const dataset = value('dataset')
  const id = value('id')
  const document = value('document')

  const integration = orm
    .insert(integrations)
    .values({
      dataset,
      id,
      identifier: value('identifier'),
      channel: value('channel'),
      active: value('active'),
      primary: value('primary'),
      deleted: value('deleted'),
      document
    })
    .prepare()
  const subscriber = orm
    .insert(subscribers)
    .values({ dataset, id, subscriberId: value('subscriberId'), document })
    .prepare()
  const workflow = orm
    .insert(workflows)
    .values({ dataset, id, identifier: value('identifier'), document })
    .prepare()
  const step = orm
    .insert(workflowSteps)
    .values({
      dataset,
      id,
      workflowId: value('workflowId'),
      stepId: value('stepId'),
      position: value('position'),
      document
    })
    .prepare()
  // In SQL: drizzle would take a third of the time in which a million rows are inserted. To replace is another statement,
  // as SQLite keeps a journal of each that may, which takes as long as to insert.
  const row = `INTO messages (dataset, id, created_at, channel, subscriber_id, transaction_id, context, document)
    VALUES (?, ?, ?, ?, ?, ?, ?, CAST(? AS TEXT))`
  const message = client.prepare(`INSERT ${row}`)
  const replacement = client.prepare(`INSERT OR REPLACE ${row}`)

  const messageIndexes = client.prepare<[], { name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages' AND sql NOT LIKE '%UNIQUE%'`
  )
  const moreMessages = client.prepare<[number], unknown>('SELECT 1 FROM messages LIMIT 1 OFFSET ?')

  const ofMessage = and(eq(messages.dataset, dataset), eq(messages.id, id))
  const messageIds = orm.select({ id: messages.id }).from(messages).where(ofMessage).prepare()
  const messageCount = client.prepare('SELECT count(*) AS count FROM messages WHERE dataset = ?')

  return {
    hasEnvironments(): boolean {
      return orm.select({ key: environments.key }).from(environments).limit(1).get() !== undefined
    },

    setCreated: (createdAt: number) => void orm.update(environments).set({ createdAt }).run(),

    insertIntegration: (row: typeof integrations.$inferInsert) => void integration.run(row),
    insertSubscriber: (row: typeof subscribers.$inferInsert) => void subscriber.run(row),
    insertWorkflow: (row: typeof workflows.$inferInsert) => void workflow.run(row),
    insertStep: (row: typeof workflowSteps.$inferInsert) => void step.run(row),
    /**
     * Works without the indexes of the messages, but for that of their ids, and then makes them: of many messages in an
     * almost empty table that takes less time than keeping the indexes at each.
     */
    *withoutIndexes<Step>(work: () => Generator<Step, void, undefined>): Generator<Step, void, undefined> {
      const indexes = messageIndexes.all()
      for (const { name } of indexes) client.exec(`DROP INDEX ${name}`)
      yield* work()
      for (const { sql } of indexes) client.exec(sql)
    },

    hasMoreMessagesThan: (count: number) => moreMessages.get(count) !== undefined,

    /** In place of one with the same id. */
    insertMessage(
      dataset: number,
      { id, createdAt, channel, subscriberId, transactionId, context, document }: NewMessage
    ): void {
      try {
        message.run(dataset, id, createdAt, channel, subscriberId, transactionId, context, document)
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
        replacement.run(dataset, id, createdAt, channel, subscriberId, transactionId, context, document)
      }
    },

    hasMessage: (ofMessage: { dataset: number; id: string }) => messageIds.get(ofMessage) !== undefined,

    countMessages: (inDataset: number) => (messageCount.get(inDataset) as { count: number }).count,

    /** The documents of a table's rows, as JSON, in the order in which they were stored; all of them, or the first. */
    listDocuments(
      table: 'integrations' | 'subscribers' | 'workflows' | 'workflow_steps' | 'messages',
      from: number,
      most = -1
    ) {
      return client.prepare<[number, number], string>(DOCUMENTS.replace('?table', table)).pluck().all(from, most)
    }
  }
}

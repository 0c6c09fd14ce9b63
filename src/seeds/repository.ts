import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { environments, integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'

const DOCUMENTS = 'SELECT document FROM ?table WHERE collection = ? ORDER BY rowid'

/** Inserts, each prepared once: a seed may bring rows by the hundred thousand. */
export function seedRepository({ orm, client }: Db) {
  const value = sql.placeholder
  const collection = value('collection')
  const id = value('id')
  const document = value('document')

  const integration = orm
    .insert(integrations)
    .values({
      collection,
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
    .values({ collection, id, subscriberId: value('subscriberId'), document })
    .prepare()
  const workflow = orm
    .insert(workflows)
    .values({ collection, id, identifier: value('identifier'), document })
    .prepare()
  const step = orm
    .insert(workflowSteps)
    .values({
      collection,
      id,
      workflowId: value('workflowId'),
      stepId: value('stepId'),
      position: value('position'),
      document
    })
    .prepare()
  const message = orm
    .insert(messages)
    .values({
      collection,
      id,
      createdAt: value('createdAt'),
      channel: value('channel'),
      subscriberId: value('subscriberId'),
      transactionId: value('transactionId'),
      context: value('context'),
      document
    })
    .prepare()

  const ofMessage = and(eq(messages.collection, collection), eq(messages.id, id))
  const messageById = orm.delete(messages).where(ofMessage).prepare()
  const messageIds = orm.select({ id: messages.id }).from(messages).where(ofMessage).prepare()
  const messageCount = client.prepare('SELECT count(*) AS count FROM messages WHERE collection = ?')

  return {
    hasEnvironments(): boolean {
      return orm.select({ key: environments.key }).from(environments).limit(1).get() !== undefined
    },

    setCreated: (createdAt: number) => void orm.update(environments).set({ createdAt }).run(),

    insertIntegration: (row: typeof integrations.$inferInsert) => void integration.run(row),
    insertSubscriber: (row: typeof subscribers.$inferInsert) => void subscriber.run(row),
    insertWorkflow: (row: typeof workflows.$inferInsert) => void workflow.run(row),
    insertStep: (row: typeof workflowSteps.$inferInsert) => void step.run(row),
    insertMessage: (row: typeof messages.$inferInsert) => void message.run(row),

    deleteMessage: (ofMessage: { collection: number; id: string }) => void messageById.run(ofMessage),

    hasMessage: (ofMessage: { collection: number; id: string }) => messageIds.get(ofMessage) !== undefined,

    countMessages: (inCollection: number) => (messageCount.get(inCollection) as { count: number }).count,

    /** The documents of a table's rows, as JSON, in the order in which they were stored. */
    listDocuments(table: 'integrations' | 'subscribers' | 'workflows' | 'workflow_steps' | 'messages', from: number) {
      return client.prepare<[number], string>(DOCUMENTS.replace('?table', table)).pluck().all(from)
    }
  }
}

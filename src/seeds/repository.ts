import { sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { apiKeys, environments, integrations, messages, subscribers, workflowSteps, workflows } from '../db/schema.js'

export type SeedRepository = ReturnType<typeof seedRepository>

/** Inserts, each prepared once: a seed may bring rows by the hundred thousand. */
export function seedRepository({ orm }: Db) {
  const value = sql.placeholder
  const environment = value('environment')
  const id = value('id')
  const document = value('document')

  const apiKey = orm
    .insert(apiKeys)
    .values({ hash: value('hash'), environment })
    .prepare()
  const integration = orm
    .insert(integrations)
    .values({
      environment,
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
    .values({ environment, id, subscriberId: value('subscriberId'), document })
    .prepare()
  const workflow = orm
    .insert(workflows)
    .values({ environment, id, identifier: value('identifier'), document })
    .prepare()
  const step = orm
    .insert(workflowSteps)
    .values({
      environment,
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
      environment,
      id,
      createdAt: value('createdAt'),
      channel: value('channel'),
      subscriberId: value('subscriberId'),
      transactionId: value('transactionId'),
      context: value('context'),
      document
    })
    .prepare()

  return {
    hasEnvironments(): boolean {
      return orm.select({ key: environments.key }).from(environments).limit(1).get() !== undefined
    },

    /** Answers with the key that its other rows are to carry. */
    insertEnvironment(row: typeof environments.$inferInsert): number {
      return orm.insert(environments).values(row).returning({ key: environments.key }).get().key
    },

    insertApiKey: (row: typeof apiKeys.$inferInsert) => void apiKey.run(row),
    insertIntegration: (row: typeof integrations.$inferInsert) => void integration.run(row),
    insertSubscriber: (row: typeof subscribers.$inferInsert) => void subscriber.run(row),
    insertWorkflow: (row: typeof workflows.$inferInsert) => void workflow.run(row),
    insertStep: (row: typeof workflowSteps.$inferInsert) => void step.run(row),
    insertMessage: (row: typeof messages.$inferInsert) => void message.run(row)
  }
}

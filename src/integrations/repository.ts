import { and, eq, isNull, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { environments, integrations } from '../db/schema.js'

export type IntegrationRow = typeof integrations.$inferSelect

export function integrationRepository({ orm }: Db) {
  const collection = sql.placeholder('collection')
  const id = sql.placeholder('id')
  const ofCollection = eq(integrations.collection, collection)
  const { document } = integrations
  // Spelled out, not bound: a value bound to a column of a partial index makes SQLite compile the statement at each run.
  const notDeleted = sql`${integrations.deleted} = 0`
  const isPrimary = sql`${integrations.primary} = 1`

  const byId = orm
    .select()
    .from(integrations)
    .where(and(ofCollection, eq(integrations.id, id)))
    .prepare()
  const byIdentifier = orm
    .select()
    .from(integrations)
    .where(and(ofCollection, eq(integrations.identifier, sql.placeholder('identifier'))))
    .prepare()
  const elsewhere = orm
    .select({ name: environments.name })
    .from(integrations)
    .innerJoin(environments, eq(environments.integrations, integrations.collection))
    .where(
      and(
        eq(environments.organizationId, sql.placeholder('organizationId')),
        isNull(environments.snapshotOf),
        ne(integrations.collection, collection),
        notDeleted,
        or(eq(integrations.id, id), eq(integrations.identifier, sql.placeholder('identifier')))
      )
    )
    .limit(1)
    .prepare()

  // The documents are changed where they lie: json_set keeps every other byte, and spares parsing them here.
  const demotePrimaries = orm
    .update(integrations)
    .set({ primary: false, document: sql`json_set(${document}, '$.primary', json('false'))` })
    .where(and(ofCollection, eq(integrations.channel, sql.placeholder('channel')), isPrimary))
    .prepare()
  const promote = orm
    .update(integrations)
    .set({
      active: true,
      primary: true,
      document: sql`json_set(${document}, '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))`
    })
    .where(and(ofCollection, eq(integrations.id, id)))
    .returning({ document })
    .prepare()

  return {
    findById(inCollection: number, integrationId: string): IntegrationRow | undefined {
      return byId.get({ collection: inCollection, id: integrationId })
    },

    findByIdentifier(inCollection: number, identifier: string): IntegrationRow | undefined {
      return byIdentifier.get({ collection: inCollection, identifier })
    },

    /**
     * The name of another environment of the organisation that has such an integration, not soft-deleted. `identifier`
     * is null where only an `_id` counts.
     */
    findElsewhere(
      inCollection: number,
      organizationId: string,
      id: string,
      identifier: string | null
    ): string | undefined {
      return elsewhere.get({ collection: inCollection, organizationId, id, identifier })?.name
    },

    /** Takes `primary` from every integration of the channel that has it, soft-deleted ones too. */
    demotePrimaries(inCollection: number, channel: IntegrationRow['channel']): void {
      demotePrimaries.run({ collection: inCollection, channel })
    },

    /**
     * Makes an integration that is there primary, active and free of conditions, and answers with its document. The
     * database refuses a second primary.
     */
    promote(inCollection: number, integrationId: string): string {
      return promote.get({ collection: inCollection, id: integrationId }).document
    }
  }
}

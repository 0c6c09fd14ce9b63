import { and, eq, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { environments, integrations } from '../db/schema.js'

export type IntegrationRow = typeof integrations.$inferSelect

export function integrationRepository({ orm }: Db) {
  const environment = sql.placeholder('environment')
  const id = sql.placeholder('id')
  const ofEnvironment = eq(integrations.environment, environment)
  const { document } = integrations
  // Spelled out, not bound: a value bound to a column of a partial index makes SQLite compile the statement at each run.
  const notDeleted = sql`${integrations.deleted} = 0`
  const isPrimary = sql`${integrations.primary} = 1`

  const byId = orm
    .select()
    .from(integrations)
    .where(and(ofEnvironment, eq(integrations.id, id)))
    .prepare()
  const byIdentifier = orm
    .select()
    .from(integrations)
    .where(and(ofEnvironment, eq(integrations.identifier, sql.placeholder('identifier'))))
    .prepare()
  const elsewhere = orm
    .select({ name: environments.name })
    .from(integrations)
    .innerJoin(environments, eq(environments.key, integrations.environment))
    .where(
      and(
        eq(environments.organizationId, sql.placeholder('organizationId')),
        ne(environments.key, environment),
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
    .where(and(ofEnvironment, eq(integrations.channel, sql.placeholder('channel')), isPrimary))
    .prepare()
  const promote = orm
    .update(integrations)
    .set({
      active: true,
      primary: true,
      document: sql`json_set(${document}, '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))`
    })
    .where(and(ofEnvironment, eq(integrations.id, id)))
    .returning({ document })
    .prepare()

  return {
    findById(key: number, integrationId: string): IntegrationRow | undefined {
      return byId.get({ environment: key, id: integrationId })
    },

    findByIdentifier(key: number, identifier: string): IntegrationRow | undefined {
      return byIdentifier.get({ environment: key, identifier })
    },

    /**
     * The name of another environment of the organisation that has such an integration, not soft-deleted. `identifier`
     * is null where only an `_id` counts.
     */
    findElsewhere(key: number, organizationId: string, id: string, identifier: string | null): string | undefined {
      return elsewhere.get({ environment: key, organizationId, id, identifier })?.name
    },

    /** Takes `primary` from every integration of the channel that has it, soft-deleted ones too. */
    demotePrimaries(key: number, channel: IntegrationRow['channel']): void {
      demotePrimaries.run({ environment: key, channel })
    },

    /**
     * Makes an integration that is there primary, active and free of conditions, and answers with its document. The
     * database refuses a second primary.
     */
    promote(key: number, integrationId: string): string {
      return promote.get({ environment: key, id: integrationId }).document
    }
  }
}

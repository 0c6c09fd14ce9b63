import { and, eq, ne, or, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { environments, integrations } from '../db/schema.js'

export type IntegrationRow = typeof integrations.$inferSelect

export function integrationRepository({ orm }: Db) {
  const environment = sql.placeholder('environment')
  const id = sql.placeholder('id')
  const channel = sql.placeholder('channel')

  const byId = orm
    .select()
    .from(integrations)
    .where(and(eq(integrations.environment, environment), eq(integrations.id, id)))
    .prepare()
  const byIdentifier = orm
    .select()
    .from(integrations)
    .where(and(eq(integrations.environment, environment), eq(integrations.identifier, id)))
    .prepare()
  const elsewhere = orm
    .select({ name: environments.name })
    .from(integrations)
    .innerJoin(environments, eq(environments.key, integrations.environment))
    .where(
      and(
        eq(environments.organizationId, sql.placeholder('organizationId')),
        ne(environments.key, environment),
        or(eq(integrations.id, id), eq(integrations.identifier, sql.placeholder('identifier')))
      )
    )
    .limit(1)
    .prepare()
  const primaries = orm
    .select()
    .from(integrations)
    .where(
      and(eq(integrations.environment, environment), eq(integrations.channel, channel), eq(integrations.primary, true))
    )
    .prepare()
  const update = orm
    .update(integrations)
    .set({
      active: sql`${sql.placeholder('active')}`,
      primary: sql`${sql.placeholder('primary')}`,
      document: sql`${sql.placeholder('document')}`
    })
    .where(and(eq(integrations.environment, environment), eq(integrations.id, id)))
    .prepare()

  return {
    findById(key: number, integrationId: string): IntegrationRow | undefined {
      return byId.get({ environment: key, id: integrationId })
    },

    findByIdentifier(key: number, identifier: string): IntegrationRow | undefined {
      return byIdentifier.get({ environment: key, id: identifier })
    },

    /**
     * The name of another environment of the organisation that has such an integration. `identifier` is null where
     * only an `_id` counts.
     */
    findElsewhere(key: number, organizationId: string, id: string, identifier: string | null): string | undefined {
      return elsewhere.get({ environment: key, organizationId, id, identifier })?.name
    },

    /** Those marked primary, soft-deleted ones too. At most one of them is not deleted. */
    listPrimaries(key: number, wanted: IntegrationRow['channel']): IntegrationRow[] {
      return primaries.all({ environment: key, channel: wanted })
    },

    /** Writes what set-primary may change. */
    updateIntegration(row: IntegrationRow): void {
      update.run({
        environment: row.environment,
        id: row.id,
        active: Number(row.active),
        primary: Number(row.primary),
        document: row.document
      })
    }
  }
}

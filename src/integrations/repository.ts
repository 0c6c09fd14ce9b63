import { and, eq, isNull, ne, or, sql } from 'drizzle-orm'
import type { Channel } from '../core/enums.js'
import { MAX_CANDIDATES } from '../core/suggest.js'
import type { Db } from '../db/open.js'
import { environments, integrations } from '../db/schema.js'

/** What is read of an integration before it is changed. */
export interface FoundIntegration extends Pick<typeof integrations.$inferSelect, 'id' | 'channel' | 'document'> {
  primary: 0 | 1
  deleted: 0 | 1
}

export function integrationRepository({ orm, client }: Db) {
  const { id, identifier, deleted } = integrations
  // In SQL: through drizzle a set-primary takes 7 % longer.
  const findBy = (column: 'id' | 'identifier') =>
    client.prepare<[number, string], FoundIntegration>(
      `SELECT id, channel, is_primary AS "primary", deleted, document FROM integrations WHERE dataset = ? AND ${column} = ?`
    )
  const byId = findBy('id')
  const byIdentifier = findBy('identifier')

  const identifiers = orm
    .select({ identifier })
    .from(integrations)
    .where(and(eq(integrations.dataset, sql.placeholder('dataset')), eq(deleted, false)))
    .limit(MAX_CANDIDATES)
    .prepare()

  // In SQL, since drizzle would bind `is_primary = 1`, and SQLite compiles a statement again at each run where a bound
  // value is compared with the column of a partial index. json_set keeps every other byte of the document.
  const demotePrimaries = client.prepare<[number, Channel], { id: string; name: string }>(
    `UPDATE integrations SET is_primary = 0, document = json_set(document, '$.primary', json('false'))
    WHERE dataset = ? AND channel = ? AND is_primary = 1 RETURNING id, document ->> '$.name' AS name`
  )
  const promote = client
    .prepare<[number, string], string>(
      `UPDATE integrations SET active = 1, is_primary = 1,
        document = json_set(document, '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))
      WHERE dataset = ? AND id = ? RETURNING document`
    )
    .pluck()

  return {
    findById: (dataset: number, value: string): FoundIntegration | undefined => byId.get(dataset, value),

    findByIdentifier: (dataset: number, value: string): FoundIntegration | undefined =>
      byIdentifier.get(dataset, value),

    /** Returns the identifiers of the first integrations that are not soft-deleted, some hundreds at most. */
    listIdentifiers: (dataset: number): string[] => identifiers.all({ dataset }).map(({ identifier }) => identifier),

    /**
     * Returns the name of another environment of the organization that has such an integration, not soft-deleted.
     * `otherIdentifier` is null where only an `_id` counts.
     */
    findElsewhere(dataset: number, organizationId: string, otherId: string, otherIdentifier: string | null) {
      return orm
        .select({ name: environments.name })
        .from(integrations)
        .innerJoin(environments, eq(environments.integrations, integrations.dataset))
        .where(
          and(
            eq(environments.organizationId, organizationId),
            isNull(environments.snapshotOf),
            ne(integrations.dataset, dataset),
            eq(deleted, false),
            // In SQL nothing equals null.
            or(eq(id, otherId), eq(identifier, sql`${otherIdentifier}`))
          )
        )
        .limit(1)
        .get()?.name
    },

    /** Takes `primary` from every integration of the channel that has it, soft-deleted ones too, and returns these. */
    demotePrimaries: (dataset: number, ofChannel: Channel): { id: string; name: string }[] =>
      demotePrimaries.all(dataset, ofChannel),

    /** Makes it primary, active and free of conditions, and returns its document. Throws when there is another primary. */
    promote: (dataset: number, integrationId: string): string => promote.get(dataset, integrationId) as string
  }
}

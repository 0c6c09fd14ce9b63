import type { Db } from '../db/open.js'
import type { integrations } from '../db/schema.js'
import type { Channel } from '../domain/enums.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'

/** What is read of an integration before it is changed. */
export interface FoundIntegration
  extends Pick<typeof integrations.$inferSelect, 'id' | 'channel' | 'document'> {
  primary: 0 | 1
  deleted: 0 | 1
}

/** In SQL: through drizzle a set-primary takes 7 % longer. */
export function integrationRepository({ client }: Db) {
  const findBy = (column: 'id' | 'identifier') =>
    client.prepare<[number, string], FoundIntegration>(
      `SELECT id, channel, is_primary AS "primary", deleted, document FROM integrations WHERE dataset = ? AND ${column} = ?`
    )
  const texts = <Params extends unknown[]>(sql: string) =>
    client.prepare<Params, string>(sql).pluck()
  const byId = findBy('id')
  const byIdentifier = findBy('identifier')
  const identifiers = texts<[number]>(
    `SELECT identifier FROM integrations WHERE dataset = ? AND NOT deleted LIMIT ${MAX_CANDIDATES}`
  )
  // In SQL nothing equals null.
  const ownerElsewhere = texts<[string, number, string, string | null]>(
    `SELECT name FROM environments JOIN integrations AS i ON i.dataset = environments.integrations
    WHERE organization_id = ? AND snapshot_of IS NULL AND i.dataset <> ? AND NOT i.deleted
      AND (i.id = ? OR i.identifier = ?) LIMIT 1`
  )
  // With `is_primary = 1` in the text: SQLite compiles a statement again at each run where a bound
  // value is compared with the column of a partial index. json_set keeps every other byte of the document.
  const demotePrimaries = client.prepare<[number, Channel], { id: string; document: string }>(
    `UPDATE integrations SET is_primary = 0, document = json_set(document, '$.primary', json('false'))
    WHERE dataset = ? AND channel = ? AND is_primary = 1 RETURNING id, document`
  )
  const promote = texts<[number, string]>(
    `UPDATE integrations SET active = 1, is_primary = 1,
      document = json_set(document, '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))
    WHERE dataset = ? AND id = ? RETURNING document`
  )

  return {
    findById: (dataset: number, id: string) => byId.get(dataset, id),

    findByIdentifier: (dataset: number, identifier: string) =>
      byIdentifier.get(dataset, identifier),

    /** Returns the identifiers of the first integrations that are not soft-deleted, some hundreds at most. */
    listIdentifiers: (dataset: number): string[] => identifiers.all(dataset),

    /**
     * Returns the name of another environment of the organization that has such an integration, not soft-deleted.
     * `identifier` is null where only an `_id` counts.
     */
    findElsewhere: (
      dataset: number,
      organizationId: string,
      id: string,
      identifier: string | null
    ) => ownerElsewhere.get(organizationId, dataset, id, identifier),

    /** Takes `primary` from every integration of the channel that has it, soft-deleted ones too, and returns these. */
    demotePrimaries: (dataset: number, channel: Channel) => demotePrimaries.all(dataset, channel),

    /** Makes it primary, active and free of conditions, and returns its document. Throws when there is another primary. */
    promote: (dataset: number, id: string): string => promote.get(dataset, id) as string
  }
}

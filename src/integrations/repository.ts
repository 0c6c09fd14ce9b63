import type { Channel } from '../core/enums.js'
import type { Db } from '../db/open.js'

/** What is looked at of an integration before it is changed. */
export interface FoundIntegration {
  id: string
  channel: Channel
  primary: boolean
  deleted: boolean
  /** As JSON. */
  document: string
}

interface Row extends Omit<FoundIntegration, 'primary' | 'deleted'> {
  primary: 0 | 1
  deleted: 0 | 1
}

/** Written as SQL: what a query costs on its way through drizzle is a good part of what a set-primary costs. */
export function integrationRepository({ client }: Db) {
  const columns = 'id, channel, is_primary AS "primary", deleted, document'
  const byId = client.prepare<[number, string], Row>(`SELECT ${columns} FROM integrations WHERE dataset = ? AND id = ?`)
  const byIdentifier = client.prepare<[number, string], Row>(
    `SELECT ${columns} FROM integrations WHERE dataset = ? AND identifier = ?`
  )
  const elsewhere = client
    .prepare<[string, number, string, string | null], string>(
      `SELECT environments.name
      FROM integrations JOIN environments ON environments.integrations = integrations.dataset
      WHERE environments.organization_id = ? AND environments.snapshot_of IS NULL
        AND integrations.dataset <> ? AND integrations.deleted = 0
        AND (integrations.id = ? OR integrations.identifier = ?)
      LIMIT 1`
    )
    .pluck()

  // The documents are changed where they lie: json_set keeps every other byte, and spares parsing them here. What is
  // compared with a column of a partial index is spelled out: were it bound, SQLite would compile at each run.
  const demotePrimaries = client.prepare<[number, Channel]>(
    `UPDATE integrations SET is_primary = 0, document = json_set(document, '$.primary', json('false'))
    WHERE dataset = ? AND channel = ? AND is_primary = 1`
  )
  const promote = client
    .prepare<[number, string], string>(
      `UPDATE integrations SET active = 1, is_primary = 1,
        document = json_set(document, '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))
      WHERE dataset = ? AND id = ? RETURNING document`
    )
    .pluck()

  return {
    findById(dataset: number, id: string): FoundIntegration | undefined {
      return found(byId.get(dataset, id))
    },

    findByIdentifier(dataset: number, identifier: string): FoundIntegration | undefined {
      return found(byIdentifier.get(dataset, identifier))
    },

    /**
     * The name of another environment of the organisation that has such an integration, not soft-deleted. `identifier`
     * is null where only an `_id` counts.
     */
    findElsewhere(dataset: number, organizationId: string, id: string, identifier: string | null): string | undefined {
      return elsewhere.get(organizationId, dataset, id, identifier)
    },

    /** Takes `primary` from every integration of the channel that has it, soft-deleted ones too. */
    demotePrimaries(dataset: number, channel: Channel): void {
      demotePrimaries.run(dataset, channel)
    },

    /**
     * Makes an integration that is there primary, active and free of conditions, and answers with its document. The
     * database refuses a second primary.
     */
    promote(dataset: number, id: string): string {
      return promote.get(dataset, id) as string
    }
  }
}

function found(row: Row | undefined): FoundIntegration | undefined {
  return row && { ...row, primary: row.primary === 1, deleted: row.deleted === 1 }
}

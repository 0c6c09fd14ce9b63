import { type Db, insertInto } from '../db/open.js'
import { idempotencyKeys } from '../db/schema.js'
import type { KeyScope } from '../domain/enums.js'

export type IdempotencyKeyRow = typeof idempotencyKeys.$inferSelect

/** The newest key of an organization, with the environment that has it and the home of its dataset. */
type FoundInOrganization = IdempotencyKeyRow &
  Record<'ownerId' | 'homeId' | 'homeOrganizationId', string>

export function idempotencyRepository(db: Db) {
  const { client } = db
  const columns = 'dataset, scope, key, fingerprint, status, body, created_at AS createdAt'
  const find = client.prepare<[number, KeyScope, string], IdempotencyKeyRow>(
    `SELECT ${columns} FROM idempotency_keys WHERE dataset = ? AND scope = ? AND key = ?`
  )
  // A fork has the answers of its origin until either stores one.
  const findInOrganization = client.prepare<[string, string, string], FoundInOrganization>(
    `SELECT ${columns}, ownerId, homeId, homeOrganizationId FROM (
      SELECT k.*, e.id AS ownerId, e.key AS age, d.environment_id AS homeId, d.organization_id AS homeOrganizationId
      FROM environments AS e JOIN idempotency_keys AS k ON k.dataset = e.idempotency JOIN datasets AS d ON d.key = k.dataset
      WHERE e.organization_id = ? AND e.snapshot_of IS NULL AND k.scope = 'organization' AND k.key = ?
    ) ORDER BY createdAt DESC, ownerId = ? DESC, age LIMIT 1`
  )
  const removeUntil = client.prepare<[number, number]>(
    'DELETE FROM idempotency_keys WHERE dataset = ? AND created_at <= ?'
  )

  return {
    findKey: (dataset: number, scope: KeyScope, key: string) => find.get(dataset, scope, key),

    /**
     * Returns the newest in all environments of the asker's organization, without snapshots: the asker's own of several, with
     * the environment that has it and the home of its dataset.
     */
    findKeyInOrganization: (
      { id, organizationId }: { id: string; organizationId: string },
      key: string
    ) => findInOrganization.get(organizationId, key, id),

    insertKey: insertInto(db, idempotencyKeys),

    /** Deletes the keys that were created at this time or before. */
    deleteKeysUntil: (dataset: number, until: number): void => void removeUntil.run(dataset, until)
  }
}

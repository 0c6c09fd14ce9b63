import { and, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { KeyScope } from '../core/enums.js'
import { lazily } from '../core/lazily.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { environments, idempotencyKeys } from '../db/schema.js'

export type IdempotencyKeyRow = typeof idempotencyKeys.$inferSelect

export function idempotencyRepository(db: Db) {
  const { orm } = db
  const value = sql.placeholder
  const { dataset, scope, key, createdAt } = idempotencyKeys
  const isKey = and(eq(dataset, value('dataset')), eq(scope, value('scope')), eq(key, value('key')))

  const find = orm.select().from(idempotencyKeys).where(isKey).prepare()
  const removeUntil = orm
    .delete(idempotencyKeys)
    .where(and(eq(dataset, value('dataset')), lte(createdAt, value('until'))))
    .prepare()

  const findInOrganization = lazily(() =>
    orm
      .select({ row: idempotencyKeys })
      .from(environments)
      .innerJoin(idempotencyKeys, eq(dataset, environments.idempotency))
      .where(
        and(
          eq(environments.organizationId, value('organizationId')),
          isNull(environments.snapshotOf),
          eq(scope, 'organization'),
          eq(key, value('key'))
        )
      )
      .orderBy(desc(createdAt))
      .limit(1)
      .prepare()
  )

  return {
    findKey: (ofKey: { dataset: number; scope: KeyScope; key: string }): IdempotencyKeyRow | undefined =>
      find.get(ofKey),

    /** Returns the newest in all environments of the organization, without snapshots. */
    findKeyInOrganization: (organizationId: string, wanted: string): IdempotencyKeyRow | undefined =>
      findInOrganization().get({ organizationId, key: wanted })?.row,

    insertKey: insertInto(db, idempotencyKeys),

    /** Deletes the keys that were created at this time or before. */
    deleteKeysUntil: (inDataset: number, until: number): void => void removeUntil.run({ dataset: inDataset, until })
  }
}

import { and, asc, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { KeyScope } from '../core/enums.js'
import { lazily } from '../core/lazily.js'
import { insertInto } from '../db/insert.js'
import type { Db } from '../db/open.js'
import { datasets, environments, idempotencyKeys } from '../db/schema.js'

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
      .select({
        row: idempotencyKeys,
        owner: { id: environments.id, organizationId: environments.organizationId },
        home: { id: datasets.environmentId, organizationId: datasets.organizationId }
      })
      .from(environments)
      .innerJoin(idempotencyKeys, eq(dataset, environments.idempotency))
      .innerJoin(datasets, eq(datasets.key, dataset))
      .where(
        and(
          eq(environments.organizationId, value('organizationId')),
          isNull(environments.snapshotOf),
          eq(scope, 'organization'),
          eq(key, value('key'))
        )
      )
      // A fork has the answers of its origin until either stores one.
      .orderBy(desc(createdAt), desc(eq(environments.id, value('asker'))), asc(environments.key))
      .limit(1)
      .prepare()
  )

  return {
    findKey: (ofKey: { dataset: number; scope: KeyScope; key: string }): IdempotencyKeyRow | undefined =>
      find.get(ofKey),

    /**
     * Returns the newest in all environments of the asker's organization, without snapshots: the asker's own of several, with
     * the environment that has it and the home of its dataset.
     */
    findKeyInOrganization: ({ id, organizationId }: { id: string; organizationId: string }, wanted: string) =>
      findInOrganization().get({ asker: id, organizationId, key: wanted }),

    insertKey: insertInto(db, idempotencyKeys),

    /** Deletes the keys that were created at this time or before. */
    deleteKeysUntil: (inDataset: number, until: number): void => void removeUntil.run({ dataset: inDataset, until })
  }
}

import { and, desc, eq, isNull, lte, sql } from 'drizzle-orm'
import type { KeyScope } from '../core/enums.js'
import type { Db } from '../db/open.js'
import { environments, idempotencyKeys } from '../db/schema.js'

export type IdempotencyKeyRow = typeof idempotencyKeys.$inferSelect

export function idempotencyRepository({ orm }: Db) {
  const dataset = sql.placeholder('dataset')
  const key = sql.placeholder('key')
  const scope = sql.placeholder('scope')
  const ofKey = and(
    eq(idempotencyKeys.dataset, dataset),
    eq(idempotencyKeys.scope, scope),
    eq(idempotencyKeys.key, key)
  )

  const find = orm.select().from(idempotencyKeys).where(ofKey).prepare()
  const findInOrganization = orm
    .select({ row: idempotencyKeys })
    .from(environments)
    .innerJoin(idempotencyKeys, eq(idempotencyKeys.dataset, environments.idempotency))
    .where(
      and(
        eq(environments.organizationId, sql.placeholder('organizationId')),
        isNull(environments.snapshotOf),
        eq(idempotencyKeys.scope, 'organization'),
        eq(idempotencyKeys.key, key)
      )
    )
    .orderBy(desc(idempotencyKeys.createdAt))
    .limit(1)
    .prepare()
  const remove = orm.delete(idempotencyKeys).where(ofKey).prepare()
  const removeUntil = orm
    .delete(idempotencyKeys)
    .where(and(eq(idempotencyKeys.dataset, dataset), lte(idempotencyKeys.createdAt, sql.placeholder('until'))))
    .prepare()
  const insert = orm
    .insert(idempotencyKeys)
    .values({
      dataset,
      scope,
      key,
      fingerprint: sql.placeholder('fingerprint'),
      status: sql.placeholder('status'),
      body: sql.placeholder('body'),
      createdAt: sql.placeholder('createdAt')
    })
    .prepare()

  return {
    /** That of the environment itself. */
    findKey(ofKey: { dataset: number; key: string }): IdempotencyKeyRow | undefined {
      return find.get({ ...ofKey, scope: 'environment' satisfies KeyScope })
    },

    /** That of the organization, in any of its environments, snapshots apart; of several the newest. */
    findKeyInOrganization(ofKey: { organizationId: string; key: string }): IdempotencyKeyRow | undefined {
      return findInOrganization.get(ofKey)?.row
    },

    insertKey(row: IdempotencyKeyRow): void {
      insert.run(row)
    },

    deleteKey(ofKey: { dataset: number; scope: KeyScope; key: string }): void {
      remove.run(ofKey)
    },

    /** Deletes the keys that were made at this time or before. */
    deleteKeysUntil(inDataset: number, until: number): void {
      removeUntil.run({ dataset: inDataset, until })
    }
  }
}

import { and, eq, lte, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { idempotencyKeys } from '../db/schema.js'

export type IdempotencyKeyRow = typeof idempotencyKeys.$inferSelect

export function idempotencyRepository({ orm }: Db) {
  const scope = sql.placeholder('scope')
  const key = sql.placeholder('key')
  const ofScope = and(eq(idempotencyKeys.scope, scope), eq(idempotencyKeys.key, key))

  const find = orm.select().from(idempotencyKeys).where(ofScope).prepare()
  const remove = orm.delete(idempotencyKeys).where(ofScope).prepare()
  const removeUntil = orm
    .delete(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.environment, sql.placeholder('environment')),
        lte(idempotencyKeys.createdAt, sql.placeholder('until'))
      )
    )
    .prepare()
  const insert = orm
    .insert(idempotencyKeys)
    .values({
      scope,
      key,
      environment: sql.placeholder('environment'),
      fingerprint: sql.placeholder('fingerprint'),
      status: sql.placeholder('status'),
      body: sql.placeholder('body'),
      createdAt: sql.placeholder('createdAt')
    })
    .prepare()

  return {
    findKey(ofKey: { scope: string; key: string }): IdempotencyKeyRow | undefined {
      return find.get(ofKey)
    },

    insertKey(row: IdempotencyKeyRow): void {
      insert.run(row)
    },

    deleteKey(ofKey: { scope: string; key: string }): void {
      remove.run(ofKey)
    },

    /** Deletes an environment's keys that were made at this time or before. */
    deleteKeysUntil(environment: number, until: number): void {
      removeUntil.run({ environment, until })
    }
  }
}

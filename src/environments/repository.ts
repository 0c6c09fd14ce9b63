import { eq, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { apiKeys, environments } from '../db/schema.js'

export type EnvironmentRow = typeof environments.$inferSelect

export function environmentRepository({ orm }: Db) {
  const all = orm.select().from(environments).orderBy(environments.key).prepare()
  const byKeyHash = orm
    .select({ environment: environments })
    .from(apiKeys)
    .innerJoin(environments, eq(environments.key, apiKeys.environment))
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .prepare()

  return {
    /** In the order of their making. */
    listEnvironments(): EnvironmentRow[] {
      return all.all()
    },

    findByKeyHash(hash: Buffer): EnvironmentRow | undefined {
      return byKeyHash.get({ hash })?.environment
    }
  }
}

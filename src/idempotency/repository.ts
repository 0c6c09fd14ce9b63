import { and, desc, eq, getTableColumns, isNull, lte, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { preparedOnUse } from '../db/prepared-on-use.js'
import { datasets, environments, idempotencyKeys } from '../db/schema.js'
import type { KeyScope } from '../domain/enums.js'
import type { OwnerIds } from '../environments/repository.js'

export type StoredKey = typeof idempotencyKeys.$inferSelect

export interface OrganizationKey {
  key: StoredKey
  /** The id of an environment whose dataset contains the response. */
  environmentId: string
  /** The ids of the environment and the organization that appear in the stored body. */
  owner: OwnerIds
}

export class IdempotencyRepository {
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(db: Db) {
    this.#statements = prepareStatements(db)
  }

  find(dataset: number, scope: KeyScope, key: string): StoredKey | undefined {
    return this.#statements.find.get({ dataset, scope, key })
  }

  /**
   * Returns the newest response that is stored for a key in any environment of the organization.
   * Forks can share a response. In that case, `environmentId` is the id of the requesting
   * environment if it has the response, or else of the oldest environment that has it.
   */
  findInOrganization({ id, organizationId }: OwnerIds, key: string): OrganizationKey | undefined {
    return this.#statements.findInOrganization.get({ organizationId, environment: id, key })
  }

  insert(row: StoredKey): void {
    this.#statements.insert.run(row)
  }

  /** Deletes all keys that were stored at or before `time`. */
  deleteUntil(dataset: number, time: number): void {
    this.#statements.deleteUntil.run({ dataset, time })
  }
}

function prepareStatements({ orm }: Db) {
  const { placeholder } = sql
  const isInDataset = eq(idempotencyKeys.dataset, placeholder('dataset'))
  const hasKey = eq(idempotencyKeys.key, placeholder('key'))

  return preparedOnUse({
    find: () =>
      orm
        .select()
        .from(idempotencyKeys)
        .where(and(isInDataset, eq(idempotencyKeys.scope, placeholder('scope')), hasKey))
        .prepare(),
    findInOrganization: () =>
      orm
        .select({
          key: getTableColumns(idempotencyKeys),
          environmentId: environments.id,
          owner: { id: datasets.environmentId, organizationId: datasets.organizationId }
        })
        .from(environments)
        .innerJoin(idempotencyKeys, eq(idempotencyKeys.dataset, environments.idempotency))
        .innerJoin(datasets, eq(datasets.key, idempotencyKeys.dataset))
        .where(
          and(
            eq(environments.organizationId, placeholder('organizationId')),
            isNull(environments.snapshotOf),
            eq(idempotencyKeys.scope, 'organization'),
            hasKey
          )
        )
        .orderBy(
          desc(idempotencyKeys.createdAt),
          desc(eq(environments.id, placeholder('environment'))),
          environments.key
        )
        .limit(1)
        .prepare(),
    insert: () =>
      orm
        .insert(idempotencyKeys)
        .values({
          dataset: placeholder('dataset'),
          scope: placeholder('scope'),
          key: placeholder('key'),
          fingerprint: placeholder('fingerprint'),
          status: placeholder('status'),
          body: placeholder('body'),
          createdAt: placeholder('createdAt')
        })
        .prepare(),
    deleteUntil: () =>
      orm
        .delete(idempotencyKeys)
        .where(and(isInDataset, lte(idempotencyKeys.createdAt, placeholder('time'))))
        .prepare()
  })
}

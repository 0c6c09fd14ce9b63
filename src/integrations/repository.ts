import { and, eq, isNull, ne, not, or, sql } from 'drizzle-orm'
import type { Db } from '../db/open.js'
import { preparedOnUse } from '../db/prepared-on-use.js'
import { environments, integrations } from '../db/schema.js'
import type { Channel } from '../domain/enums.js'
import { MAX_CANDIDATES } from '../domain/suggestions.js'

/** The columns that the set-primary operation reads before it changes an integration. */
export type StoredIntegration = Pick<
  typeof integrations.$inferSelect,
  'id' | 'channel' | 'primary' | 'deleted' | 'document'
>

interface ForeignIntegration {
  /** The dataset of the requesting environment. The search skips this dataset. */
  dataset: number
  organizationId: string
  id: string
  /** Undefined if the search uses only the `_id`. */
  identifier: string | undefined
}

export class IntegrationRepository {
  readonly #statements: ReturnType<typeof prepareStatements>

  constructor(db: Db) {
    this.#statements = prepareStatements(db)
  }

  findById(dataset: number, id: string): StoredIntegration | undefined {
    return this.#statements.findById.get({ dataset, id })
  }

  findByIdentifier(dataset: number, identifier: string): StoredIntegration | undefined {
    return this.#statements.findByIdentifier.get({ dataset, identifier })
  }

  /** Returns the identifiers of up to 200 integrations. Omits soft-deleted integrations. */
  listIdentifiers(dataset: number): string[] {
    return this.#statements.listIdentifiers.all({ dataset }).map(({ identifier }) => identifier)
  }

  /**
   * Searches the other environments of the organization for the integration. Returns the name of an
   * environment that has it.
   */
  findOtherOwner({ identifier, ...values }: ForeignIntegration): string | undefined {
    return this.#statements.findOtherOwner.get({ ...values, identifier: identifier ?? null })?.name
  }

  /**
   * Makes all primary integrations of the channel non-primary, including soft-deleted ones. Returns
   * the changed integrations.
   */
  demotePrimaries(dataset: number, channel: Channel): { id: string; document: string }[] {
    return this.#statements.demotePrimaries.all({ dataset, channel })
  }

  /**
   * Makes an integration primary and active and removes its conditions. Returns the new document.
   */
  promote(dataset: number, id: string): string {
    const promoted = this.#statements.promote.get({ dataset, id })
    if (!promoted) throw new Error(`dataset ${dataset} has no integration ${id}`)
    return promoted.document
  }
}

function prepareStatements({ orm }: Db) {
  const { placeholder } = sql
  const { dataset, id, identifier, channel, primary, deleted, document } = integrations
  const isInDataset = eq(dataset, placeholder('dataset'))
  const hasId = eq(id, placeholder('id'))
  // `NULL` never equals anything, so if the parameter is null, no identifier matches.
  const hasIdentifier = eq(identifier, placeholder('identifier'))
  // Compare with a literal. If a bound value were compared with the column of a partial index,
  // SQLite would compile the statement again on every run.
  const isPrimary = sql`${primary} = 1`
  const stored = { id, channel, primary, deleted, document }

  return preparedOnUse({
    findById: () => orm.select(stored).from(integrations).where(and(isInDataset, hasId)).prepare(),
    findByIdentifier: () =>
      orm.select(stored).from(integrations).where(and(isInDataset, hasIdentifier)).prepare(),
    listIdentifiers: () =>
      orm
        .select({ identifier })
        .from(integrations)
        .where(and(isInDataset, not(deleted)))
        .limit(MAX_CANDIDATES)
        .prepare(),
    findOtherOwner: () =>
      orm
        .select({ name: environments.name })
        .from(environments)
        .innerJoin(integrations, eq(dataset, environments.integrations))
        .where(
          and(
            eq(environments.organizationId, placeholder('organizationId')),
            isNull(environments.snapshotOf),
            ne(dataset, placeholder('dataset')),
            not(deleted),
            or(hasId, hasIdentifier)
          )
        )
        .limit(1)
        .prepare(),
    // `json_set` leaves all other bytes of the document unchanged.
    demotePrimaries: () =>
      orm
        .update(integrations)
        .set({
          primary: false,
          document: sql`json_set(${document}, '$.primary', json('false'))`
        })
        .where(and(isInDataset, eq(channel, placeholder('channel')), isPrimary))
        .returning({ id, document })
        .prepare(),
    promote: () =>
      orm
        .update(integrations)
        .set({
          active: true,
          primary: true,
          document: sql`json_set(${document},
          '$.active', json('true'), '$.primary', json('true'), '$.conditions', json('[]'))`
        })
        .where(and(isInDataset, hasId))
        .returning({ document })
        .prepare()
  })
}

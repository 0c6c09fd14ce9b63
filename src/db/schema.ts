import { sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import {
  blob,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex
} from 'drizzle-orm/sqlite-core'
import { PROFILES } from '../domain/assumptions.js'
import type { ClockSetting } from '../domain/clock.js'
import { CHANNELS, DATASET_KINDS, type DatasetKind, KEY_SCOPES } from '../domain/enums.js'

/**
 * Holds the records of one kind. Snapshots and forks share a dataset until one of them writes to it
 * and gets a copy.
 */
export const datasets = sqliteTable('datasets', {
  key: integer('key').primaryKey({ autoIncrement: true }),
  /**
   * The two ids that the documents of the dataset carry. Workflow documents carry none, so their
   * datasets fit any environment.
   */
  environmentId: text('environment_id').notNull().default(''),
  organizationId: text('organization_id').notNull().default('')
})

const requiredInteger = (name: string) => integer(name).notNull()
const datasetKey = (name: string, actions?: { onDelete: 'cascade' }) =>
  requiredInteger(name).references(() => datasets.key, actions)

/** Holds the environments and their snapshots. A snapshot is an environment without an API key. */
export const environments = sqliteTable(
  'environments',
  {
    key: integer('key').primaryKey({ autoIncrement: true }),
    /** The 24 hex digits in requests and responses. */
    id: text('id').notNull(),
    organizationId: text('organization_id').notNull(),
    name: text('name').notNull(),
    /** Null: the environment uses the server's profile (`--profile`). */
    profile: text('profile', { enum: PROFILES }),
    /** Assumption id -> value. Overrides the profile. */
    assumptions: text('assumptions', { mode: 'json' }).$type<Record<string, string>>().notNull(),
    clock: text('clock', { mode: 'json' }).$type<ClockSetting>().notNull(),
    /** Null: the random numbers are unpredictable. */
    randomSeed: integer('random_seed'),
    integrations: datasetKey('integrations'),
    subscribers: datasetKey('subscribers'),
    workflows: datasetKey('workflows'),
    messages: datasetKey('messages'),
    idempotency: datasetKey('idempotency'),
    /** Set for snapshots: the environment that was captured. */
    snapshotOf: integer('snapshot_of').references((): AnySQLiteColumn => environments.key, {
      onDelete: 'cascade'
    }),
    /** Set for snapshots; empty for the baseline, which a reset restores. */
    snapshotName: text('snapshot_name'),
    /** Milliseconds from the last use to the removal. Null: the environment stays. */
    ttl: integer('ttl'),
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    uniqueIndex('environments_id').on(table.id).where(sql`${table.snapshotOf} IS NULL`),
    // Not unique: a seed may use the same name in several organizations.
    index('environments_name').on(table.name).where(sql`${table.snapshotOf} IS NULL`),
    uniqueIndex('environments_snapshot').on(table.snapshotOf, table.snapshotName),
    // Each write checks whether its dataset is shared.
    ...DATASET_KINDS.map((name) => index(`environments_${name}`).on(table[name]))
  ]
)

/** Maps the SHA-256 of an API key to its environment. The key itself is never stored. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    hash: blob('hash', { mode: 'buffer' }).primaryKey(),
    environment: requiredInteger('environment').references(() => environments.key, {
      onDelete: 'cascade'
    })
  },
  (table) => [index('api_keys_environment').on(table.environment)]
)

/**
 * Returns the columns of every record. `document` is the JSON that the client receives; other
 * columns are searched or changed.
 */
const record = () => ({
  dataset: datasetKey('dataset', { onDelete: 'cascade' }),
  id: text('id').notNull(),
  document: text('document').notNull()
})

export const integrations = sqliteTable(
  'integrations',
  {
    ...record(),
    identifier: text('identifier').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    active: integer('active', { mode: 'boolean' }).notNull(),
    primary: integer('is_primary', { mode: 'boolean' }).notNull(),
    deleted: integer('deleted', { mode: 'boolean' }).notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('integrations_identifier').on(table.dataset, table.identifier),
    // The service maintains this rule; the database rejects a second primary.
    uniqueIndex('integrations_one_primary_per_channel')
      .on(table.dataset, table.channel)
      .where(sql`${table.primary} = 1 AND ${table.deleted} = 0`),
    // A set-primary demotes soft-deleted integrations too.
    index('integrations_primary').on(table.dataset, table.channel).where(sql`${table.primary} = 1`),
    // A set-primary looks for an unknown id in the organization's other environments.
    index('integrations_id').on(table.id)
  ]
)

export const subscribers = sqliteTable(
  'subscribers',
  { ...record(), subscriberId: text('subscriber_id').notNull() },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('subscribers_subscriber_id').on(table.dataset, table.subscriberId)
  ]
)

/**
 * Holds the workflows. No operation returns one: the document is the seed's workflow without its
 * steps.
 */
export const workflows = sqliteTable(
  'workflows',
  { ...record(), identifier: text('identifier').notNull() },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('workflows_identifier').on(table.dataset, table.identifier)
  ]
)

export const workflowSteps = sqliteTable(
  'workflow_steps',
  {
    ...record(),
    workflowId: text('workflow_id').notNull(),
    stepId: text('step_id').notNull(),
    /** Index among the steps of the dataset. */
    position: integer('position').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('workflow_steps_step_id').on(table.dataset, table.workflowId, table.stepId)
  ]
)

/** Holds the messages. `sequence` is only the row id. */
// The list is ordered by (created_at, id), so each filter's index continues with these two: a page
// is read from it in order. The columns after them let one index serve several filters at once.
export const messages = sqliteTable(
  'messages',
  {
    sequence: integer('sequence').primaryKey(),
    ...record(),
    /** Milliseconds since 1970, the document's `createdAt`. */
    createdAt: integer('created_at').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    /**
     * The external id, as in SubscriberResponse.subscriberId. Null: the message embeds no
     * subscriber.
     */
    subscriberId: text('subscriber_id'),
    transactionId: text('transaction_id').notNull(),
    /** The document's context keys in canonical form, see `canonicalContext`. */
    context: text('context').notNull()
  },
  ({ dataset, id, createdAt, channel, subscriberId, transactionId, context }) => [
    uniqueIndex('messages_id').on(dataset, id),
    // SQLite appends the row id, so copies and exports read in insertion order.
    index('messages_dataset').on(dataset),
    // Holds the columns of all filters: a filter on several transactions reads it in order if it
    // matches most messages.
    index('messages_created').on(
      dataset,
      createdAt,
      id,
      channel,
      subscriberId,
      transactionId,
      context
    ),
    index('messages_channel').on(dataset, channel, createdAt, id),
    index('messages_subscriber').on(dataset, subscriberId, createdAt, id, channel, context),
    index('messages_transaction').on(
      dataset,
      transactionId,
      createdAt,
      id,
      channel,
      subscriberId,
      context
    ),
    index('messages_context').on(dataset, context, createdAt, id, channel, subscriberId)
  ]
)

/**
 * Holds the stored responses. Assumption `idempotency-match` decides whether a key belongs to the
 * environment or the organization.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    dataset: datasetKey('dataset', { onDelete: 'cascade' }),
    scope: text('scope', { enum: KEY_SCOPES }).notNull(),
    key: text('key').notNull(),
    /** SHA-256 of the request parts that must match when the key is repeated. */
    fingerprint: blob('fingerprint', { mode: 'buffer' }).notNull(),
    status: integer('status').notNull(),
    body: blob('body', { mode: 'buffer' }).notNull(),
    /** Milliseconds since 1970, by the environment's clock. */
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.scope, table.key] }),
    index('idempotency_keys_created').on(table.dataset, table.createdAt)
  ]
)

/** Lists the tables of each kind of dataset. */
export const DATASET_TABLES = {
  integrations: [integrations],
  subscribers: [subscribers],
  workflows: [workflows, workflowSteps],
  messages: [messages],
  idempotency: [idempotencyKeys]
} as const satisfies Record<DatasetKind, readonly SQLiteTable[]>

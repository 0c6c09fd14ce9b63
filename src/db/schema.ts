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
import type { Stub } from '../domain/stub.js'

/**
 * A dataset groups the records of one kind. An environment, its snapshots and its forks can share a
 * dataset. An environment that is about to write to a shared dataset gets its own copy first.
 */
export const datasets = sqliteTable('datasets', {
  key: integer('key').primaryKey({ autoIncrement: true }),
  /**
   * The environment id and organization id in the dataset's documents. Documents of workflows
   * contain neither id, so their datasets have two empty strings here, and any environment can
   * share them.
   */
  environmentId: text('environment_id').notNull().default(''),
  organizationId: text('organization_id').notNull().default('')
})

const requiredInteger = (name: string) => integer(name).notNull()
const datasetKey = (name: string, actions?: { onDelete: 'cascade' }) =>
  requiredInteger(name).references(() => datasets.key, actions)

/** Contains environments and their snapshots. A snapshot is an environment without an API key. */
export const environments = sqliteTable(
  'environments',
  {
    key: integer('key').primaryKey({ autoIncrement: true }),
    /** The id that clients see: 24 hex digits. */
    id: text('id').notNull(),
    organizationId: text('organization_id').notNull(),
    name: text('name').notNull(),
    /** If null, the environment uses the server's profile (`--profile`). */
    profile: text('profile', { enum: PROFILES }),
    /** Values that override the profile, keyed by assumption id. */
    assumptions: text('assumptions', { mode: 'json' }).$type<Record<string, string>>().notNull(),
    clock: text('clock', { mode: 'json' }).$type<ClockSetting>().notNull(),
    /** If null, random values differ in every run. */
    randomSeed: integer('random_seed'),
    stubs: text('stubs', { mode: 'json' }).$type<Stub[]>().notNull().default([]),
    integrations: datasetKey('integrations'),
    subscribers: datasetKey('subscribers'),
    workflows: datasetKey('workflows'),
    messages: datasetKey('messages'),
    idempotency: datasetKey('idempotency'),
    /** Only set for snapshots: the environment that was captured. */
    snapshotOf: integer('snapshot_of').references((): AnySQLiteColumn => environments.key, {
      onDelete: 'cascade'
    }),
    /** Only set for snapshots. The baseline, which a reset restores, has an empty name. */
    snapshotName: text('snapshot_name'),
    /**
     * The environment is removed if nothing uses it for this many milliseconds. If null, it never
     * expires.
     */
    ttl: integer('ttl'),
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    uniqueIndex('environments_id').on(table.id).where(sql`${table.snapshotOf} IS NULL`),
    // This index isn't unique, because environments of different organizations may have the same
    // name.
    index('environments_name').on(table.name).where(sql`${table.snapshotOf} IS NULL`),
    uniqueIndex('environments_snapshot').on(table.snapshotOf, table.snapshotName),
    // Before each write, the server checks whether the dataset is shared. These indexes speed up
    // that check.
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
 * Returns the columns that all record tables have. `document` is the JSON that clients receive. The
 * other columns of a table contain the values that statements filter by, sort by or update.
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
    // The service ensures that a channel has at most one primary integration. This index is a
    // safeguard.
    uniqueIndex('integrations_one_primary_per_channel')
      .on(table.dataset, table.channel)
      .where(sql`${table.primary} = 1 AND ${table.deleted} = 0`),
    // This index includes soft-deleted integrations, because the set-primary operation also demotes
    // them.
    index('integrations_primary').on(table.dataset, table.channel).where(sql`${table.primary} = 1`),
    // The set-primary operation uses this index to look for an unknown id in the organization's
    // other environments.
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

/** `document` is the seed's workflow without its steps. The mocked operations never return it. */
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
    /** The step's index among all steps of the dataset. */
    position: integer('position').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('workflow_steps_step_id').on(table.dataset, table.workflowId, table.stepId)
  ]
)

/** `sequence` is SQLite's row id. It is only used to order messages by insertion. */
// The message list is ordered by (created_at, id). In each filter's index, these two columns follow
// the filter's column, so that SQLite can read a page without sorting. The columns after `id` let
// SQLite check further filters without reading the table.
export const messages = sqliteTable(
  'messages',
  {
    sequence: integer('sequence').primaryKey(),
    ...record(),
    /** The document's `createdAt` in milliseconds since 1970. */
    createdAt: integer('created_at').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    /**
     * The id from the application, as in `SubscriberResponse.subscriberId`. Null if the message has
     * no subscriber.
     */
    subscriberId: text('subscriber_id'),
    transactionId: text('transaction_id').notNull(),
    /** The document's context keys in the form that `canonicalContext` returns. */
    context: text('context').notNull()
  },
  ({ dataset, id, createdAt, channel, subscriberId, transactionId, context }) => [
    uniqueIndex('messages_id').on(dataset, id),
    // Copies and exports read messages through this index. They get the messages in insertion
    // order, because SQLite appends the row id to each index entry.
    index('messages_dataset').on(dataset),
    // This index contains the columns of all filters. SQLite uses it if a query lists several
    // transaction ids that together match most messages.
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
 * Contains the responses stored for idempotency keys. The assumption `idempotency-match` decides
 * whether a key belongs to the environment or the organization.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    dataset: datasetKey('dataset', { onDelete: 'cascade' }),
    scope: text('scope', { enum: KEY_SCOPES }).notNull(),
    key: text('key').notNull(),
    /** The SHA-256 of the request parts that must be equal when the key is repeated. */
    fingerprint: blob('fingerprint', { mode: 'buffer' }).notNull(),
    status: integer('status').notNull(),
    body: blob('body', { mode: 'buffer' }).notNull(),
    /** Milliseconds since 1970 on the environment's clock. */
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.scope, table.key] }),
    index('idempotency_keys_created').on(table.dataset, table.createdAt)
  ]
)

/** For each kind of dataset, the tables that contain its rows. */
export const DATASET_TABLES = {
  integrations: [integrations],
  subscribers: [subscribers],
  workflows: [workflows, workflowSteps],
  messages: [messages],
  idempotency: [idempotencyKeys]
} as const satisfies Record<DatasetKind, readonly SQLiteTable[]>

import { sql } from 'drizzle-orm'
import {
  type AnySQLiteColumn,
  blob,
  index,
  integer,
  primaryKey,
  type SQLiteTable,
  sqliteTable,
  text,
  uniqueIndex
} from 'drizzle-orm/sqlite-core'
import { PROFILES } from '../core/assumptions.js'
import type { ClockSetting } from '../core/clock.js'
import { CHANNELS, DATASET_KINDS, type DatasetKind, KEY_SCOPES } from '../core/enums.js'

/**
 * One part of a world: its integrations, or its messages. All rows of the tables below hang on one.
 *
 * An environment and the snapshots of it share a dataset until one of them changes it; then the one that changes
 * gets a copy of its own. A dataset that nobody refers to is deleted, with its rows.
 */
export const datasets = sqliteTable('datasets', {
  key: integer('key').primaryKey({ autoIncrement: true })
})

const part = (name: DatasetKind) =>
  integer(name)
    .notNull()
    .references(() => datasets.key)

/**
 * An environment is a world: nothing refers across two of them. A snapshot is an environment without a key.
 *
 * `key` is our own small number for it; `id` is the 24 hex digits of the wire.
 */
export const environments = sqliteTable(
  'environments',
  {
    key: integer('key').primaryKey({ autoIncrement: true }),
    id: text('id').notNull(),
    organizationId: text('organization_id').notNull(),
    name: text('name').notNull(),
    /** Null: the server's own profile (`--profile`). */
    profile: text('profile', { enum: PROFILES }),
    /** Assumption id -> value, over those of the profile. */
    assumptions: text('assumptions', { mode: 'json' }).$type<Record<string, string>>().notNull(),
    clock: text('clock', { mode: 'json' }).$type<ClockSetting>().notNull(),
    /** What its chance is made from; null: unforeseeable. */
    randomSeed: integer('random_seed'),
    integrations: part('integrations'),
    subscribers: part('subscribers'),
    workflows: part('workflows'),
    messages: part('messages'),
    idempotency: part('idempotency'),
    /** Of a snapshot: the environment it is of. */
    snapshotOf: integer('snapshot_of').references((): AnySQLiteColumn => environments.key, { onDelete: 'cascade' }),
    /** Of a snapshot: its name; empty for the baseline, which a reset goes back to. */
    snapshotName: text('snapshot_name'),
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    uniqueIndex('environments_id').on(table.id).where(sql`${table.snapshotOf} IS NULL`),
    uniqueIndex('environments_snapshot').on(table.snapshotOf, table.snapshotName),
    // Whether a dataset is shared is asked at each write.
    ...DATASET_KINDS.map((name) => index(`environments_${name}`).on(table[name]))
  ]
)

const dataset = () =>
  integer('dataset')
    .notNull()
    .references(() => datasets.key, { onDelete: 'cascade' })

/** SHA-256 of an API key -> its environment. The key itself is never stored. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    hash: blob('hash', { mode: 'buffer' }).primaryKey(),
    environment: integer('environment')
      .notNull()
      .references(() => environments.key, { onDelete: 'cascade' })
  },
  (table) => [index('api_keys_environment').on(table.environment)]
)

/** In all tables below, `document` is the JSON the client gets; the other columns are what is searched or changed. */
export const integrations = sqliteTable(
  'integrations',
  {
    dataset: dataset(),
    id: text('id').notNull(),
    identifier: text('identifier').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    active: integer('active', { mode: 'boolean' }).notNull(),
    primary: integer('is_primary', { mode: 'boolean' }).notNull(),
    deleted: integer('deleted', { mode: 'boolean' }).notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('integrations_identifier').on(table.dataset, table.identifier),
    // The rule of the house, kept by the database as well as by the service.
    uniqueIndex('integrations_one_primary_per_channel')
      .on(table.dataset, table.channel)
      .where(sql`${table.primary} = 1 AND ${table.deleted} = 0`),
    // Whoever is primary steps down, soft-deleted or not.
    index('integrations_primary').on(table.dataset, table.channel).where(sql`${table.primary} = 1`),
    // A set-primary looks across the environments of an organisation to tell a foreign integration from an unknown one.
    index('integrations_id').on(table.id)
  ]
)

export const subscribers = sqliteTable(
  'subscribers',
  {
    dataset: dataset(),
    id: text('id').notNull(),
    subscriberId: text('subscriber_id').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('subscribers_subscriber_id').on(table.dataset, table.subscriberId)
  ]
)

/** No operation answers with a workflow; its document holds what a seed says of it, steps apart. */
export const workflows = sqliteTable(
  'workflows',
  {
    dataset: dataset(),
    id: text('id').notNull(),
    identifier: text('identifier').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('workflows_identifier').on(table.dataset, table.identifier)
  ]
)

export const workflowSteps = sqliteTable(
  'workflow_steps',
  {
    dataset: dataset(),
    id: text('id').notNull(),
    workflowId: text('workflow_id').notNull(),
    stepId: text('step_id').notNull(),
    /** Place in the workflow, from 0. */
    position: integer('position').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.dataset, table.id] }),
    uniqueIndex('workflow_steps_step_id').on(table.dataset, table.workflowId, table.stepId)
  ]
)

/**
 * `sequence` is only the row's address. Order on the wire is (created_at, id), both descending, so each filter's
 * index goes on with these two: a page is then read off the index in order, whatever is filtered. What follows them is for
 * several filters at once: their messages are then found without looking at any other.
 */
export const messages = sqliteTable(
  'messages',
  {
    sequence: integer('sequence').primaryKey(),
    dataset: dataset(),
    id: text('id').notNull(),
    /** Milliseconds since 1970, the document's `createdAt`. */
    createdAt: integer('created_at').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    /** The external id, as in SubscriberResponse.subscriberId. Null: the message has no subscriber embedded. */
    subscriberId: text('subscriber_id'),
    transactionId: text('transaction_id').notNull(),
    /** The document's context keys in canonical form, see `canonicalContext`. */
    context: text('context').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    uniqueIndex('messages_id').on(table.dataset, table.id),
    index('messages_created').on(table.dataset, table.createdAt, table.id),
    index('messages_channel').on(table.dataset, table.channel, table.createdAt, table.id),
    index('messages_subscriber').on(
      table.dataset,
      table.subscriberId,
      table.createdAt,
      table.id,
      table.channel,
      table.context
    ),
    index('messages_transaction').on(
      table.dataset,
      table.transactionId,
      table.createdAt,
      table.id,
      table.channel,
      table.subscriberId,
      table.context
    ),
    index('messages_context').on(
      table.dataset,
      table.context,
      table.createdAt,
      table.id,
      table.channel,
      table.subscriberId
    )
  ]
)

/** Stored answers. Whom a key belongs to, the environment or its organization, is `idempotency-match`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    dataset: dataset(),
    /** Whose the key is. */
    scope: text('scope', { enum: KEY_SCOPES }).notNull(),
    key: text('key').notNull(),
    /** SHA-256 of what has to be the same when the key comes again. */
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

/** The tables that hold each part's rows. */
export const DATASET_TABLES = {
  integrations: [integrations],
  subscribers: [subscribers],
  workflows: [workflows, workflowSteps],
  messages: [messages],
  idempotency: [idempotencyKeys]
} as const satisfies Record<DatasetKind, readonly SQLiteTable[]>

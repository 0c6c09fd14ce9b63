import { sql } from 'drizzle-orm'
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { CHANNELS } from '../vocabulary.js'

/**
 * An environment is a world: every other table hangs on `environments.key`, and nothing refers across two of them.
 *
 * `key` is our own small number for it, repeated in every row and index; `id` is the 24 hex digits of the wire.
 */
export const environments = sqliteTable(
  'environments',
  {
    key: integer('key').primaryKey({ autoIncrement: true }),
    id: text('id').notNull(),
    organizationId: text('organization_id').notNull(),
    name: text('name').notNull(),
    /** Null: the server's own profile (`--profile`). */
    profile: text('profile'),
    /** Assumption id -> value, over those of the profile. */
    assumptions: text('assumptions', { mode: 'json' }).$type<Record<string, string>>().notNull(),
    createdAt: integer('created_at').notNull()
  },
  (table) => [uniqueIndex('environments_id').on(table.id)]
)

const environment = () =>
  integer('environment')
    .notNull()
    .references(() => environments.key, { onDelete: 'cascade' })

/** SHA-256 of an API key -> its environment. The key itself is never stored. */
export const apiKeys = sqliteTable(
  'api_keys',
  {
    hash: blob('hash', { mode: 'buffer' }).primaryKey(),
    environment: environment()
  },
  (table) => [index('api_keys_environment').on(table.environment)]
)

/** In all tables below, `document` is the JSON the client gets; the other columns are what is searched or changed. */
export const integrations = sqliteTable(
  'integrations',
  {
    environment: environment(),
    id: text('id').notNull(),
    identifier: text('identifier').notNull(),
    channel: text('channel', { enum: CHANNELS }).notNull(),
    active: integer('active', { mode: 'boolean' }).notNull(),
    primary: integer('is_primary', { mode: 'boolean' }).notNull(),
    deleted: integer('deleted', { mode: 'boolean' }).notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.environment, table.id] }),
    uniqueIndex('integrations_identifier').on(table.environment, table.identifier),
    // The rule of the house, kept by the database as well as by the service.
    uniqueIndex('integrations_one_primary_per_channel')
      .on(table.environment, table.channel)
      .where(sql`${table.primary} = 1 AND ${table.deleted} = 0`),
    // A set-primary looks across the environments of an organisation to tell a foreign integration from an unknown one.
    index('integrations_id').on(table.id)
  ]
)

export const subscribers = sqliteTable(
  'subscribers',
  {
    environment: environment(),
    id: text('id').notNull(),
    subscriberId: text('subscriber_id').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.environment, table.id] }),
    uniqueIndex('subscribers_subscriber_id').on(table.environment, table.subscriberId)
  ]
)

/** No operation answers with a workflow; its document holds what a seed says of it, steps apart. */
export const workflows = sqliteTable(
  'workflows',
  {
    environment: environment(),
    id: text('id').notNull(),
    identifier: text('identifier').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.environment, table.id] }),
    uniqueIndex('workflows_identifier').on(table.environment, table.identifier)
  ]
)

export const workflowSteps = sqliteTable(
  'workflow_steps',
  {
    environment: environment(),
    id: text('id').notNull(),
    workflowId: text('workflow_id').notNull(),
    stepId: text('step_id').notNull(),
    /** Place in the workflow, from 0. */
    position: integer('position').notNull(),
    document: text('document').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.environment, table.id] }),
    uniqueIndex('workflow_steps_step_id').on(table.environment, table.workflowId, table.stepId)
  ]
)

/**
 * `sequence` is only the row's address. Order on the wire is (created_at, id), both descending, so each filter's
 * index ends in these two: a page is then read off the index in order, whatever is filtered.
 */
export const messages = sqliteTable(
  'messages',
  {
    sequence: integer('sequence').primaryKey(),
    environment: environment(),
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
    uniqueIndex('messages_id').on(table.environment, table.id),
    index('messages_created').on(table.environment, table.createdAt, table.id),
    index('messages_channel').on(table.environment, table.channel, table.createdAt, table.id),
    index('messages_subscriber').on(table.environment, table.subscriberId, table.createdAt, table.id, table.channel),
    index('messages_transaction').on(table.environment, table.transactionId, table.createdAt, table.id),
    index('messages_context').on(table.environment, table.context, table.createdAt, table.id, table.channel)
  ]
)

/** Stored answers. `scope` is the environment or the organisation that the key belongs to, see `idempotency-match`. */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    environment: environment(),
    /** SHA-256 of what has to be the same when the key comes again. */
    fingerprint: blob('fingerprint', { mode: 'buffer' }).notNull(),
    status: integer('status').notNull(),
    body: blob('body', { mode: 'buffer' }).notNull(),
    /** Milliseconds since 1970, by the environment's clock. */
    createdAt: integer('created_at').notNull()
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index('idempotency_keys_created').on(table.environment, table.createdAt)
  ]
)

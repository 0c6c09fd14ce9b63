import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { mock, start } from './servers.js'

/**
 * Use more integrations than connections, because concurrent requests overtake each other. With
 * only two integrations, one request in seven would name the integration that is already primary,
 * and change nothing.
 */
const INTEGRATIONS = Array.from({ length: 200 }, (_, index) => `mail-${index}`)

/** The environment and the requests of all benchmarks. */
export const BENCH = {
  environment: 'Bench',
  apiKey: 'bench-key',
  /** The response to a request for this step is about 10 KB long. */
  step: '/v2/workflows/order-shipped/steps/email-step',
  /** When sent in this order, every request changes the primary integration. */
  setPrimary: INTEGRATIONS.map((name) => `/v1/integrations/${name}/set-primary`) as [
    string,
    ...string[]
  ],
  list: '/v1/messages?limit=10'
} as const

/**
 * A "hot" or "broadcast" value matches a fixed share of the messages. A "rare" value always matches
 * exactly ten messages.
 */
export const FILTERS = {
  channel: 'channel=push',
  'subscriber, hot': 'subscriberId=hot',
  'subscriber, rare': 'subscriberId=rare',
  'transaction, broadcast': 'transactionId=broadcast',
  'transaction, rare': 'transactionId=rare',
  'context, hot': 'contextKeys=tenant:hot',
  'context, rare': 'contextKeys=tenant:rare'
} as const

const folder = mkdtempSync(join(tmpdir(), 'notification-mock-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Returns a path in a folder that is deleted when the benchmark ends. */
export function tempPath(name: string): string {
  return join(folder, name)
}

const dataFiles = new Map<number, Promise<string>>()

/**
 * Returns the path of a data file with this many messages (at least 100) of about 1.5 KB each. The
 * file is created only once, and its content is always the same. A million messages take 2.4 GB.
 */
export function createDataFile(messages: number): Promise<string> {
  const existing = dataFiles.get(messages)
  if (existing) return existing
  const file = writeDataFile(messages)
  dataFiles.set(messages, file)
  return file
}

/** Returns the path of a seed file with the benchmark's environment and 100 messages. */
export function createSeedFile(): string {
  const file = tempPath('seed.json')
  writeFileSync(file, JSON.stringify(createSeed(TEMPLATES)))
  return file
}

async function writeDataFile(messages: number): Promise<string> {
  const file = tempPath(`${messages}.db`)
  const server = await start(mock(['--data', file, '--seed', createSeedFile()], BENCH.apiKey))
  await server.stop()
  addMessages(file, messages - TEMPLATES)
  return file
}

const TEMPLATES = 100
const NEWEST = Date.UTC(2026, 0, 1)
const CHANNELS = ['in_app', 'email', 'sms', 'chat', 'push']

/** Returns a seed of the benchmark's environment. Each message has about 1.5 KB of JSON. */
export function createSeed(
  messages: number,
  integrations = INTEGRATIONS.length,
  subscriberCount = 20
): object {
  const subscribers = Array.from({ length: subscriberCount }, (_, index) => ({
    subscriberId: `user-${index}`,
    firstName: 'Ada',
    lastName: `Byron ${index}`,
    email: `ada-${index}@example.com`,
    phone: '+447700900142',
    locale: 'en-GB',
    timezone: 'Europe/London',
    data: { plan: 'business', company: 'Acme Ltd' }
  }))
  const paragraph = 'Your order has left our warehouse and is on its way to you. '
  return {
    environments: [
      {
        name: BENCH.environment,
        apiKeys: [BENCH.apiKey],
        integrations: INTEGRATIONS.slice(0, integrations).map((identifier, index) => ({
          identifier,
          name: identifier,
          providerId: 'sendgrid',
          channel: 'email',
          active: true,
          primary: index === 0,
          credentials: { apiKey: 'SG.demo', from: 'orders@example.com', senderName: 'Orders' }
        })),
        subscribers,
        workflows: [
          {
            identifier: 'order-shipped',
            name: 'Order shipped',
            steps: [
              {
                stepId: 'email-step',
                type: 'email',
                controlValues: {
                  subject: 'Your order {{payload.order}}',
                  body: paragraph.repeat(122)
                }
              }
            ]
          }
        ],
        messages: Array.from({ length: messages }, (_, index) => ({
          channel: CHANNELS[index % CHANNELS.length],
          subscriberId: `user-${index % subscribers.length}`,
          workflow: 'order-shipped',
          transactionId: `first-${index}`,
          createdAt: new Date(NEWEST - index * 60_000).toISOString(),
          subject: `Order ${index} has been shipped`,
          content: paragraph.repeat(7),
          email: 'ada@example.com',
          payload: { order: `4711-${index}`, total: 49.9, currency: 'EUR' },
          contextKeys: ['tenant:acme']
        }))
      }
    ]
  }
}

/** Returns a seed that contains the benchmark's environment and generates this many messages. */
export function createGeneratingSeed(messages: number): object {
  const { environments } = createSeed(0) as { environments: object[] }
  return {
    environments: environments.map((environment) => ({
      ...environment,
      generate: { messages, randomSeed: 7 }
    }))
  }
}

/**
 * Adds older copies of the messages that the data file contains. SQLite makes the copies, because
 * reading a seed of a million messages would take longer than all measurements. Copies all columns
 * except `GENERATED_COLUMNS`, which get new values.
 */
function addMessages(file: string, count: number): void {
  const client = new Database(file)
  client.pragma('journal_mode = MEMORY')
  client.pragma('synchronous = OFF')
  client.pragma('cache_size = -262144')
  const columns = client.pragma('table_info(messages)') as { name: string }[]
  const copiedColumns = columns
    .map(({ name }) => name)
    .filter((name) => !GENERATED_COLUMNS.includes(name))
    .join()
  // Returns SQL for a pseudorandom number from 0 to 99, based on the upper bits of a hash.
  const random = (salt: number) =>
    `(((n + ${salt * 7919}) * 2654435761) % 4294967296) / 65536 % 100`
  const oneOfTen = (remainder: number) => `n % max(10, ${count} / 10) = ${remainder}`
  client.exec(`
    CREATE TEMP TABLE templates AS SELECT row_number() OVER (ORDER BY id) - 1 AS number, * FROM messages;
    CREATE UNIQUE INDEX temp.templates_number ON templates (number);
    WITH RECURSIVE
      numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count}),
      rows AS (
        SELECT n,
          printf('%08x%016x', 0x60000000 + n, n * 2654435761) AS new_id,
          1600000000000 + n * 10000 AS at,
          CASE WHEN ${oneOfTen(3)} THEN 'rare' WHEN ${random(1)} < 30 THEN 'hot'
            ELSE 'subscriber-' || (n % max(1, ${count} / 14)) END AS subscriber,
          CASE WHEN ${oneOfTen(5)} THEN 'rare' WHEN ${random(2)} < 10 THEN 'broadcast'
            ELSE 'order-' || (n / 3) END AS transaction_of,
          CASE WHEN ${oneOfTen(7)} THEN '["tenant:rare"]' WHEN ${random(3)} < 50 THEN '[]'
            WHEN ${random(3)} < 90 THEN '["tenant:hot"]'
            ELSE '["tenant:' || (n % max(1, ${count} / 100)) || '"]' END AS keys
        FROM numbers WHERE n < ${count}
      )
    INSERT INTO messages (id, created_at, subscriber_id, transaction_id, context, document, ${copiedColumns})
    SELECT new_id, at, subscriber, transaction_of, keys,
      json_set(document, '$._id', new_id, '$.createdAt', strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000, 'unixepoch'),
        '$.subscriber.subscriberId', subscriber, '$.transactionId', transaction_of, '$.contextKeys', json(keys)),
      ${copiedColumns}
    FROM rows CROSS JOIN templates ON number = n % ${TEMPLATES}`)
  client.close()
}

const GENERATED_COLUMNS = [
  'sequence',
  'id',
  'created_at',
  'subscriber_id',
  'transaction_id',
  'context',
  'document'
]

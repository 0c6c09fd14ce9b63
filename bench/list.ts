/**
 * How long the message list takes inside the service, without HTTP, as an environment grows.
 *
 *     npx tsx bench/list.ts [--data <new file>] [sizes, such as 1000 100000 1000000]
 *
 * A million messages take 2.4 GB, in memory or in the file.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildServices } from '../src/app.js'
import { wallClock } from '../src/clock.js'
import { type Db, openDatabase } from '../src/db/open.js'
import type { Environment } from '../src/environments/service.js'
import { hashOfKey } from '../src/environments/service.js'
import type { ListMessagesQuery } from '../src/messages/schemas.js'

const { values, positionals } = parseArgs({ options: { data: { type: 'string' } }, allowPositionals: true })
const sizes = positionals.length > 0 ? positionals.map(Number) : [1_000, 100_000]
if (values.data !== undefined && existsSync(values.data)) throw new Error(`${values.data} is there already`)

const table = new Map<string, Record<string, number>>()
for (const size of sizes) {
  const { db, close } = openDatabase(values.data === undefined ? undefined : `${values.data}-${size}`)
  addMessages(db, size)
  for (const [name, query] of Object.entries(queriesFor(size))) {
    const row = table.get(name) ?? {}
    table.set(name, { ...row, ...measured(db, size, query) })
  }
  close()
}
console.log('µs a call: the fastest of many; and of those when no total is known yet')
console.table(Object.fromEntries(table))

/** Of subscribers, transactions and contexts there is one that many messages have, and others that a few have. */
function queriesFor(size: number): Record<string, Partial<ListMessagesQuery>> {
  const hot = { subscriberId: 'hot' }
  const rare = { contextKeys: ['tenant:7'] }
  const broadcast = { transactionId: ['broadcast'] }
  return {
    'first page': {},
    'first page of 100': { limit: 100 },
    channel: { channel: 'push' },
    'subscriber, hot': hot,
    'subscriber, rare': { subscriberId: 'subscriber-7' },
    transaction: { transactionId: ['order-7'] },
    'transaction, broadcast': broadcast,
    '20 transactions': { transactionId: Array.from({ length: 20 }, (_, index) => `order-${index * 7}`) },
    'context, hot': { contextKeys: ['tenant:hot'] },
    'context, rare': rare,
    'hot subscriber, rare context': { ...hot, ...rare },
    'hot subscriber, hot context': { ...hot, contextKeys: ['tenant:hot'] },
    'hot subscriber, channel': { ...hot, channel: 'push' },
    'broadcast, rare subscriber': { ...broadcast, subscriberId: 'subscriber-7' },
    'all four': { ...broadcast, ...hot, ...rare, channel: 'push' },
    'page at 50 %': { page: Math.floor(size * 0.05) },
    'page at 90 %': { page: Math.floor(size * 0.09) },
    'past the end': { page: size }
  }
}

function addMessages({ client }: Db, size: number): void {
  client.exec(`
    INSERT INTO collections VALUES (1);
    INSERT INTO environments
      (key, id, organization_id, name, assumptions, clock, created_at, integrations, subscribers, workflows, messages, idempotency)
    VALUES (1, 'e', 'o', 'Bench', '{}', '{"mode":"wall"}', 0, 1, 1, 1, 1, 1);
    WITH RECURSIVE
      numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size} - 1),
      draws AS (SELECT n, abs(random() % 100) AS a, abs(random() % 100) AS b, abs(random() % 100) AS c FROM numbers)
    INSERT INTO messages (collection, id, created_at, channel, subscriber_id, transaction_id, context, document)
    SELECT 1, printf('%08x', 0x66000000 + n) || lower(hex(randomblob(8))), 1700000000000 + n * 1000,
      CASE abs(random() % 5) WHEN 0 THEN 'in_app' WHEN 1 THEN 'email' WHEN 2 THEN 'sms' WHEN 3 THEN 'chat' ELSE 'push' END,
      iif(a < 30, 'hot', 'subscriber-' || abs(random() % ${size / 20})),
      iif(b < 10, 'broadcast', 'order-' || (n / 3)),
      CASE WHEN c < 50 THEN '[]' WHEN c < 90 THEN '["tenant:hot"]' ELSE '["tenant:' || abs(random() % ${size / 100}) || '"]' END,
      json_object('_id', printf('%08x', n), 'content', hex(zeroblob(700)))
    FROM draws`)
  client.prepare('INSERT INTO api_keys (hash, environment) VALUES (?, 1)').run(hashOfKey('key'))
}

function measured(db: Db, size: number, query: Partial<ListMessagesQuery>): Record<string, number> {
  const services = buildServices({
    db,
    clock: wallClock,
    defaults: { profile: 'document', assumptions: {} },
    journal: 0
  })
  const environment = services.environments.resolve('key') as Environment
  const list = () => services.messages.list(environment, { page: 0, limit: 10, ...query })

  const firsts = Array.from({ length: 3 }, () => {
    return microsecondsOf(list)
  })
  const rounds = Math.max(1, Math.min(500, Math.floor(10_000 / microsecondsOf(list))))
  const each = Array.from({ length: 40 }, () => {
    return (
      microsecondsOf(() => {
        for (let round = 0; round < rounds; round++) list()
      }) / rounds
    )
  })
  return { [String(size)]: rounded(Math.min(...each)), [`${size}, first`]: rounded(Math.min(...firsts)) }
}

function rounded(microseconds: number): number {
  return microseconds < 100 ? Math.round(microseconds * 10) / 10 : Math.round(microseconds)
}

function microsecondsOf(work: () => void): number {
  const start = performance.now()
  work()
  return (performance.now() - start) * 1000
}

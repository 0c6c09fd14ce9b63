import { buildServices } from '../src/app.js'
import { wallClock } from '../src/core/clock.js'
import { openDatabase } from '../src/db/open.js'
import type { ListMessagesQuery } from '../src/messages/query.js'
import { type MessageService, messageService } from '../src/messages/service.js'
import { BENCH } from './data.js'

/**
 * How long the message list takes inside the service, without HTTP, on a data file of `givenData` of this size: in
 * microseconds, the fastest of many; and the fastest of those when no total is known yet.
 */
export function timesInService(
  file: string,
  size: number,
  repeats: number
): Map<string, { still: number; first: number }> {
  const { db, close } = openDatabase(file)
  try {
    const services = buildServices({
      db,
      clock: wallClock,
      defaults: { profile: 'document', assumptions: {} },
      journal: 0
    })
    const environment = services.environments.resolve(BENCH.apiKey)
    if (!environment) throw new Error(`${file} is no data file of the bench`)
    return new Map(
      Object.entries(queriesFor(size)).map(([name, query]) => {
        const list = (messages: MessageService) => messages.list(environment, { page: 0, limit: 10, ...query })
        // A new service has no totals yet.
        const first = () => {
          const messages = messageService({ db, environments: services.environments })
          return microsecondsOf(() => list(messages))
        }
        return [name, timesOf(() => list(services.messages), first, repeats)]
      })
    )
  } finally {
    close()
  }
}

function queriesFor(size: number): Record<string, Partial<ListMessagesQuery>> {
  const hot = { subscriberId: 'hot' }
  const rare = { contextKeys: ['tenant:rare'] }
  const broadcast = { transactionId: ['broadcast'] }
  return {
    'no filter': {},
    'page of 100': { limit: 100 },
    channel: { channel: 'push' },
    'subscriber, hot': hot,
    'subscriber, rare': { subscriberId: 'rare' },
    'transaction, broadcast': broadcast,
    'transaction, rare': { transactionId: ['rare'] },
    '20 transactions': { transactionId: Array.from({ length: 20 }, (_, index) => `order-${index * 7}`) },
    'context, hot': { contextKeys: ['tenant:hot'] },
    'context, rare': rare,
    'hot subscriber, rare context': { ...hot, ...rare },
    'hot subscriber, hot context': { ...hot, contextKeys: ['tenant:hot'] },
    'hot subscriber, channel': { ...hot, channel: 'push' },
    'broadcast, rare subscriber': { ...broadcast, subscriberId: 'rare' },
    'all four': { ...broadcast, ...hot, ...rare, channel: 'push' },
    'page at 50 %': { page: Math.floor(size * 0.05) },
    'page at 90 %': { page: Math.floor(size * 0.09) },
    'past the end': { page: size }
  }
}

function timesOf(list: () => unknown, first: () => number, repeats: number): { still: number; first: number } {
  const firsts = Array.from({ length: 3 }, first)
  const rounds = Math.max(1, Math.min(500, Math.floor(10_000 / microsecondsOf(list))))
  const each = Array.from({ length: repeats }, () => {
    const all = microsecondsOf(() => {
      for (let round = 0; round < rounds; round++) list()
    })
    return all / rounds
  })
  return { still: Math.min(...each), first: Math.min(...firsts) }
}

function microsecondsOf(work: () => void): number {
  const startedAt = performance.now()
  work()
  return (performance.now() - startedAt) * 1000
}

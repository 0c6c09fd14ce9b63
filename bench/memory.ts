import { setTimeout as delay } from 'node:timers/promises'
import { mustAsk } from './ask.js'
import { BENCH, FILTERS, givenData, givenSeed } from './data.js'
import { type Load, load } from './load.js'
import type { Cell, Context, Measure, Outcome } from './outcome.js'
import { authorization, bare, mock, type Running, start, type ToStart } from './processes.js'
import { median, pairedRatio } from './statistics.js'

export const memory: Measure = {
  name: 'memory',
  question: 'How much memory does the process hold: idle, with many messages, after many requests?',
  method: `Resident memory as \`ps\` tells it. Idle: one second after the first answer, in pairs with a bare
    Fastify that says hello. Many messages: a data file of 1,000,000, after a page of each filter and the page at offset
    900,000. Many requests: lists, steps and set-primaries in turn at 10 connections, in memory.`,
  minutes: 4,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const [ours, hello] = await idle(quick ? 1 : 5, say)
  const messages = quick ? 1000 : 1_000_000
  say(`making ${messages} messages`)
  const withMessages = await afterMessages(messages)
  const few = quick ? 1000 : 100_000
  const many = few * 10
  const after = await afterRequests([few, many], say)
  const rows: Cell[][] = [
    ['idle, default seed, in memory', median(ours), pairedRatio(ours, hello)],
    ['bare Fastify, hello', median(hello), 1],
    [`${messages} messages in a file`, withMessages, null],
    [`after ${few} requests`, after[0] ?? null, null],
    [`after ${many} requests`, after[1] ?? null, null]
  ]
  return {
    tables: [{ title: 'resident memory', columns: ['state', 'MB', 'of bare Fastify'], rows }],
    figures: {
      'idle.of-fastify': pairedRatio(ours, hello),
      'requests.growth': (after[1] ?? Number.NaN) / (after[0] ?? Number.NaN)
    },
    skipped: []
  }
}

const MEGABYTE = 1e6
const SETTLED = 1000

async function idle(pairs: number, say: Context['say']): Promise<[ours: number[], hello: number[]]> {
  const [ours, hello]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < pairs; pair++) {
    say(`idle, pair ${pair + 1} of ${pairs}`)
    ours.push(await idleOf(mock([], 'development-key')))
    hello.push(await idleOf(bare('hello')))
  }
  return [ours, hello]
}

async function idleOf(server: ToStart): Promise<number> {
  const running = await start(server)
  await delay(SETTLED)
  const bytes = running.residentBytes()
  await running.stop()
  return bytes / MEGABYTE
}

const headers = authorization(BENCH.apiKey)

async function afterMessages(messages: number): Promise<number> {
  const server = await start(mock(['--data', await givenData(messages)], BENCH.apiKey))
  try {
    const deep = `page=${Math.floor(messages * 0.09)}`
    for (const query of [...Object.values(FILTERS), deep]) {
      await mustAsk('GET', `${server.url}${BENCH.list}&${query}`, { headers })
    }
    await delay(SETTLED)
    return server.residentBytes() / MEGABYTE
  } finally {
    await server.stop()
  }
}

async function afterRequests(counts: readonly number[], say: Context['say']): Promise<number[]> {
  const server = await start(mock(['--seed', givenSeed()], BENCH.apiKey))
  try {
    const memories: number[] = []
    let answered = 0
    for (const count of counts) {
      while (answered < count) {
        say(`${answered} of ${count} requests`)
        answered += await someOfAll(server)
      }
      memories.push(server.residentBytes() / MEGABYTE)
    }
    return memories
  } finally {
    await server.stop()
  }
}

/** A second of each operation; how many requests that were. */
async function someOfAll(server: Running): Promise<number> {
  let answered = 0
  const operations: Pick<Load, 'method' | 'paths'>[] = [
    { method: 'GET', paths: [BENCH.list] },
    { method: 'GET', paths: [BENCH.step] },
    { method: 'POST', paths: BENCH.setPrimary }
  ]
  for (const operation of operations) {
    const { requests } = await load(server, { ...operation, headers, connections: 10, seconds: 1 })
    answered += requests
  }
  return answered
}

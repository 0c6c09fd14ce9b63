import { mkdirSync, writeFileSync } from 'node:fs'
import { BENCH, givenData, givenSeed, scratch } from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import {
  authorization,
  bare,
  type Load,
  load,
  mock,
  mustAsk,
  type Running,
  start
} from './servers.js'

export const throughput: Measure = {
  name: 'throughput',
  minutes: 3,
  method: `The three operations at 10 connections. The data file has 100,000 messages of about 1.5 KB. Set-primary is
    also measured in memory, because a file adds a write to the disk. It cycles through 200 integrations of one channel, so
    every request changes the primary. A bare Fastify sends the same bytes from memory. Both servers share one core and are
    loaded alternately from the other core: five pairs of 3 s, after a warm-up of 4 s. A ratio is the median of the pairs.`,
  run
}

const headers = authorization(BENCH.apiKey)
const PAIRS = 5

async function run(say: (step: string) => void): Promise<Figure[]> {
  say('making 100,000 messages')
  const onFile = await start(mock(['--data', await givenData(100_000)], BENCH.apiKey))
  const inMemory = await start(mock(['--seed', givenSeed()], BENCH.apiKey))
  const fastify = await start(bare('fastify', [await keepAnswers(onFile)]))
  const list = { method: 'GET', paths: [BENCH.list] } as const
  const step = { method: 'GET', paths: [BENCH.step] } as const
  const setPrimary = { method: 'POST', paths: BENCH.setPrimary } as const
  try {
    return [
      ...(await compare('list of 10 of 100,000', onFile, list, 0.4)),
      ...(await compare('step of 10 KB', onFile, step, 0.5)),
      ...(await compare('set-primary, in memory', inMemory, setPrimary, 0.3)),
      ...(await compare('set-primary, on a file', onFile, setPrimary))
    ]
  } finally {
    for (const server of [onFile, inMemory, fastify]) await server.stop()
  }

  async function compare(
    what: string,
    server: Running,
    operation: Pick<Load, 'method' | 'paths'>,
    atLeast?: number
  ): Promise<Figure[]> {
    const [ours, theirs, slowest]: number[][] = [[], [], []]
    for (let pair = 0; pair <= PAIRS; pair++) {
      say(`${what}, ${pair === 0 ? 'warming up' : `pair ${pair} of ${PAIRS}`}`)
      const wanted = { ...operation, headers, connections: 10, seconds: pair === 0 ? 4 : 3 }
      const own = await load(server, wanted)
      const other = await load(fastify, wanted)
      if (pair === 0) continue
      ours?.push(own.requestsPerSecond)
      theirs?.push(other.requestsPerSecond)
      slowest?.push(own.p99)
    }
    return [
      {
        what,
        value: pairedRatio(ours ?? [], theirs ?? []),
        unit: 'of bare Fastify',
        ...(atLeast && { atLeast })
      },
      { what, value: median(ours ?? []), unit: 'requests/s' },
      { what: `${what}, p99`, value: median(slowest ?? []), unit: 'ms' }
    ]
  }
}

/** The answers of our server, as files for the bare one. */
export async function keepAnswers({ url }: Running): Promise<string> {
  const folder = scratch('answers')
  mkdirSync(folder, { recursive: true })
  const answers = {
    list: await mustAsk('GET', url + BENCH.list, { headers }),
    step: await mustAsk('GET', url + BENCH.step, { headers }),
    primary: await mustAsk('POST', url + BENCH.setPrimary[0], { headers })
  }
  for (const [name, { body }] of Object.entries(answers))
    writeFileSync(`${folder}/${name}.json`, body)
  return folder
}

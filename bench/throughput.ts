import { mkdirSync, writeFileSync } from 'node:fs'
import { BENCH, createDataFile, createSeedFile, tempPath } from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import {
  authorization,
  bare,
  type Load,
  load,
  mock,
  type RunningServer,
  sendRequest,
  start
} from './servers.js'

export const throughput: Measure = {
  name: 'throughput',
  minutes: 3,
  method: `The three operations are called over 10 connections. The data file has 100,000 messages
    of about 1.5 KB. Set-primary is also measured in memory, because with a data file each request
    also writes to the disk. The requests for set-primary cycle through 200 integrations of one
    channel, so every request changes the primary. For comparison, a bare Fastify server sends the
    same bytes from memory. Both servers run on one core. wrk runs on the other core and loads them
    alternately: 4 s each to warm up, then five pairs of 3 s each. Each pair gives a ratio, and the
    table shows the median.`,
  run
}

const headers = authorization(BENCH.apiKey)
const PAIRS = 5

async function run(progress: (step: string) => void): Promise<Figure[]> {
  progress('creating 100,000 messages')
  const onFile = await start(mock(['--data', await createDataFile(100_000)], BENCH.apiKey))
  const inMemory = await start(mock(['--seed', createSeedFile()], BENCH.apiKey))
  const fastify = await start(bare('fastify', [await saveResponses(onFile)]))
  const list = { method: 'GET', paths: [BENCH.list] } as const
  const step = { method: 'GET', paths: [BENCH.step] } as const
  const setPrimary = { method: 'POST', paths: BENCH.setPrimary } as const
  try {
    return [
      ...(await compare('list 10 of 100,000 messages', onFile, list, 0.4)),
      ...(await compare('step of 10 KB', onFile, step, 0.5)),
      ...(await compare('set-primary, in memory', inMemory, setPrimary, 0.3)),
      ...(await compare('set-primary, on a file', onFile, setPrimary))
    ]
  } finally {
    for (const server of [onFile, inMemory, fastify]) await server.stop()
  }

  async function compare(
    name: string,
    server: RunningServer,
    operation: Pick<Load, 'method' | 'paths'>,
    atLeast?: number
  ): Promise<Figure[]> {
    const ours: number[] = []
    const theirs: number[] = []
    const p99: number[] = []
    for (let pair = 0; pair <= PAIRS; pair++) {
      progress(`${name}, ${pair === 0 ? 'warming up' : `pair ${pair} of ${PAIRS}`}`)
      const seconds = pair === 0 ? 4 : 3
      const options = { ...operation, headers, connections: 10, seconds }
      const own = await load(server, options)
      const other = await load(fastify, options)
      if (pair === 0) continue
      ours.push(own.requestsPerSecond)
      theirs.push(other.requestsPerSecond)
      p99.push(own.p99)
    }
    return [
      {
        name,
        value: pairedRatio(ours, theirs),
        unit: 'of bare Fastify',
        ...(atLeast && { atLeast })
      },
      { name, value: median(ours), unit: 'requests/s' },
      { name: `${name}, p99`, value: median(p99), unit: 'ms' }
    ]
  }
}

/**
 * Saves responses of the mock in files, so that the bare server can send them. Returns the folder.
 */
export async function saveResponses({ url }: RunningServer): Promise<string> {
  const folder = tempPath('responses')
  mkdirSync(folder, { recursive: true })
  const responses = {
    list: await sendRequest('GET', url + BENCH.list, { headers }),
    step: await sendRequest('GET', url + BENCH.step, { headers }),
    primary: await sendRequest('POST', url + BENCH.setPrimary[0], { headers })
  }
  for (const [name, { body }] of Object.entries(responses))
    writeFileSync(`${folder}/${name}.json`, body)
  return folder
}

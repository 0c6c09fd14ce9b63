import { rmSync, writeFileSync } from 'node:fs'
import {
  BENCH,
  createDataFile,
  createGeneratingSeed,
  createSeedFile,
  FILTERS,
  tempPath
} from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import { authorization, load, mock, type RunningServer, sendRequest, start } from './servers.js'

export const sizes: Measure = {
  name: 'sizes',
  minutes: 6,
  method: `One server has 1,000 messages of about 1.5 KB in its data file, the other has
    1,000,000. wrk requests the first page of the message list over one connection, alternately from
    both servers, for one second at a time. Five such pairs are measured. Each pair gives a ratio,
    and the table shows the median. Every filter is measured this way, but the table shows only the
    slowest one; "hot" is a value that many messages have, and "rare" is a value that ten messages
    have. Pages in the middle and at 90 % are requested after the server has counted the messages.
    Forks and resets are requested one by one, from a server with 100 messages in memory and from a
    server with 100,000 in a file. Before each reset, a set-primary changes the fork. The memory of
    a fork is the memory that 1,000 forks add, divided by 1,000. To generate 1,000,000 messages, a
    server starts with a new data file and a seed with \`generate\`. The time is measured from the
    spawn of the process to its first response with status 200.`,
  run
}

const headers = authorization(BENCH.apiKey)

async function run(progress: (step: string) => void): Promise<Figure[]> {
  progress('creating 1,000,000 messages')
  const small = await start(mock(['--data', await createDataFile(1000)], BENCH.apiKey))
  const large = await start(mock(['--data', await createDataFile(1_000_000)], BENCH.apiKey))
  const figures: Figure[] = []
  try {
    figures.push(...(await measureFilters(small, large, progress)))
    figures.push(...(await measurePages(large)))
  } finally {
    await small.stop()
    await large.stop()
  }
  progress('forks and resets')
  const inMemory = ['--seed', createSeedFile()]
  const inFile = ['--data', await createDataFile(100_000)]
  figures.push(...(await measureEnvironments('100 messages, in memory', inMemory, 100)))
  figures.push(...(await measureEnvironments('100,000 messages, in a file', inFile, 20)))
  progress('generating 1,000,000 messages')
  const { seconds, peak } = await generateMillion()
  const name = '1,000,000 messages generated'
  figures.push({ name, value: seconds, unit: 's', atMost: 60 })
  figures.push({
    name: `${name}, peak memory`,
    value: peak / 1e6,
    unit: 'MB',
    atMost: 400
  })
  return figures
}

/**
 * Measures how much longer the first page takes with 1,000,000 messages than with 1,000: once
 * without a filter, and once with each filter. Returns the result without a filter and the result
 * of the slowest filter.
 */
async function measureFilters(
  small: RunningServer,
  large: RunningServer,
  progress: (step: string) => void
): Promise<Figure[]> {
  progress('list without filters')
  const unfiltered = await growthOf(small, large, BENCH.list)
  let slowest = { filter: '', growth: 0 }
  for (const [filter, query] of Object.entries(FILTERS)) {
    progress(`list, ${filter}`)
    const growth = await growthOf(small, large, `${BENCH.list}&${query}`)
    if (growth > slowest.growth) slowest = { filter, growth }
  }
  return [
    {
      name: 'first page of 1,000,000 messages compared with 1,000',
      value: unfiltered,
      unit: 'times',
      atMost: 1.3
    },
    {
      name: `the same comparison with the slowest filter (${slowest.filter})`,
      value: slowest.growth,
      unit: 'times',
      atMost: 1.3
    }
  ]
}

async function measurePages(server: RunningServer): Promise<Figure[]> {
  const middle = await medianTime(9, server, `${BENCH.list}&page=50000`)
  const late = await medianTime(9, server, `${BENCH.list}&page=90000`)
  return [
    { name: 'page in the middle of 1,000,000 messages', value: middle, unit: 'ms', atMost: 100 },
    { name: 'page at 90 % of 1,000,000 messages', value: late, unit: 'ms', atMost: 100 }
  ]
}

/**
 * Starts a server that generates a million messages into a new data file. Returns how long the
 * start took, and the peak memory in bytes.
 */
async function generateMillion(): Promise<{ seconds: number; peak: number }> {
  const seed = tempPath('generate.json')
  writeFileSync(seed, JSON.stringify(createGeneratingSeed(1_000_000)))
  const file = tempPath('generated.db')
  const server = await start(mock(['--data', file, '--seed', seed], BENCH.apiKey))
  const peak = server.peakBytes()
  await server.stop()
  rmSync(file)
  return { seconds: server.startedIn / 1000, peak }
}

async function growthOf(small: RunningServer, large: RunningServer, path: string): Promise<number> {
  const times: number[] = []
  const largeTimes: number[] = []
  for (let pair = 0; pair <= 5; pair++) {
    for (const [server, all] of [
      [small, times],
      [large, largeTimes]
    ] as const) {
      const options = { method: 'GET', paths: [path], headers, connections: 1, seconds: 1 } as const
      const { requestsPerSecond } = await load(server, options)
      // Ignore the first pair of measurements, during which the servers also count their messages.
      if (pair > 0) all.push(1 / requestsPerSecond)
    }
  }
  return pairedRatio(largeTimes, times)
}

async function medianTime(times: number, { url }: RunningServer, path: string): Promise<number> {
  const durations: number[] = []
  for (let count = 0; count < times; count += 1)
    durations.push((await sendRequest('GET', url + path, { headers })).milliseconds)
  return median(durations)
}

async function measureEnvironments(
  title: string,
  args: string[],
  rounds: number
): Promise<Figure[]> {
  const server = await start(mock(args, BENCH.apiKey))
  try {
    const forks: number[] = []
    const resets: number[] = []
    for (let round = -5; round < rounds; round++) {
      const fork = await sendRequest('POST', `${server.url}/_mock/environments`, {
        body: { from: BENCH.environment }
      })
      const { apiKey, environmentId } = JSON.parse(fork.body.toString())
      const forkHeaders = authorization(apiKey)
      await sendRequest('POST', `${server.url}${BENCH.setPrimary[1]}`, { headers: forkHeaders })
      const reset = await sendRequest('POST', `${server.url}/_mock/reset`, { headers: forkHeaders })
      await sendRequest('DELETE', `${server.url}/_mock/environments/${environmentId}`)
      if (round < 0) continue
      forks.push(fork.milliseconds)
      resets.push(JSON.parse(reset.body.toString()).duration)
    }
    const before = server.residentBytes()
    for (let count = 0; count < 1000; count++) {
      await sendRequest('POST', `${server.url}/_mock/environments`, {
        body: { from: BENCH.environment }
      })
    }
    const added = (server.residentBytes() - before) / 1000 / 1000
    return [
      { name: `fork, ${title}`, value: median(forks), unit: 'ms', atMost: 1.5 },
      { name: `memory of a fork, ${title}`, value: added, unit: 'KB', atMost: 20 },
      {
        name: `reset after a set-primary, ${title}`,
        value: median(resets),
        unit: 'ms',
        atMost: 2
      }
    ]
  } finally {
    await server.stop()
  }
}

import { rmSync, writeFileSync } from 'node:fs'
import { BENCH, FILTERS, givenData, givenSeed, scratch, seedWithGenerate } from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import { authorization, load, mock, mustAsk, type Running, start } from './servers.js'

export const sizes: Measure = {
  name: 'sizes',
  minutes: 6,
  method: `The list from data files of 1,000 and of 1,000,000 messages of about 1.5 KB, one connection, a second each in turn,
    five times: seconds over requests, the median of the ratios within the pairs; of each single filter, whose "hot" value is
    that of a share of the messages and whose "rare" value is that of ten, the one that grows most. Pages in the middle and
    at 90 %, asked for once more than they were counted. A fork, a reset after a set-primary: over HTTP, one by one, with 100
    messages in memory and with 100,000 in a file. Memory of a fork: what 1,000 of them add to the process.
    Generated messages: \`serve\` with a new data file and a seed with \`generate\`, from the spawn to its start message.`,
  run
}

const headers = authorization(BENCH.apiKey)

async function run(say: (step: string) => void): Promise<Figure[]> {
  say('making 1,000,000 messages')
  const small = await start(mock(['--data', await givenData(1000)], BENCH.apiKey))
  const large = await start(mock(['--data', await givenData(1_000_000)], BENCH.apiKey))
  const figures: Figure[] = []
  try {
    const queries: Record<string, string> = { 'no filter': '', ...FILTERS }
    const growths: [name: string, growth: number][] = []
    for (const [name, query] of Object.entries(queries)) {
      say(`list, ${name}`)
      growths.push([name, await growthOf(small, large, `${BENCH.list}&${query}`)])
    }
    const [[, first] = ['', Number.NaN], ...filtered] = growths
    const [worst, growth] = filtered.toSorted((one, other) => other[1] - one[1])[0] ?? [
      '',
      Number.NaN
    ]
    figures.push(
      {
        what: 'first page of 1,000,000, over that of 1,000',
        value: first,
        unit: 'times',
        atMost: 1.3
      },
      {
        what: `the same with the filter that grows most (${worst})`,
        value: growth,
        unit: 'times',
        atMost: 1.3
      }
    )
    for (const [name, page] of [
      ['in the middle', 50_000],
      ['at 90 %', 90_000]
    ]) {
      const time = await medianTime(9, large, `${BENCH.list}&page=${page}`)
      figures.push({ what: `page ${name} of 1,000,000`, value: time, unit: 'ms', atMost: 100 })
    }
  } finally {
    await small.stop()
    await large.stop()
  }
  say('forks and resets')
  figures.push(...(await environments('100 messages, in memory', ['--seed', givenSeed()], 100)))
  figures.push(
    ...(await environments('100,000 messages, in a file', ['--data', await givenData(100_000)], 20))
  )
  say('generating 1,000,000 messages')
  const { seconds, peak } = await generateMillion()
  return [
    ...figures,
    { what: '1,000,000 messages generated', value: seconds, unit: 's', atMost: 60 },
    {
      what: '1,000,000 messages generated, memory at its peak',
      value: peak / 1e6,
      unit: 'MB',
      atMost: 400
    }
  ]
}

/** Starts a server that generates a million messages into a new data file. */
async function generateMillion(): Promise<{ seconds: number; peak: number }> {
  const seed = scratch('generate.json')
  writeFileSync(seed, JSON.stringify(seedWithGenerate(1_000_000)))
  const file = scratch('generated.db')
  const server = await start(mock(['--data', file, '--seed', seed], BENCH.apiKey))
  const peak = server.peakBytes()
  await server.stop()
  rmSync(file)
  return { seconds: server.startedIn / 1000, peak }
}

async function growthOf(small: Running, large: Running, path: string): Promise<number> {
  const [times, largeTimes]: number[][] = [[], []]
  for (let pair = 0; pair <= 5; pair++) {
    for (const [server, all] of [
      [small, times],
      [large, largeTimes]
    ] as const) {
      const wanted = { method: 'GET', paths: [path], headers, connections: 1, seconds: 1 } as const
      const { requestsPerSecond } = await load(server, wanted)
      // The first pair counts messages and warms up.
      if (pair > 0) all?.push(1 / requestsPerSecond)
    }
  }
  return pairedRatio(largeTimes ?? [], times ?? [])
}

async function medianTime(times: number, { url }: Running, path: string): Promise<number> {
  const each: number[] = []
  for (let time = 0; time < times; time++)
    each.push((await mustAsk('GET', url + path, { headers })).milliseconds)
  return median(each)
}

async function environments(title: string, args: string[], rounds: number): Promise<Figure[]> {
  const server = await start(mock(args, BENCH.apiKey))
  try {
    const [forks, resets]: number[][] = [[], []]
    for (let round = -5; round < rounds; round++) {
      const made = await mustAsk('POST', `${server.url}/_mock/environments`, {
        body: { from: BENCH.environment }
      })
      const { apiKey, environmentId } = JSON.parse(made.body.toString())
      const own = authorization(apiKey)
      await mustAsk('POST', `${server.url}${BENCH.setPrimary[1]}`, { headers: own })
      const reset = await mustAsk('POST', `${server.url}/_mock/reset`, { headers: own })
      await mustAsk('DELETE', `${server.url}/_mock/environments/${environmentId}`)
      if (round < 0) continue
      forks?.push(made.milliseconds)
      resets?.push(JSON.parse(reset.body.toString()).duration)
    }
    const before = server.residentBytes()
    for (let count = 0; count < 1000; count++) {
      await mustAsk('POST', `${server.url}/_mock/environments`, {
        body: { from: BENCH.environment }
      })
    }
    const added = (server.residentBytes() - before) / 1000 / 1000
    return [
      { what: `fork, ${title}`, value: median(forks ?? []), unit: 'ms', atMost: 1.5 },
      { what: `memory of a fork, ${title}`, value: added, unit: 'KB', atMost: 20 },
      {
        what: `reset after a set-primary, ${title}`,
        value: median(resets ?? []),
        unit: 'ms',
        atMost: 2
      }
    ]
  } finally {
    await server.stop()
  }
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { mustAsk } from './ask.js'
import { BENCH, givenData, givenSeed, scratch } from './data.js'
import { type Load, type Loaded, load } from './load.js'
import type { Cell, Context, Measure, Outcome } from './outcome.js'
import { authorization, bare, mock, type Running, start } from './processes.js'
import { median, pairedRatio } from './statistics.js'

export const throughput: Measure = {
  name: 'throughput',
  question: 'How many requests a second, and how long does one take, beside bare node:http and bare Fastify?',
  method: `The three operations at 1, 10 and 100 connections, from a data file of 100,000 messages of about 1.5 KB; and
    set-primary from memory as well, since a file makes it write. The set-primaries go round 200 integrations of a
    channel, so each is a change. The bare servers send the very bytes that ours sent, from memory, as a Buffer.
    Rounds of ours, Fastify, node:http, 2 s each, one after the other on the same core, after one of 3 s each in which
    V8 compiles what is hot: a ratio is the median of the ratios within the rounds. "Busy" is the share of the time that
    the server's core worked for it: where it is well below 1 the load was the limit, or others were at work on the
    machine, and "by CPU", the ratio of what a request costs the processor, is the one to go by.`,
  minutes: 8,
  run: (context) => compare(context, [1, 10, 100])
}

export const latency: Measure = {
  name: 'latency',
  question: 'How long do the slowest requests take, beside bare Fastify?',
  method: `As the throughput, at 10 connections only: the ratio is that of the 99th percentiles, ours over that of bare
    Fastify, the median of the rounds. It needs wrk: autocannon knows whole milliseconds only.`,
  minutes: 3,
  run: (context) => compare(context, [10])
}

const headers = authorization(BENCH.apiKey)

/** Loads our server, bare Fastify and bare node:http with each operation, at each number of connections. */
async function compare({ quick, say }: Context, numbers: readonly number[]): Promise<Outcome> {
  const messages = quick ? 1000 : 100_000
  say(`making ${messages} messages`)
  const onFile = await start(mock(['--data', await givenData(messages)], BENCH.apiKey))
  const inMemory = await start(mock(['--seed', givenSeed()], BENCH.apiKey))
  const folder = await keepAnswers(onFile)
  const fastify = await start(bare('fastify', [folder]))
  const nodeHttp = await start(bare('node-http', [folder]))
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const operations: { name: string; title: string; ours: Running; what: Pick<Load, 'method' | 'paths'> }[] = [
    { name: 'list', title: `list of 10 of ${messages}`, ours: onFile, what: { method: 'GET', paths: [BENCH.list] } },
    { name: 'step', title: 'step of 10 KB', ours: onFile, what: { method: 'GET', paths: [BENCH.step] } },
    {
      name: 'set-primary',
      title: 'set-primary, in memory',
      ours: inMemory,
      what: { method: 'POST', paths: BENCH.setPrimary }
    },
    {
      name: 'set-primary-file',
      title: 'set-primary, on a file',
      ours: onFile,
      what: { method: 'POST', paths: BENCH.setPrimary }
    }
  ]
  try {
    for (const { name, title, ours, what } of operations) {
      const rows: Cell[][] = []
      for (const connections of quick ? [10] : numbers) {
        const wanted = { ...what, headers, connections, seconds: quick ? 1 : 2 }
        const onRound = (round: string) => say(`${title}, ${connections} connections, ${round}`)
        const rounds = await inRounds([ours, fastify, nodeHttp], wanted, quick ? 1 : 5, onRound)
        rows.push(...rounds.map((loaded, index) => row(connections, index, rounds, loaded)))
        outcome.figures[`${name}.${connections}.of-fastify`] = ratioOf(rounds, 1)
        outcome.figures[`${name}.${connections}.of-node-http`] = ratioOf(rounds, 2)
        outcome.figures[`${name}.${connections}.p99-of-fastify`] = p99Ratio(rounds)
      }
      const columns = [
        'connections',
        'server',
        'requests/s',
        'p50 ms',
        'p99 ms',
        'CPU µs',
        'busy',
        'ours / this',
        'by CPU'
      ]
      outcome.tables.push({ title, columns, rows })
    }
  } finally {
    await Promise.all([onFile, inMemory, fastify, nodeHttp].map((server) => server.stop()))
  }
  return outcome
}

/** The answers of our server, as files for the bare ones. */
export async function keepAnswers({ url }: Running): Promise<string> {
  const folder = scratch('answers')
  mkdirSync(folder, { recursive: true })
  const answers = {
    list: await mustAsk('GET', url + BENCH.list, { headers }),
    step: await mustAsk('GET', url + BENCH.step, { headers }),
    primary: await mustAsk('POST', url + BENCH.setPrimary[0], { headers })
  }
  for (const [name, { body }] of Object.entries(answers)) writeFileSync(`${folder}/${name}.json`, body)
  return folder
}

/**
 * What each server did in each round, by server; a first round, that warms them up, is left out. A server may stand there
 * more than once, when `prepare`, called with its place before each load, makes the difference.
 */
export async function inRounds(
  servers: readonly Running[],
  wanted: Load,
  rounds: number,
  onRound: (round: string) => void,
  ownPaths: ReadonlyMap<Running, Load['paths']> = new Map(),
  prepare: (index: number) => Promise<void> = async () => {}
): Promise<Loaded[][]> {
  const measured: Loaded[][] = servers.map(() => [])
  for (let round = 0; round <= rounds; round++) {
    onRound(round === 0 ? 'warming up' : `round ${round} of ${rounds}`)
    for (const [index, server] of servers.entries()) {
      const paths = ownPaths.get(server) ?? wanted.paths
      const seconds = round === 0 ? wanted.seconds + 1 : wanted.seconds
      await prepare(index)
      const loaded = await load(server, { ...wanted, paths, seconds })
      if (round === 0) continue
      if (loaded.requests === 0) throw new Error(`${server.name} gave no answer in ${wanted.seconds} s`)
      measured[index]?.push(loaded)
    }
  }
  return measured
}

/** Of the first server's rate to another's. */
export function ratioOf(rounds: readonly Loaded[][], index: number): number {
  const rates = (of: number) => (rounds[of] ?? []).map(({ requestsPerSecond }) => requestsPerSecond)
  return pairedRatio(rates(0), rates(index))
}

/** Of the first server's 99th percentile to the second's. */
function p99Ratio(rounds: readonly Loaded[][]): number {
  const values = (of: number) => (rounds[of] ?? []).map(({ p99 }) => p99)
  return pairedRatio(values(0), values(1))
}

/** Of the rates, and of what a request costs the processor; null for the first server, whom the others stand beside. */
export function ratioCells(rounds: readonly Loaded[][], index: number): Cell[] {
  const costs = (of: number) => (rounds[of] ?? []).map(({ cpuMicroseconds }) => cpuMicroseconds ?? Number.NaN)
  const byCpu = pairedRatio(costs(index), costs(0))
  return index === 0 ? [null, null] : [ratioOf(rounds, index), Number.isNaN(byCpu) ? null : byCpu]
}

const SERVERS = ['notification-mock', 'bare Fastify', 'bare node:http']

function row(connections: number, index: number, rounds: readonly Loaded[][], loaded: readonly Loaded[]): Cell[] {
  return [connections, SERVERS[index] ?? '', ...loadCells(loaded), ...ratioCells(rounds, index)]
}

/** Requests a second, p50, p99, processor time, busy: the medians. */
export function loadCells(loaded: readonly Loaded[]): Cell[] {
  const of = (name: keyof Loaded) => {
    const values = loaded.flatMap((each) => each[name] ?? [])
    return values.length > 0 ? median(values) : null
  }
  return [of('requestsPerSecond'), of('p50'), of('p99'), of('cpuMicroseconds'), of('busy')]
}

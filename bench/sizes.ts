import { mustAsk } from './ask.js'
import { BENCH, FILTERS, givenData } from './data.js'
import { timesInService } from './list.js'
import { load } from './load.js'
import type { Cell, Context, Measure, Outcome } from './outcome.js'
import { authorization, mock, type Running, start } from './processes.js'
import { median, pairedRatio } from './statistics.js'

export const sizes: Measure = {
  name: 'sizes',
  question: 'How does the time of the list grow with the number of messages?',
  method: `The same list from data files of growing size, one connection, a second each, all sizes in a round one after
    the other: seconds over requests, so the way over HTTP is in it; growth is the median of the ratios in the rounds.
    The "hot" value of a filter is that of a share of the messages, the "rare" one that of ten, at any size. The first
    request for the page at 90 %: after a start, when nothing has been counted yet, from a client in Node, whose own
    time is in it; the median of five starts. Beside that, without HTTP: the message service called in this process, the
    fastest of many calls, where small differences show. Files are in the system's cache.`,
  minutes: 9,
  run
}

const headers = authorization(BENCH.apiKey)

async function run({ quick, say }: Context): Promise<Outcome> {
  const counts = quick ? [1000, 10_000] : [1000, 100_000, 1_000_000]
  const inService = new Map<string, Map<number, { still: number; first: number }>>()
  for (const count of counts) {
    say(`${count} messages, in the service`)
    for (const [name, time] of timesInService(await givenData(count), count, quick ? 2 : 40)) {
      const times = inService.get(name) ?? new Map()
      inService.set(name, times.set(count, time))
    }
  }
  const overHttp = await timesOverHttp(counts, quick, say)
  const firsts = new Map<number, number>()
  for (const count of counts) {
    say(`the page at 90 % of ${count}`)
    firsts.set(count, await firstDeepPage(count, quick ? 1 : 5))
  }

  const smallest = 0
  const largest = counts.length - 1
  const growths = new Map(
    [...overHttp].map(([name, times]) => [name, pairedRatio(times[largest] ?? [], times[smallest] ?? [])])
  )
  const filters = [...growths].filter(([name]) => name in FILTERS).map(([, growth]) => growth)
  const lastFirst = firsts.get(counts[largest] ?? 0)
  const lastAgain = overHttp.get(DEEP_PAGE)?.[largest]
  const columns = counts.map((count) => count.toLocaleString('en'))
  return {
    tables: [
      {
        title: 'page of 10 over HTTP, µs',
        columns: ['query', ...columns, 'growth'],
        rows: [...overHttp].map(([name, times]) => [name, ...times.map(median), growths.get(name) ?? null])
      },
      {
        title: 'page at 90 % over HTTP, the first request for it, ms',
        columns,
        rows: [counts.map((count) => firsts.get(count) ?? null)]
      },
      {
        title: 'in the service, µs: once counted / the first time',
        columns: ['query', ...columns],
        rows: [...inService].map(([name, times]) => [name, ...counts.map((count) => bothOf(times.get(count)))])
      }
    ],
    figures: {
      'first-page.growth': growths.get(FIRST_PAGE) ?? Number.NaN,
      'filters.growth': Math.max(...filters),
      'deep-page.first': lastFirst ?? Number.NaN,
      'deep-page.again': lastAgain ? median(lastAgain) / 1000 : Number.NaN
    },
    series: {
      title: 'Time of a page of 10 as an environment grows, over HTTP, one connection',
      x: 'messages in the environment',
      y: 'µs per request',
      lines: [...overHttp].map(([name, times]) => ({ name, points: pointsOf(counts, times.map(median)) }))
    },
    skipped: []
  }
}

function pointsOf(counts: readonly number[], values: readonly number[]): [number, number][] {
  return counts.map((count, index) => [count, Math.round((values[index] ?? 0) * 10) / 10])
}

function bothOf(time: { still: number; first: number } | undefined): Cell {
  return time ? `${digits(time.still)} / ${digits(time.first)}` : null
}

function digits(microseconds: number): string {
  return microseconds < 100 ? microseconds.toFixed(1) : Math.round(microseconds).toLocaleString('en')
}

const FIRST_PAGE = 'no filter'
const DEEP_PAGE = 'page at 90 %'

/** The parameters of each query, of so many messages. */
function queriesOf(count: number): Record<string, string> {
  return {
    [FIRST_PAGE]: '',
    [DEEP_PAGE]: `page=${Math.floor(count * 0.09)}`,
    'page at 50 %': `page=${Math.floor(count * 0.05)}`,
    ...FILTERS
  }
}

/** Microseconds a request: by query, by size, by round. */
async function timesOverHttp(
  counts: readonly number[],
  quick: boolean,
  say: Context['say']
): Promise<Map<string, number[][]>> {
  const rounds = quick ? 1 : 5
  const names = Object.keys(queriesOf(0))
  const servers: Running[] = []
  try {
    for (const count of counts) servers.push(await start(mock(['--data', await givenData(count)], BENCH.apiKey)))
    const times = new Map<string, number[][]>()
    for (const name of quick ? names.slice(0, 4) : names) {
      const each: number[][] = counts.map(() => [])
      // The round before the first one counts messages and warms up.
      for (let round = 0; round <= rounds; round++) {
        say(`${name}, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`)
        for (const [index, server] of servers.entries()) {
          const paths: [string] = [`${BENCH.list}&${queriesOf(counts[index] ?? 0)[name]}`]
          const { requestsPerSecond } = await load(server, {
            method: 'GET',
            paths,
            headers,
            connections: 1,
            seconds: 1
          })
          if (round > 0) each[index]?.push(1e6 / requestsPerSecond)
        }
      }
      times.set(name, each)
    }
    return times
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

/** In milliseconds, the median over this many starts. */
async function firstDeepPage(count: number, starts: number): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < starts; time++) {
    const server = await start(mock(['--data', await givenData(count)], BENCH.apiKey))
    try {
      // All that a request takes but the page itself is warm then.
      for (let warm = 0; warm < 200; warm++) await mustAsk('GET', server.url + BENCH.step, { headers })
      const page = `${server.url}${BENCH.list}&${queriesOf(count)[DEEP_PAGE]}`
      const { body, milliseconds } = await mustAsk('GET', page, { headers })
      if (JSON.parse(body.toString()).totalCount !== count) throw new Error(`${page} has no exact total`)
      times.push(milliseconds)
    } finally {
      await server.stop()
    }
  }
  return median(times)
}

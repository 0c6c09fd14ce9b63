import { type Asked, ask, mustAsk } from './ask.js'
import { BENCH, givenData, givenSeed } from './data.js'
import type { Context, Measure, Outcome, Table } from './outcome.js'
import { authorization, mock, type Running, start, type ToStart } from './processes.js'
import { median, quantile } from './statistics.js'

export const environments: Measure = {
  name: 'environments',
  question: 'What do making an environment by a fork and resetting one cost?',
  method: `Over HTTP, one by one from a client in Node, whose own time is in it: GET /health beside them tells how much
    that is. A fork copies an environment with all that is in it; a reset undoes a set-primary. In memory with 100
    messages, then on a data file of 100,000 of 1.5 KB.`,
  minutes: 1,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const many = quick ? 1000 : 100_000
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const sorts = [
    {
      name: 'small',
      title: '100 messages, in memory',
      server: mock(['--seed', givenSeed()], BENCH.apiKey),
      rounds: 200
    },
    {
      name: 'large',
      title: `${many} messages, on a file`,
      server: mock(['--data', await givenData(many)], BENCH.apiKey),
      rounds: 20
    }
  ]
  for (const { name, title, server, rounds } of sorts) {
    say(title)
    const measured = await measureWorlds(server, quick ? 2 : rounds)
    if (!measured) {
      outcome.skipped.push({ what: title, why: 'this build has no control routes for environments' })
      continue
    }
    outcome.tables.push(tableOf(title, measured))
    outcome.figures[`${name}.make`] = median(measured['make by fork'])
    outcome.figures[`${name}.reset`] = median(measured['reset after a set-primary'])
  }
  return outcome
}

type Work = 'GET /health' | 'make by fork' | 'set-primary' | 'reset after a set-primary' | 'remove'
type Times = Record<Work, number[]>

/** Milliseconds of each; all of a round right after one another. Undefined if the server knows no such thing. */
async function measureWorlds(server: ToStart, rounds: number): Promise<Times | undefined> {
  const running = await start(server)
  try {
    const { status } = await ask('GET', `${running.url}/_mock/environments`)
    if (status === 404 || status === 501) return undefined
    const times: Times = {
      'GET /health': [],
      'make by fork': [],
      'set-primary': [],
      'reset after a set-primary': [],
      remove: []
    }
    for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
      const each = await oneRound(running)
      if (round < 0) continue
      for (const [work, { milliseconds }] of Object.entries(each)) times[work as Work].push(milliseconds)
    }
    return times
  } finally {
    await running.stop()
  }
}

async function oneRound({ url }: Running): Promise<Record<Work, Asked>> {
  const health = await mustAsk('GET', `${url}/health`)
  const made = await mustAsk('POST', `${url}/_mock/environments`, { body: { from: BENCH.environment } })
  const { apiKey, environmentId } = JSON.parse(made.body.toString())
  const headers = authorization(apiKey)
  return {
    'GET /health': health,
    'make by fork': made,
    'set-primary': await mustAsk('POST', `${url}${BENCH.setPrimary[1]}`, { headers }),
    'reset after a set-primary': await mustAsk('POST', `${url}/_mock/reset`, { headers }),
    remove: await mustAsk('DELETE', `${url}/_mock/environments/${environmentId}`)
  }
}

function tableOf(title: string, times: Times): Table {
  const base = median(times['GET /health'])
  return {
    title,
    columns: ['work', 'median ms', 'p95 ms', 'times /health'],
    rows: Object.entries(times).map(([work, each]) => [work, median(each), quantile(each, 0.95), median(each) / base])
  }
}

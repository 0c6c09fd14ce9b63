import { mustAsk } from './ask.js'
import { BENCH, givenSeed } from './data.js'
import type { Context, Measure, Outcome } from './outcome.js'
import { authorization, bare, mock, start, type ToStart } from './processes.js'
import { median, pairedRatio, quantile } from './statistics.js'
import { keepAnswers } from './throughput.js'

export const cold: Measure = {
  name: 'cold',
  question: 'How long from the start of the process to 1,000 answers, one after the other?',
  method: `From the spawn until 1,000 lists of 10 messages have been answered, each asked for when the one before has come,
    over one connection, from the other core: ours, from memory, and a bare Fastify that sends the same bytes, in pairs.
    A server in CI is always cold: neither has been warmed up.`,
  minutes: 1,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const [pairs, answers] = quick ? [1, 20] : [7, 1000]
  const headers = authorization(BENCH.apiKey)
  const ours = mock(['--seed', givenSeed()], BENCH.apiKey)
  const running = await start(ours)
  const folder = await keepAnswers(running)
  await running.stop()

  const servers = [ours, bare('fastify', [folder])]
  const times: number[][] = servers.map(() => [])
  for (let pair = -1; pair < pairs; pair++) {
    say(pair < 0 ? 'once, for the caches of the system' : `pair ${pair + 1} of ${pairs}`)
    for (const [index, server] of servers.entries()) {
      const milliseconds = await timeOf(server, answers, headers)
      if (pair >= 0) times[index]?.push(milliseconds)
    }
  }
  const [own = []] = times
  const rows = servers.map(({ name }, index) => {
    const each = times[index] ?? []
    return [name, median(each), quantile(each, 0.1), quantile(each, 0.9), index === 0 ? null : pairedRatio(own, each)]
  })
  return {
    tables: [
      { title: `start to ${answers} lists, ms`, columns: ['server', 'median', 'p10', 'p90', 'ours / this'], rows }
    ],
    figures: { 'of-fastify': pairedRatio(own, times[1] ?? []) },
    skipped: []
  }
}

/** Milliseconds from the spawn to the last of so many answers. */
async function timeOf(server: ToStart, answers: number, headers: Record<string, string>): Promise<number> {
  const running = await start(server)
  try {
    for (let count = 0; count < answers; count++) await mustAsk('GET', running.url + BENCH.list, { headers })
    return performance.timeOrigin + performance.now() - running.spawnedAt
  } finally {
    await running.stop()
  }
}

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BENCH, givenSeed, scratch, seedOf } from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import {
  authorization,
  bare,
  command,
  mock,
  mustAsk,
  node,
  start,
  type ToStart
} from './servers.js'
import { keepAnswers } from './throughput.js'

export const startUp: Measure = {
  name: 'start',
  minutes: 3,
  method: `The time from the start of the process to the first 200, polled every millisecond from the other core, 20
    times alternately: this server with the default seed in memory, a bare Fastify that responds "hello", and this server with
    a seed file of 20 records. Memory is the resident set one second after the first response. For the 1,000th response, both
    servers return the same list of 10, over one connection. createMock() is measured 20 times in a process that has already
    called it.`,
  run
}

async function run(say: (step: string) => void): Promise<Figure[]> {
  const own = scratch('own.json')
  writeFileSync(own, JSON.stringify(seedOf(12, 2, 5)))
  const servers = {
    ours: mock([], 'development-key'),
    bare: bare('hello'),
    own: mock(['--seed', own], BENCH.apiKey)
  }
  const times: Record<keyof typeof servers, number[]> = { ours: [], bare: [], own: [] }
  const memory: Record<keyof typeof servers, number[]> = { ours: [], bare: [], own: [] }
  for (let round = -1; round < 20; round++) {
    say(round < 0 ? 'warming up' : `start ${round + 1} of 20`)
    for (const [name, server] of Object.entries(servers) as [keyof typeof servers, ToStart][]) {
      const running = await start(server)
      if (round >= 15) await delay(1000)
      if (round >= 15) memory[name].push(running.residentBytes() / 1e6)
      await running.stop()
      if (round >= 0) times[name].push(running.startedIn)
    }
  }
  const answers = await thousandAnswers(say)
  const again = mocksInOneProcess()
  return [
    {
      what: 'start to the first 200',
      value: pairedRatio(times.ours, times.bare),
      unit: 'of bare Fastify',
      atMost: 1.35
    },
    { what: 'start to the first 200', value: median(times.ours), unit: 'ms' },
    {
      what: 'added by a seed file of 20 records',
      value: median(times.own) - median(times.ours),
      unit: 'ms',
      atMost: 40
    },
    { what: 'start to the 1,000th response', value: answers, unit: 'of bare Fastify', atMost: 1.6 },
    {
      what: 'memory, idle',
      value: pairedRatio(memory.ours, memory.bare),
      unit: 'of bare Fastify',
      atMost: 1.25
    },
    { what: 'memory, idle', value: median(memory.ours), unit: 'MB' },
    { what: 'createMock(), the second and later', value: median(again), unit: 'ms', atMost: 15 }
  ]
}

/** Returns the ratio of the times from the spawn to 1,000 lists. */
async function thousandAnswers(say: (step: string) => void): Promise<number> {
  const ours = mock(['--seed', givenSeed()], BENCH.apiKey)
  const running = await start(ours)
  const folder = await keepAnswers(running)
  await running.stop()
  const times: number[][] = [[], []]
  for (let pair = -1; pair < 7; pair++) {
    say(`1,000 answers, ${pair < 0 ? 'warming up' : `pair ${pair + 1} of 7`}`)
    for (const [index, server] of [ours, bare('fastify', [folder])].entries()) {
      const { url, spawnedAt, stop } = await start(server)
      const headers = authorization(BENCH.apiKey)
      for (let count = 0; count < 1000; count++) await mustAsk('GET', url + BENCH.list, { headers })
      if (pair >= 0) times[index]?.push(performance.now() - spawnedAt)
      await stop()
    }
  }
  return pairedRatio(times[0] ?? [], times[1] ?? [])
}

/** Returns what each of 20 servers takes in a process that has started one, in milliseconds. */
function mocksInOneProcess(): number[] {
  const program = `
    const { createMock } = await import(${JSON.stringify(join(command(), '../../index.js'))})
    const times = []
    for (let count = 0; count <= 20; count++) {
      const startedAt = performance.now()
      const mock = await createMock()
      times.push(performance.now() - startedAt)
      await mock.close()
    }
    console.log(JSON.stringify(times.slice(1)))`
  return JSON.parse(
    execFileSync(node(), ['--input-type=module', '-e', program], { encoding: 'utf8' })
  )
}

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BENCH, createSeed, createSeedFile, tempPath } from './data.js'
import { type Figure, type Measure, median, pairedRatio } from './figures.js'
import {
  authorization,
  bare,
  command,
  mock,
  node,
  type ServerCommand,
  sendRequest,
  start
} from './servers.js'
import { saveResponses } from './throughput.js'

export const startUp: Measure = {
  name: 'start',
  minutes: 3,
  method: `The start time is measured from the spawn of the process to its first response with
    status 200. Until then, a client on the other core sends a request every millisecond. Three
    servers start alternately, 20 times each: this server with the default seed in memory, a bare
    Fastify that responds "hello", and this server with a seed file of 20 records. Memory is the
    resident set one second after the first response. For the 1,000th response, this server and a
    bare Fastify return the same list of 10 messages over one connection. createMock() is measured
    20 times in a process that has already called it.`,
  run
}

async function run(progress: (step: string) => void): Promise<Figure[]> {
  const seedFile = tempPath('small.json')
  writeFileSync(seedFile, JSON.stringify(createSeed(12, 2, 5)))
  const servers = {
    ours: mock([], 'development-key'),
    bare: bare('hello'),
    withSeed: mock(['--seed', seedFile], BENCH.apiKey)
  }
  const times: Record<keyof typeof servers, number[]> = { ours: [], bare: [], withSeed: [] }
  const memory: Record<keyof typeof servers, number[]> = { ours: [], bare: [], withSeed: [] }
  for (let round = -1; round < 20; round++) {
    progress(round < 0 ? 'warming up' : `start ${round + 1} of 20`)
    for (const [name, server] of Object.entries(servers) as [
      keyof typeof servers,
      ServerCommand
    ][]) {
      const running = await start(server)
      if (round >= 15) await delay(1000)
      if (round >= 15) memory[name].push(running.residentBytes() / 1e6)
      await running.stop()
      if (round >= 0) times[name].push(running.startedIn)
    }
  }
  const responses = await thousandResponses(progress)
  const laterMocks = mocksInOneProcess()
  return [
    {
      name: 'start to the first response',
      value: pairedRatio(times.ours, times.bare),
      unit: 'of bare Fastify',
      atMost: 1.35
    },
    { name: 'start to the first response', value: median(times.ours), unit: 'ms' },
    {
      name: 'added to the start by a seed file of 20 records',
      value: median(times.withSeed) - median(times.ours),
      unit: 'ms',
      atMost: 40
    },
    {
      name: 'start to the 1,000th response',
      value: responses,
      unit: 'of bare Fastify',
      atMost: 1.6
    },
    {
      name: 'memory, idle',
      value: pairedRatio(memory.ours, memory.bare),
      unit: 'of bare Fastify',
      atMost: 1.25
    },
    { name: 'memory, idle', value: median(memory.ours), unit: 'MB' },
    {
      name: 'createMock(), second and later calls',
      value: median(laterMocks),
      unit: 'ms',
      atMost: 15
    }
  ]
}

/**
 * Measures how long this server and bare Fastify take from the start of the process to the 1,000th
 * list response. Returns the median ratio of this server's time to bare Fastify's.
 */
async function thousandResponses(progress: (step: string) => void): Promise<number> {
  const ours = mock(['--seed', createSeedFile()], BENCH.apiKey)
  const running = await start(ours)
  const folder = await saveResponses(running)
  await running.stop()
  const times: number[][] = [[], []]
  for (let pair = -1; pair < 7; pair++) {
    progress(`1,000 responses, ${pair < 0 ? 'warming up' : `pair ${pair + 1} of 7`}`)
    for (const [index, server] of [ours, bare('fastify', [folder])].entries()) {
      const { url, spawnedAt, stop } = await start(server)
      const headers = authorization(BENCH.apiKey)
      for (let count = 0; count < 1000; count++)
        await sendRequest('GET', url + BENCH.list, { headers })
      if (pair >= 0) times[index]?.push(performance.now() - spawnedAt)
      await stop()
    }
  }
  return pairedRatio(times[0] ?? [], times[1] ?? [])
}

/**
 * Calls createMock() 21 times. Returns the duration of every call except the first, in
 * milliseconds.
 */
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

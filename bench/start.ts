import { readFileSync } from 'node:fs'
import { scratch } from './data.js'
import type { Context, Measure, Outcome } from './outcome.js'
import { bare, mock, type Running, start as startServer, type ToStart } from './processes.js'
import { median, pairedRatio, quantile } from './statistics.js'

export const start: Measure = {
  name: 'start',
  question: 'How long from the start of the process to the first answer?',
  method: `From the spawn to the first 200, asked for every millisecond from the other core: ours with the default seed,
    in memory, for a page of messages; a bare Fastify that says hello, from its node_modules, in
    pairs. The parts are those of further starts, observed by a module that is loaded before the command
    (bench/probe.mjs), which costs a little itself: their sum is larger than the time above.`,
  minutes: 2,
  run
}

const OURS: ToStart = mock([], 'development-key')

async function run({ quick, say }: Context): Promise<Outcome> {
  const pairs = quick ? 2 : 20
  const servers = [OURS, bare('hello')]
  const times: number[][] = servers.map(() => [])
  for (let pair = -1; pair < pairs; pair++) {
    say(pair < 0 ? 'warming up' : `pair ${pair + 1} of ${pairs}`)
    for (const [index, server] of servers.entries()) {
      const running = await startServer(server)
      await running.stop()
      if (pair >= 0) times[index]?.push(running.startedIn)
    }
  }
  const [ours = [], hello = []] = times
  const rows = servers.map(({ name }, index) => {
    const each = times[index] ?? []
    return [name, median(each), quantile(each, 0.1), quantile(each, 0.9), index === 0 ? null : pairedRatio(ours, each)]
  })
  const parts = await partsOf(quick ? 2 : 10, say)
  return {
    tables: [
      { title: 'start to first 200, ms', columns: ['server', 'median', 'p10', 'p90', 'ours / this'], rows },
      { title: 'its parts, ms', columns: ['part', 'median'], rows: [...parts] }
    ],
    figures: { 'of-fastify': pairedRatio(ours, hello) },
    skipped: []
  }
}

const PARTS = [
  'Node itself',
  'imports',
  'reading the seed',
  'opening and migrating',
  'seeding',
  'building the server and listening',
  'first answer'
] as const
type Part = (typeof PARTS)[number]

/** What probe.mjs writes. */
interface Probed {
  nodeReady: number
  seedRead?: number
  opened?: number
  commits: { begun: number; done: number }[]
  listening: number
}

async function partsOf(rounds: number, say: Context['say']): Promise<[Part, number | null][]> {
  const all: Map<Part, number>[] = []
  for (let round = 0; round < rounds; round++) {
    say(`parts, ${round + 1} of ${rounds}`)
    const file = scratch(`probe-${round}.json`)
    const running = await startServer({ ...OURS, ...probed(OURS), env: { BENCH_PROBE: file } })
    await running.stop()
    all.push(partsIn(JSON.parse(readFileSync(file, 'utf8')), running))
  }
  return PARTS.map((part) => {
    const values = all.flatMap((parts) => parts.get(part) ?? [])
    return [part, values.length > 0 ? median(values) : null]
  })
}

function probed({ args }: ToStart): Pick<ToStart, 'args'> {
  return { args: (port) => [...PROBED, ...args(port)] }
}

/** For Node: watches what the process does, and writes it to the file BENCH_PROBE. */
export const PROBED = ['--import', new URL('probe.mjs', import.meta.url).href]

/** What did not happen, such as a migration of a database that is copied whole, has no time: the next part gets it. */
function partsIn(probed: Probed, { spawnedAt, startedIn }: Running): Map<Part, number> {
  const [seeding, ...earlier] = probed.commits.toReversed()
  const migrated = earlier.length > 0 ? seeding?.begun : undefined
  const ends: [Part, number | undefined][] = [
    ['Node itself', probed.nodeReady],
    ['imports', probed.seedRead ?? probed.opened],
    ['reading the seed', probed.seedRead === undefined ? undefined : probed.opened],
    ['opening and migrating', migrated],
    ['seeding', seeding?.done],
    ['building the server and listening', probed.listening],
    ['first answer', spawnedAt + startedIn]
  ]
  const parts = new Map<Part, number>()
  let before = spawnedAt
  for (const [part, end] of ends) {
    if (end === undefined) continue
    parts.set(part, end - before)
    before = end
  }
  return parts
}

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { scratch, seedOf } from './data.js'
import type { Cell, Context, Measure, Outcome } from './outcome.js'
import { commandFile, runToEnd } from './processes.js'
import { PROBED } from './start.js'
import { median } from './statistics.js'

export const seeding: Measure = {
  name: 'seeding',
  question: 'How many messages a second are seeded, and with how much memory?',
  method: `Generated messages: \`seed generate --messages N --random-seed 7 --data <new file>\`, from the spawn to its
    end, so with Node's own start, the indexes and the last write; medians of 9 runs of 100,000 and of 3 of 1,000,000.
    From a seed file in JSON: \`seed check\`, which reads, checks and resolves it, and stores nothing; medians of 3.
    On all cores, as people run it. Memory is the most that the process of one more run ever had.`,
  minutes: 3,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const columns = ['messages', 'seconds', 'rows/s', 'peak MB', 'file MB']
  const rows: Cell[][] = []
  if (await generates()) {
    for (const { name, messages, times } of quick ? QUICK_RUNS : RUNS) {
      const measured = await repeated(times, (round, isProbed) => {
        say(`generating ${messages} messages, ${isProbed ? 'for its peak' : `${round + 1} of ${times}`}`)
        return generate(messages, isProbed)
      })
      rows.push([messages, measured.seconds, messages / measured.seconds, measured.peak, measured.size])
      outcome.figures[`${name}.seconds`] = measured.seconds
      outcome.figures[`${name}.rows-per-second`] = messages / measured.seconds
      outcome.figures[`${name}.peak-mb`] = measured.peak
    }
    outcome.tables.push({ title: 'generated, into a new file', columns, rows })
  } else {
    outcome.skipped.push({ what: 'generated messages', why: 'this build has no `seed generate --messages`' })
  }

  const fromFile: Cell[][] = []
  for (const messages of quick ? [100] : [1000, 10_000]) {
    const file = scratch('text.json')
    writeFileSync(file, JSON.stringify(seedOf(messages)))
    const measured = await repeated(quick ? 1 : 3, (round, isProbed) => {
      say(`checking a seed file of ${messages} messages, ${round + 1}`)
      return measuredRun(['seed', 'check', file], file, isProbed)
    })
    fromFile.push([messages, measured.seconds, messages / measured.seconds, measured.peak, measured.size])
    rmSync(file)
  }
  outcome.tables.push({ title: 'from a seed file, read and checked only', columns, rows: fromFile })
  return outcome
}

const QUICK_RUNS = [{ name: 'smaller', messages: 1000, times: 1 }]
const RUNS = [
  { name: 'smaller', messages: 100_000, times: 9 },
  { name: 'larger', messages: 1_000_000, times: 3 }
]

async function generates(): Promise<boolean> {
  const words = ['seed', 'generate', '--messages', '1', '--random-seed', '7', '--data', scratch('trial.db')]
  return runToEnd([commandFile(), ...words]).then(
    () => true,
    () => false
  )
}

interface Seeded {
  seconds: number
  /** In megabytes, as is the size. */
  peak: number
  size: number
}

async function generate(messages: number, isProbed: boolean): Promise<Seeded> {
  const file = scratch('generated.db')
  rmSync(file, { force: true })
  try {
    const words = ['seed', 'generate', '--messages', String(messages), '--random-seed', '7', '--data', file]
    return await measuredRun(words, file, isProbed)
  } finally {
    rmSync(file, { force: true })
  }
}

async function measuredRun(args: readonly string[], file: string, isProbed: boolean): Promise<Seeded> {
  const probe = scratch('seeding-probe.json')
  const { milliseconds } = await runToEnd([...(isProbed ? PROBED : []), commandFile(), ...args], { BENCH_PROBE: probe })
  const { maxRss } = isProbed ? JSON.parse(readFileSync(probe, 'utf8')) : { maxRss: Number.NaN }
  return { seconds: milliseconds / 1000, peak: maxRss / MEGABYTE, size: statSync(file).size / MEGABYTE }
}

const MEGABYTE = 1e6

/** The time of so many runs, and the peak of one more: measuring it takes time itself. */
async function repeated(times: number, work: (round: number, isProbed: boolean) => Promise<Seeded>): Promise<Seeded> {
  const all: Seeded[] = []
  for (let round = 0; round < times; round++) all.push(await work(round, false))
  const { peak, size } = await work(times, true)
  return { seconds: median(all.map(({ seconds }) => seconds)), peak, size }
}

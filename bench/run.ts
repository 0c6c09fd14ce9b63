/**
 * Measures, prints tables, and writes bench/results/<date>.json: `npm run bench -- --help`.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { cold } from './cold.js'
import { environments } from './environments.js'
import { inspector } from './inspector.js'
import { commit, thisMachine, versions } from './machine.js'
import { memory } from './memory.js'
import type { Cell, Context, Measure, Outcome } from './outcome.js'
import { tableText } from './outcome.js'
import { peers } from './peers/peers.js'
import { commandFile, leaveServersAlone, useServers } from './processes.js'
import { writeReport } from './report.js'
import { type Measured, type Results, verdictTable } from './results.js'
import { seeding } from './seeding.js'
import { sizes } from './sizes.js'
import { start } from './start.js'
import { rounded } from './statistics.js'
import { verdictsOn } from './targets.js'
import { latency, throughput } from './throughput.js'

const MEASURES: readonly Measure[] = [
  throughput,
  latency,
  start,
  cold,
  seeding,
  memory,
  sizes,
  environments,
  inspector,
  peers
]

/** Runs only when named: it installs other people's packages. */
const ON_DEMAND = [peers]

const WRONG_USAGE = 2

// By an exit, so that servers and data go too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = readOptions(process.argv.slice(2))
if (options) await main(options)
// Connections that are kept would hold the process.
process.exit()

interface Options {
  measures: readonly Measure[]
  all: boolean
  quick: boolean
  json: boolean
  out: string | undefined
  report: boolean
}

function readOptions(args: string[]): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        out: { type: 'string' },
        report: { type: 'boolean', default: false },
        node: { type: 'string' },
        command: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
    if (values.help) {
      console.log(help())
      return undefined
    }
    const unknown = positionals.filter((name) => name !== 'all' && !MEASURES.some((measure) => measure.name === name))
    if (unknown.length > 0) throw new Error(`there is no measure ${unknown.join(', ')}`)
    const all = positionals.length === 0 || positionals.includes('all')
    const measures = MEASURES.filter((measure) => {
      return positionals.includes(measure.name) || (all && (positionals.length > 0 || !ON_DEMAND.includes(measure)))
    })
    if (values.report && values.quick)
      throw new Error('figures of a quick run mean nothing: give --report without --quick')
    useServers(values)
    return { ...values, measures, all, out: values.out }
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : error} (see npm run bench -- --help)`)
    process.exitCode = WRONG_USAGE
    return undefined
  }
}

function help(): string {
  const lines = MEASURES.map(({ name, question, minutes }) => {
    const demand = ON_DEMAND.some((each) => each.name === name) ? ', on demand' : ''
    return `  ${name.padEnd(11)} ${question} (${minutes} min${demand})`
  })
  return `Usage: npm run bench -- [measure...] [options]

Measures dist/, so build first. Without a measure: all but those on demand; \`all\`: these too.

${lines.join('\n')}

Options:
  --quick        small and short, to see that the scripts work; its figures mean nothing
  --json         print the results as JSON instead of tables
  --out <file>   write the results there, instead of bench/results/<date>.json
  --report       write docs/performance.md and .svg of these results too
  --node <file>  run the servers on this Node
  --command <file>  start this built command: with another Node one that was installed with it, for the addon
  -h, --help     print this help

Exit codes: 0 measured, whatever the verdicts; 1 something could not be measured; 2 the command line is wrong.`
}

async function main({ measures, all, quick, json, out, report }: Options): Promise<void> {
  if (!existsSync(commandFile())) {
    console.error(`there is no ${commandFile()}: npm run build`)
    process.exitCode = 1
    return
  }
  leaveServersAlone()
  const startedAt = new Date()
  const machine = thisMachine()
  const measured: Measured[] = []
  for (const measure of measures) {
    const outcome = await runMeasure(measure, quick)
    if (!outcome) continue
    measured.push(outcome)
    if (!json) print(outcome)
  }
  const verdicts = verdictsOn(new Map(measured.map((each) => [each.name, each])))
  const results: Results = {
    startedAt: startedAt.toISOString(),
    finishedAt: new Date().toISOString(),
    quick,
    ...commit(),
    machine,
    versions: versions(),
    measures: measured,
    verdicts: quick ? [] : verdicts
  }
  const file = out ?? resultsFile(startedAt, quick, all ? [] : measures)
  writeFileSync(file, `${JSON.stringify(results, null, 1)}\n`)
  if (json) console.log(JSON.stringify(results))
  else if (!quick) console.log(`\n${styled('bold', 'Aims')}\n\n${tableText(verdictTable(verdicts))}`)
  console.error(`\nwritten to ${file}`)
  if (report) writeReport([file])
}

/** Undefined, and the exit code says so, when it failed: the others are worth having all the same. */
async function runMeasure(measure: Measure, quick: boolean): Promise<Measured | undefined> {
  const { name, question, method } = measure
  const startedAt = performance.now()
  try {
    const { tables, figures, skipped, series } = await measure.run({ quick, say: progressOf(name) })
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    return {
      name,
      question,
      method: method.replaceAll(/\s+/g, ' '),
      seconds,
      tables: tables.map((table) => ({ ...table, rows: table.rows.map((row) => row.map(shortened)) })),
      figures: Object.fromEntries(Object.entries(figures).map(([figure, value]) => [figure, rounded(value)])),
      skipped,
      ...(series && { series })
    }
  } catch (error) {
    console.error(`${name} failed: ${error instanceof Error ? error.stack : error}`)
    process.exitCode = 1
    return undefined
  } finally {
    clearLine()
  }
}

function shortened(cell: Cell): Cell {
  return typeof cell === 'number' ? rounded(cell) : cell
}

function resultsFile(startedAt: Date, quick: boolean, named: readonly Measure[]): string {
  const folder = join(import.meta.dirname, 'results')
  mkdirSync(folder, { recursive: true })
  const day = startedAt.toISOString().slice(0, 10)
  const name = quick ? 'quick' : [day, ...named.map((measure) => measure.name)].join('-')
  return join(folder, `${name}.json`)
}

/** On a terminal one line that changes; elsewhere a line each. */
function progressOf(name: string): Context['say'] {
  const startedAt = performance.now()
  return (step) => {
    const line = `${name}, ${Math.round((performance.now() - startedAt) / 1000)} s: ${step}`
    if (!process.stderr.isTTY) return console.error(line)
    clearLine()
    process.stderr.write(line.slice(0, (process.stderr.columns || 80) - 1))
  }
}

function clearLine(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
}

function print({ name, question, tables, skipped, seconds }: Outcome & Omit<Measured, keyof Outcome>): void {
  console.log(`\n${styled('bold', `${name}: ${question}`)} (${seconds} s)`)
  for (const table of tables) console.log(`\n${table.title}\n\n${tableText(table)}`)
  for (const { what, why } of skipped) console.log(`\nnot measured: ${what}: ${why}`)
}

function styled(style: 'bold', text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}

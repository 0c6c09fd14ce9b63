/** Measures the figures in docs/contributing/performance.md. Run `npm run bench -- --help`. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figure, formatTable, type Measure, verdictOf } from './figures.js'
import { command, IS_PINNED, node, pinToClientCore, useServers } from './servers.js'
import { sizes } from './sizes.js'
import { startUp } from './start.js'
import { throughput } from './throughput.js'

const MEASURES: readonly Measure[] = [throughput, startUp, sizes]

const HELP = `Usage: npm run bench -- [measure...] [options]

Measures the build in dist/, so run npm run build first. Needs wrk and an otherwise idle machine.

${MEASURES.map(({ name, minutes }) => `  ${name.padEnd(11)} ${minutes} minutes`).join('\n')}

Options:
  --json            print the figures as JSON
  --report          also write them to docs/contributing/performance.md
  --node <file>     run the servers with this Node executable
  --command <file>  measure this built command; install it with the Node version of --node
  -h, --help        print this help

Exit codes:
  0  everything was measured, even if an aim was missed
  1  something could not be measured
  2  the command line is wrong`

// The exit handlers stop the servers and delete the data. They don't run if a signal ends the
// process, so call `process.exit` on a signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main(process.argv.slice(2))
process.exit()

async function main(args: string[]): Promise<void> {
  const options = readOptions(args)
  if (!options) return
  const { measures, json, report } = options
  if (!existsSync(command())) return fail(`${command()} does not exist: run npm run build`)
  if (spawnSync('wrk', ['--version']).error)
    return fail('wrk is not installed: run apt-get install wrk')
  pinToClientCore()
  const machine = describeMachine()
  const all: { measure: Measure; figures: Figure[] }[] = []
  for (const measure of measures) {
    const figures = await measure.run((step) => progress(`${measure.name}: ${step}`))
    all.push({ measure, figures })
    progress('')
    if (!json) console.log(`\n${measure.name}\n\n${formatTable(figures)}`)
  }
  const figures = all.flatMap((each) =>
    each.figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) }))
  )
  if (json) console.log(JSON.stringify({ machine, figures }, null, 1))
  if (report) writeReport(machine, all)
}

function readOptions(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        report: { type: 'boolean', default: false },
        node: { type: 'string' },
        command: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
    if (values.help) {
      console.log(HELP)
      return undefined
    }
    const unknown = positionals.filter((name) => !MEASURES.some((measure) => measure.name === name))
    if (unknown.length > 0) throw new Error(`unknown benchmark ${unknown.join(', ')}`)
    useServers(values)
    const measures = MEASURES.filter(
      ({ name }) => positionals.length === 0 || positionals.includes(name)
    )
    return { ...values, measures }
  } catch (error) {
    console.error(
      `error: ${error instanceof Error ? error.message : error} (see npm run bench -- --help)`
    )
    process.exitCode = 2
    return undefined
  }
}

function fail(message: string): void {
  console.error(message)
  process.exitCode = 1
}

/** Replaces the progress line. Prints nothing if stderr is not a terminal. */
function progress(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${step}`)
}

function describeMachine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const version = execFileSync(node(), ['--version'], { encoding: 'utf8' }).trim()
  const pinning = IS_PINNED ? 'servers on one core, clients on the other' : 'no core pinning'
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`
  const details = [
    new Date().toISOString().slice(0, 10),
    `commit ${commit}`,
    `Node ${version}`,
    cpus()[0]?.model.trim(),
    `${cpus().length} cores`,
    memory,
    `${type()} ${release()}`,
    `load average ${loadavg()[0]?.toFixed(2)} before the run`
  ]
  return `${details.join(', ')}; ${pinning}.`
}

/** Replaces the measured part of docs/contributing/performance.md. */
function writeReport(
  machine: string,
  all: readonly { measure: Measure; figures: Figure[] }[]
): void {
  const file = join(import.meta.dirname, '../docs/contributing/performance.md')
  const sections = all.map(({ measure: { name, method }, figures }) => {
    return `\n### ${name}\n\n${method.replaceAll(/\s+/g, ' ')}\n\n${formatTable(figures)}\n`
  })
  const start = '<!-- measured by npm run bench -- --report -->'
  const measured = `${start}\n\n${machine}\n${sections.join('')}\n<!-- end -->`
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/<!-- measured .*?<!-- end -->/s, () => measured)
  )
}

/** Measures what docs/contributing/performance.md says, and prints it: `npm run bench -- --help`. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figure, type Measure, tableOf, verdictOn } from './figures.js'
import { command, IS_PINNED, leaveServersAlone, node, useServers } from './servers.js'
import { sizes } from './sizes.js'
import { startUp } from './start.js'
import { throughput } from './throughput.js'

const MEASURES: readonly Measure[] = [throughput, startUp, sizes]

const HELP = `Usage: npm run bench -- [measure...] [options]

Measures dist/, so build first. It needs wrk, and a machine on which nothing else runs.

${MEASURES.map(({ name, minutes }) => `  ${name.padEnd(11)} ${minutes} minutes`).join('\n')}

Options:
  --json            print the figures as JSON
  --report          write them into docs/contributing/performance.md too
  --node <file>     run the servers on this Node
  --command <file>  start this built command: with another Node one that was installed with it, for the addon
  -h, --help        print this help

Exit codes: 0 measured, whatever the verdicts; 1 something could not be measured; 2 the command line is wrong.`

// By an exit, so that servers and data go too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main(process.argv.slice(2))
process.exit()

async function main(args: string[]): Promise<void> {
  const options = readOptions(args)
  if (!options) return
  const { measures, json, report } = options
  if (!existsSync(command())) return fail(`there is no ${command()}: npm run build`)
  if (spawnSync('wrk', ['--version']).error)
    return fail('there is no wrk to make the load: apt-get install wrk')
  leaveServersAlone()
  const machine = describeMachine()
  const all: { measure: Measure; figures: Figure[] }[] = []
  for (const measure of measures) {
    const figures = await measure.run((step) => say(`${measure.name}: ${step}`))
    all.push({ measure, figures })
    say('')
    if (!json) console.log(`\n${measure.name}\n\n${tableOf(figures)}`)
  }
  const figures = all.flatMap((each) =>
    each.figures.map((figure) => ({ ...figure, verdict: verdictOn(figure) }))
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
    if (values.help) return void console.log(HELP)
    const unknown = positionals.filter((name) => !MEASURES.some((measure) => measure.name === name))
    if (unknown.length > 0) throw new Error(`there is no measure ${unknown.join(', ')}`)
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

/** One line that changes; nothing where nobody looks on. */
function say(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${step}`)
}

function describeMachine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const version = execFileSync(node(), ['--version'], { encoding: 'utf8' }).trim()
  const pinned = IS_PINNED ? 'servers on one core, clients on the other' : 'nothing pinned'
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`
  return `${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node ${version}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${memory}, ${type()} ${release()}, load before ${loadavg()[0]?.toFixed(2)}; ${pinned}.`
}

/** Writes the part of docs/contributing/performance.md that is measured. */
function writeReport(
  machine: string,
  all: readonly { measure: Measure; figures: Figure[] }[]
): void {
  const file = join(import.meta.dirname, '../docs/contributing/performance.md')
  const sections = all.map(({ measure: { name, method }, figures }) => {
    return `\n### ${name}\n\n${method.replaceAll(/\s+/g, ' ')}\n\n${tableOf(figures)}\n`
  })
  const measured = `<!-- measured by npm run bench -- --report -->\n\n${machine}\n${sections.join('')}\n<!-- end -->`
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/<!-- measured .*?<!-- end -->/s, () => measured)
  )
}

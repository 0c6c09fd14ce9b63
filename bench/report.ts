/**
 * Makes docs/performance.md and docs/performance.svg of a run's results:
 *
 *     npx tsx bench/report.ts [results.json..., else the newest of a whole run] [--out <folder, else docs>]
 *
 * Of several results, in the order of their runs, the last that has a measure counts.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { chartOf } from './chart.js'
import { tableText } from './outcome.js'
import { type Measured, type Results, verdictTable } from './results.js'

/** Writes performance.md and performance.svg into the folder. Throws for results of a quick run. */
export function writeReport(files: readonly string[], folder = join(import.meta.dirname, '../docs')): void {
  const all = files.map((file): Results => JSON.parse(readFileSync(file, 'utf8')))
  const quick = files.find((_, index) => all[index]?.quick)
  if (quick) throw new Error(`${quick} is of a quick run, whose figures mean nothing`)
  const runs = all.map((each, index): Results => {
    const again = new Set(all.slice(index + 1).flatMap((later) => later.measures.map(({ name }) => name)))
    return {
      ...each,
      measures: each.measures.filter(({ name }) => !again.has(name)),
      verdicts: each.verdicts.filter(({ measure, value }) => value !== null && !again.has(measure))
    }
  })
  const series = runs.flatMap(({ measures }) => measures).find((measure) => measure.series)?.series
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'performance.md')
  const names = files.map((each) => basename(each)).join(', ')
  writeFileSync(file, reportOf(names, runs, handWritten(file)))
  if (series) writeFileSync(join(folder, 'performance.svg'), chartOf(series))
  console.log(`${folder}: written from ${files.join(', ')}`)
}

const BY_HAND = /<!-- by hand, kept by bench\/report.ts -->\n(.*?)<!-- end -->\n/s

/** What stands in the report between the two comments, or the place for it. */
function handWritten(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const heading = '## What was given up for simplicity\n\n'
  return BY_HAND.exec(text)?.[0] ?? `<!-- by hand, kept by bench/report.ts -->\n${heading}<!-- end -->\n`
}

/** Exits with 1 if there is none. */
function newestWhole(): string {
  const results = join(import.meta.dirname, 'results')
  const newest = readdirSync(results)
    .filter((name) => /^\d{4}-\d\d-\d\d\.json$/.test(name))
    .sort()
    .at(-1)
  if (newest) return join(results, newest)
  console.error('there are no results of a whole run: npm run bench -- all')
  process.exit(1)
}

/** The circumstances of each run. */
function factsTable(runs: readonly Results[]) {
  const facts = runs.map(factsOf)
  const names = [...new Set(facts.flatMap((each) => Object.keys(each)))]
  const rows = names.map((name) => [name, ...facts.map((each) => each[name] ?? '')])
  return { columns: ['', ...runs.map(() => '')], rows }
}

function factsOf({ machine, versions, measures, startedAt, finishedAt, commit, dirty }: Results) {
  const minutes = Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 60_000)
  const facts: Record<string, string> = {
    run: `${startedAt.slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes`,
    measures: measures.map(({ name }) => name).join(', '),
    commit: `${commit.slice(0, 12)}${dirty ? ', with changes that are not committed' : ''}`,
    processor: `${machine.processor}, ${machine.cores} cores`,
    memory: `${machine.memoryGiB} GiB`,
    system: machine.system,
    'load before': `${machine.loadAverage}`,
    cores: machine.pinned,
    ...versions
  }
  return facts
}

function reportOf(name: string, runs: readonly Results[], byHand: string): string {
  const verdicts = runs.flatMap((each) => each.verdicts)
  return `<!-- Made by bench/report.ts from bench/results/${name}: change those, not this, but for what is marked as written by hand. -->

# Performance

What was measured, on which machine, how, and how it stands to what was aimed at. \`npm run bench\` measures it anew,
and \`bench/README.md\` of the repository says how.

${tableText(factsTable(runs))}

## Aims

${tableText(verdictTable(verdicts))}

A ratio is the median of the ratios of at least five pairs, measured one right after the other in the same run: what
slows the machine down for a while falls out of it. All else are figures of this machine on that day.

## What is not claimed

- Nothing about other machines: absolute figures do not travel. Ratios travel better, and not everywhere.
- Nothing about the deployed service: this is a stand-in, and its speed says nothing of what it stands in for.
- Nothing about many cores: one process answers on one core, and that is what was loaded.
- Nothing about a network: all went over loopback, without TLS.
- Nothing about latency under a given rate: the load asks as soon as it is answered, so p50 and p99 are those of a
  server that is kept busy, and waiting that such a load does not see (coordinated omission) is not in them.
- Nothing about a cold disk: data files were in the system's cache.
- Nothing about which stand-in server is better: the peers do other things, and more than the list here asks for.

${byHand}${runs
  .flatMap(({ measures }) => measures)
  .map(sectionOf)
  .join('')}`
}

function sectionOf({ name, question, method, tables, skipped, series }: Measured): string {
  const parts = [
    `## ${question}`,
    wrapped(method),
    ...(series ? [`![${series.title}](performance.svg)`] : []),
    ...tables.map(
      (table) => `**${table.title.charAt(0).toUpperCase()}${table.title.slice(1)}**\n\n${tableText(table)}`
    ),
    ...(skipped.length > 0 ? [`Not measured: ${skipped.map(({ what, why }) => `${what} (${why})`).join('; ')}.`] : []),
    `\`npm run bench -- ${name}\``
  ]
  return `\n${parts.join('\n\n')}\n`
}

function wrapped(paragraph: string): string {
  return paragraph.replaceAll(/(.{1,120})(?: |$)/g, '$1\n').trimEnd()
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
  writeReport(positionals.length > 0 ? positionals : [newestWhole()], values.out)
}

/**
 * Runs mutation tests on the operations with `npm run mutation`, which takes one to two hours.
 * Stryker changes one place in the source at a time. At least one test must fail for each change.
 *
 *     npm run mutation                       all folders; writes test/mutation/result.json
 *     npm run mutation -- idempotency messages               these folders; updates their results
 *     npm run mutation -- --again messages                   mutants whose line or tests changed
 *     npm run mutation -- src/messages/totals.ts             this file; updates its result
 *     npm run mutation -- src/messages/totals.ts:10-20       these lines; writes nothing
 *
 * Afterwards, run `npm run docs` to update docs/contributing/mutation-results.md.
 *
 * Exits 1 if a folder scores less than 90 %, or if test/mutation/reasons.json lacks a reason for a
 * survivor or has one for a killed mutant.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import {
  type FileResult,
  FOLDERS,
  keyOf,
  looseEnds,
  MIN_SCORE,
  type MutationResult,
  RESULT_FILE,
  readReasons,
  readResult,
  rowsOf,
  type Survivor
} from '../test/mutation/report.js'
import { installLockedPackages } from './installed.js'

type Folder = (typeof FOLDERS)[number]

const root = join(import.meta.dirname, '..')
/**
 * Few contributors need Stryker, so it has its own lock file. Stryker uses the project's Vitest.
 */
const installed = await installLockedPackages(join(root, 'test/mutation'))
const stryker = join(installed, 'node_modules/@stryker-mutator/core/bin/stryker.js')

/** The tests of the wire schemas. They run first when a file named schemas.ts is mutated. */
const SHAPES = ['wire-schemas', 'document'].map((name) => `test/openapi/${name}.test.ts`)
const OPERATIONS = [
  'test/domain/assumptions.test.ts',
  'test/coverage/coverage.test.ts',
  ...['examples', 'document', 'operations'].map((name) => `test/openapi/${name}.test.ts`)
]

/** The tests for the code of each folder, in the order they run. */
const TESTS: Record<Folder, string[]> = {
  idempotency: [
    ...testsIn('idempotency'),
    'test/faults/effects.test.ts',
    'test/http/log.test.ts',
    ...testsIn('integrations')
  ],
  integrations: [
    ...testsIn('integrations'),
    'test/control/records/integrations.test.ts',
    ...OPERATIONS
  ],
  // Reverse the message tests, so that the slowest file runs last.
  messages: [
    ...testsIn('messages').toReversed(),
    'test/control/records/messages.test.ts',
    ...OPERATIONS
  ],
  'workflow-steps': [...testsIn('workflow-steps'), ...OPERATIONS]
}

/** A mutant in Stryker's report. Lines and columns are 1-based. */
interface Mutant {
  status: string
  /** The message of the failed test, if the mutant was killed. */
  statusReason?: string
  replacement: string
  location: Record<'start' | 'end', { line: number; column: number }>
}

interface Run {
  /** Stryker's patterns: a path, optionally with `:` and a range of lines or positions. */
  files: string[]
  tests: string[]
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'mutation-'))
  // Ctrl+C also sends SIGINT to Stryker, which then exits. Ignore the signal here, so that the
  // cleanup below still runs.
  process.on('SIGINT', () => {})
  try {
    const names = args.filter((name) => name !== '--again')
    const runs = (names.length > 0 ? names : FOLDERS).flatMap(runsOf)
    let results: MutationResult = {}
    for (const run of runs) {
      const result = resultOf(await mutate(run, scratch, args.includes('--again')))
      printSurvivors(result)
      // Write each result right away, because a later run may fail or be stopped.
      if (run.files.every(isWhole)) writeResult(run.files, result)
      results = { ...results, ...result }
    }
    return printScores(
      results,
      runs.flatMap(({ files }) => files)
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * Returns the runs for a folder, a file or some lines of a file. Code and wire schemas need
 * separate runs, because they have different tests.
 */
function runsOf(name: string): Run[] {
  const folder = FOLDERS.find((known) => name === known || name.startsWith(`src/${known}/`))
  if (!folder) throw new Error(`${name} is not in any of the folders ${FOLDERS.join(', ')}`)
  const isFolder = name === folder
  const files = isFolder
    ? readdirSync(join(root, 'src', folder)).map((file) => `src/${folder}/${file}`)
    : [name]
  const shapes = files.filter((file) => file.includes('/schemas.ts'))
  const code = files.filter((file) => !shapes.includes(file))
  const runs = [
    { files: code, tests: TESTS[folder] },
    { files: shapes, tests: [...new Set([...SHAPES, ...TESTS[folder]])] }
  ]
  return runs.filter((run) => run.files.length > 0)
}

function testsIn(folder: string): string[] {
  const names = readdirSync(join(root, 'test', folder)).filter((name) =>
    /^[^.]+\.test\.ts$/.test(name)
  )
  return names.map((name) => `test/${folder}/${name}`)
}

async function mutate({ files, tests }: Run, scratch: string, again: boolean): Promise<Report> {
  const config = join(scratch, 'stryker.json')
  const output = join(scratch, 'report.json')
  const options = {
    mutate: files,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    plugins: ['@stryker-mutator/vitest-runner', './test/mutation/descriptions.mjs'],
    ignorers: ['descriptions'],
    incremental: true,
    force: !again,
    incrementalFile: join(installed, `${files.join('+').replaceAll('/', '-')}.json`),
    coverageAnalysis: 'perTest',
    ignorePatterns: ['/dist', '/bench', '/screenshots', '/coverage'],
    tempDirName: join(scratch, 'copy'),
    // The timeout is generous, so that a survivor doesn't count as a timeout on a busy machine.
    timeoutMS: 60_000,
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only', 'json'],
    jsonReporter: { fileName: output },
    allowConsoleColors: process.stdout.isTTY === true && !process.env.NO_COLOR
  }
  writeFileSync(config, JSON.stringify(options))
  console.log(`\n${files.join(' ')}`)
  const env = { ...process.env, MUTATION_TESTS: tests.join() }
  const child = spawn(process.execPath, [stryker, 'run', config], {
    cwd: root,
    env,
    stdio: 'inherit'
  })
  const [status, signal] = await once(child, 'exit')
  if (status !== 0) throw new Error(`stryker exited with ${status ?? signal}`)
  return JSON.parse(readFileSync(output, 'utf8'))
}

function resultOf({ files }: Report): MutationResult {
  const entries = Object.entries(files).map(([file, { source, mutants }]): [string, FileResult] => {
    const count = (...statuses: string[]) =>
      mutants.filter(({ status }) => statuses.includes(status)).length
    const survivors = mutants.filter(({ status }) => ['Survived', 'NoCoverage'].includes(status))
    // Vitest's timeout is shorter than Stryker's. If a mutant makes a test time out, Vitest fails
    // the test and Stryker reports the mutant as killed. Count that mutant as a timeout.
    const ended = mutants.filter(({ statusReason = '' }) =>
      /^Test timed out/.test(statusReason)
    ).length
    const result = {
      // The status RuntimeError means that the module no longer loads, so the mutant counts as
      // killed.
      killed: count('Killed', 'RuntimeError') - ended,
      timeout: count('Timeout') + ended,
      ignored: count('Ignored'),
      survivors: survivors.map((mutant) => survivorOf(mutant, source.split('\n')))
    }
    if (result.killed + result.timeout + result.ignored + survivors.length !== mutants.length) {
      throw new Error(`${file} has mutants with an unknown status`)
    }
    return [file, result]
  })
  return Object.fromEntries(
    entries.filter(
      ([, { killed, timeout, ignored, survivors }]) =>
        killed + timeout + ignored + survivors.length > 0
    )
  )
}

function survivorOf(
  { location: { start, end }, replacement, status }: Mutant,
  lines: string[]
): Survivor {
  const text = lines.slice(start.line - 1, end.line).join('\n')
  const behind = (lines[end.line - 1]?.length ?? 0) - (end.column - 1)
  return {
    line: lines[start.line - 1]?.trim() ?? '',
    original: onOneLine(text.slice(start.column - 1, text.length - behind)),
    replacement: onOneLine(replacement),
    isUncovered: status === 'NoCoverage'
  }
}

/** Returns code on one line of at most 80 characters. */
function onOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

function printSurvivors(result: MutationResult): void {
  for (const [file, { survivors }] of Object.entries(result)) {
    for (const survivor of survivors) {
      const outcome = survivor.isUncovered ? 'not run' : 'survived'
      console.log(`${outcome}  ${file}  ${keyOf(survivor)}`)
    }
  }
}

function isWhole(file: string): boolean {
  return existsSync(join(root, file))
}

/** Replaces the stored results of these files. */
function writeResult(files: readonly string[], result: MutationResult): void {
  const before = existsSync(RESULT_FILE) ? readResult() : {}
  const others = Object.entries(before).filter(([file]) => isWhole(file) && !files.includes(file))
  const entries = [...others, ...Object.entries(result)].toSorted(([one], [other]) =>
    one < other ? -1 : 1
  )
  writeFileSync(RESULT_FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
  console.log(`${relative(root, RESULT_FILE)} written. Run npm run docs next`)
}

/** Prints the scores and the problems, and returns the exit code. */
function printScores(result: MutationResult, files: readonly string[]): number {
  const rows = rowsOf(result)
  console.table(
    rows.map(({ name, counts, score }) => ({
      file: name,
      ...counts,
      score: `${score.toFixed(1)} %`
    }))
  )
  const low = rows.filter(({ isFolder, score }) => isFolder && score < MIN_SCORE)
  for (const { name, score } of low)
    console.error(`${name} scores ${score.toFixed(1)} %, less than ${MIN_SCORE} %`)
  const { unexplained, unused: unusedReasons } = looseEnds(result, readReasons())
  // A run for some lines doesn't show whether the reasons for other lines are still needed.
  const unused = files.every(isWhole) ? unusedReasons : []
  for (const mutant of unexplained) {
    console.error(`test/mutation/reasons.json has no reason for the survivor ${mutant}`)
  }
  for (const mutant of unused)
    console.error(`test/mutation/reasons.json has a reason for the killed mutant ${mutant}`)
  return low.length + unexplained.length + unused.length > 0 ? 1 : 0
}

/**
 * Mutation testing of the operations: `npm run mutation`. Stryker changes the source in one place after the other, and the
 * tests must notice. For one or two hours.
 *
 *     npm run mutation                                       all; writes test/mutation/result.json
 *     npm run mutation -- idempotency messages               these folders; writes what belongs to them
 *     npm run mutation -- --again messages                   the same, but for mutants whose line and tests are as they were
 *     npm run mutation -- src/messages/totals.ts:10-20       a file, or some lines, of which nothing is written
 *
 * Then `npm run docs` writes docs/contributing/mutation-results.md. Exits 1 if a folder scores less than 90 %, or a survivor has no reason in
 * test/mutation/reasons.json.
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
/** Where Stryker is installed: within the project, as it takes vitest from there, but not with it, as few need it. */
const installed = await installLockedPackages(join(root, 'test/mutation'))
const stryker = join(installed, 'node_modules/@stryker-mutator/core/bin/stryker.js')

/** What judges the shapes first. */
const SHAPES = ['wire-schemas', 'document'].map((name) => `test/openapi/${name}.test.ts`)
const OPERATIONS = [
  'test/domain/assumptions.test.ts',
  'test/coverage/coverage.test.ts',
  ...['examples', 'document', 'operations'].map((name) => `test/openapi/${name}.test.ts`)
]

/** What judges the code of each folder, in the order in which it runs. */
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
  // Backwards, as the first of them takes longest.
  messages: [
    ...testsIn('messages').toReversed(),
    'test/control/records/messages.test.ts',
    ...OPERATIONS
  ],
  'workflow-steps': [...testsIn('workflow-steps'), ...OPERATIONS]
}

/** A mutant as Stryker reports it. Lines and columns count from 1. */
interface Mutant {
  status: string
  /** Of a killed one what the test says that failed. */
  statusReason?: string
  replacement: string
  location: Record<'start' | 'end', { line: number; column: number }>
}

interface Run {
  /** A file may end with `:` and lines or positions, as Stryker takes them. */
  files: string[]
  tests: string[]
}

interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

process.exitCode = await main(process.argv.slice(2))

async function main(wanted: string[]): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'mutation-'))
  // Stryker gets the signal too, and ends; what stands after this is to run.
  process.on('SIGINT', () => {})
  try {
    const names = wanted.filter((name) => name !== '--again')
    const runs = (names.length > 0 ? names : FOLDERS).flatMap(runsOf)
    let found: MutationResult = {}
    for (const run of runs) {
      const result = resultOf(await mutate(run, scratch, wanted.includes('--again')))
      printSurvivors(result)
      // At once, as a later run may fail or be stopped.
      if (run.files.every(isWhole)) keep(run.files, result)
      found = { ...found, ...result }
    }
    return judge(
      found,
      runs.flatMap(({ files }) => files)
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Of a folder the code and the shapes apart, since other tests judge them. */
function runsOf(name: string): Run[] {
  const folder = FOLDERS.find((each) => name === each || name.startsWith(`src/${each}/`))
  if (!folder)
    throw new Error(`${name} is neither one of ${FOLDERS.join(', ')} nor a file in src/ of theirs`)
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
  const [config, output] = [join(scratch, 'stryker.json'), join(scratch, 'report.json')]
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
    // Generous, as a machine that is busy with other things must not make a timeout of a survivor.
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
  if (status !== 0) throw new Error(`stryker left with ${status ?? signal}`)
  return JSON.parse(readFileSync(output, 'utf8'))
}

function resultOf({ files }: Report): MutationResult {
  const entries = Object.entries(files).map(([file, { source, mutants }]): [string, FileResult] => {
    const count = (...statuses: string[]) =>
      mutants.filter(({ status }) => statuses.includes(status)).length
    const survivors = mutants.filter(({ status }) => ['Survived', 'NoCoverage'].includes(status))
    // By vitest, which ends a test sooner than Stryker does.
    const ended = mutants.filter(({ statusReason = '' }) =>
      /^Test timed out/.test(statusReason)
    ).length
    const found = {
      // With a mutant that is a runtime error the source can't even be loaded.
      killed: count('Killed', 'RuntimeError') - ended,
      timeout: count('Timeout') + ended,
      ignored: count('Ignored'),
      survivors: survivors.map((mutant) => survivorOf(mutant, source.split('\n')))
    }
    if (found.killed + found.timeout + found.ignored + survivors.length !== mutants.length) {
      throw new Error(`${file} has mutants with a status that is not known`)
    }
    return [file, found]
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

/** On one line, and cut off where it would be long. */
function onOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

function printSurvivors(found: MutationResult): void {
  for (const [file, { survivors }] of Object.entries(found)) {
    for (const each of survivors)
      console.log(`${each.isUncovered ? 'not run' : 'survived'}  ${file}  ${keyOf(each)}`)
  }
}

function isWhole(file: string): boolean {
  return existsSync(join(root, file))
}

/** Puts what was found in these files in the place of what was found before. */
function keep(files: readonly string[], found: MutationResult): void {
  const before = existsSync(RESULT_FILE) ? readResult() : {}
  const others = Object.entries(before).filter(([file]) => isWhole(file) && !files.includes(file))
  const entries = [...others, ...Object.entries(found)].toSorted(([one], [other]) =>
    one < other ? -1 : 1
  )
  writeFileSync(RESULT_FILE, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
  console.log(`${relative(root, RESULT_FILE)} written; now: npm run docs`)
}

/** Prints the scores of what was found, and what is to be done; returns the exit code. */
function judge(found: MutationResult, files: readonly string[]): number {
  const rows = rowsOf(found)
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
  const { unexplained, unused: unusedReasons } = looseEnds(found, readReasons())
  // Of some lines nothing can be said about the reasons of others.
  const unused = files.every(isWhole) ? unusedReasons : []
  for (const each of unexplained) console.error(`no reason in test/mutation/reasons.json: ${each}`)
  for (const each of unused) console.error(`a reason for what does not survive: ${each}`)
  return low.length + unexplained.length + unused.length > 0 ? 1 : 0
}

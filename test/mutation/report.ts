import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const FOLDERS = ['idempotency', 'integrations', 'messages', 'workflow-steps'] as const

/** The score that each folder must reach, in percent. */
export const MIN_SCORE = 90

/** A mutant that no test killed. */
export interface Survivor {
  /** The first source line of the mutated code, without its indentation. */
  line: string
  /** The original code and its replacement. */
  original: string
  replacement: string
  /** True if no test runs the mutated code. */
  isUncovered: boolean
}

export interface FileResult {
  killed: number
  timeout: number
  /** The number of mutants that change only a description. The score ignores them. */
  ignored: number
  survivors: Survivor[]
}

/** The results of a run, by path of the mutated file. */
export type MutationResult = Record<string, FileResult>

/** The reasons why mutants survive, by file and by the mutant's key (see `keyOf`). */
export type Reasons = Record<string, Record<string, string>>

const folder = import.meta.dirname
export const RESULT_FILE = join(folder, 'result.json')

export const readResult = (): MutationResult => JSON.parse(readFileSync(RESULT_FILE, 'utf8'))
export const readReasons = (): Reasons =>
  JSON.parse(readFileSync(join(folder, 'reasons.json'), 'utf8'))

/**
 * Returns the key of a surviving mutant in reasons.json. Changes to other lines of the source file
 * don't change the key.
 */
export const keyOf = ({ line, original, replacement }: Survivor): string =>
  `${line} :: ${original} → ${replacement}`

/** Returns the surviving mutants without a reason, and the reasons without a surviving mutant. */
export function looseEnds(
  result: MutationResult,
  reasons: Reasons
): { unexplained: string[]; unused: string[] } {
  const [unexplained, unused]: [string[], string[]] = [[], []]
  for (const [file, { survivors }] of Object.entries(result)) {
    const keys = new Set(survivors.map(keyOf))
    const explained = Object.keys(reasons[file] ?? {})
    unexplained.push(
      ...[...keys].filter((key) => !explained.includes(key)).map((key) => `${file}: ${key}`)
    )
    unused.push(...explained.filter((key) => !keys.has(key)).map((key) => `${file}: ${key}`))
  }
  return { unexplained, unused }
}

export interface Counts {
  killed: number
  timeout: number
  survived: number
  uncovered: number
  ignored: number
}

/** Adds up the counts of several files. */
function countsOf(files: readonly FileResult[]): Counts {
  const sum = (of: (file: FileResult) => number) =>
    files.reduce((total, file) => total + of(file), 0)
  return {
    killed: sum(({ killed }) => killed),
    timeout: sum(({ timeout }) => timeout),
    survived: sum(({ survivors }) => survivors.filter(({ isUncovered }) => !isUncovered).length),
    uncovered: sum(({ survivors }) => survivors.filter(({ isUncovered }) => isUncovered).length),
    ignored: sum(({ ignored }) => ignored)
  }
}

/** Returns the percentage of mutants that were killed or timed out, or 100 if there are none. */
function scoreOf({ killed, timeout, survived, uncovered }: Counts): number {
  const all = killed + timeout + survived + uncovered
  return all === 0 ? 100 : (100 * (killed + timeout)) / all
}

/** Returns a row for each folder and each mutated file. */
export function rowsOf(
  result: MutationResult
): { name: string; isFolder: boolean; counts: Counts; score: number }[] {
  return FOLDERS.flatMap((name) => {
    const files = Object.entries(result).filter(([file]) => file.startsWith(`src/${name}/`))
    if (files.length === 0) return []
    const rows = [
      { name: `${name}/`, isFolder: true, counts: countsOf(files.map(([, result]) => result)) },
      ...files.map(([file, result]) => ({
        name: file.replace('src/', ''),
        isFolder: false,
        counts: countsOf([result])
      }))
    ]
    return rows.map((row) => ({ ...row, score: scoreOf(row.counts) }))
  })
}

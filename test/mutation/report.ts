import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const FOLDERS = ['idempotency', 'integrations', 'messages', 'workflow-steps'] as const

/** In percent: what each folder must reach. */
export const MIN_SCORE = 90

/** A change of the source that no test has noticed. */
export interface Survivor {
  /** The first line of the source that has it, without indentation. */
  line: string
  /** What stands there, and what the mutant has instead. */
  original: string
  replacement: string
  /** Whether no test runs it. */
  isUncovered: boolean
}

export interface FileResult {
  killed: number
  timeout: number
  /** Words of documentation. */
  ignored: number
  survivors: Survivor[]
}

/** What a run has found, by the path of each mutated file. */
export type MutationResult = Record<string, FileResult>

/** Why a survivor may survive, by file and `keyOf`. */
export type Reasons = Record<string, Record<string, string>>

const folder = import.meta.dirname
export const RESULT_FILE = join(folder, 'result.json')

export const readResult = (): MutationResult => JSON.parse(readFileSync(RESULT_FILE, 'utf8'))
export const readReasons = (): Reasons =>
  JSON.parse(readFileSync(join(folder, 'reasons.json'), 'utf8'))

/** As it stands in `reasons.json`: the same whatever is added above or below it in its file. */
export const keyOf = ({ line, original, replacement }: Survivor): string =>
  `${line} :: ${original} → ${replacement}`

/** The survivors that nobody has looked at, and the reasons in these files that belong to no survivor. */
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

/** The sum over some files. */
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

/** The share of mutants that are noticed, in percent; 100 when there are none. */
function scoreOf({ killed, timeout, survived, uncovered }: Counts): number {
  const all = killed + timeout + survived + uncovered
  return all === 0 ? 100 : (100 * (killed + timeout)) / all
}

/** A row for each file and each folder that has been run: name, counts, score. */
export function rowsOf(
  result: MutationResult
): { name: string; isFolder: boolean; counts: Counts; score: number }[] {
  return FOLDERS.flatMap((name) => {
    const files = Object.entries(result).filter(([file]) => file.startsWith(`src/${name}/`))
    if (files.length === 0) return []
    const rows = [
      { name: `${name}/`, isFolder: true, counts: countsOf(files.map(([, each]) => each)) },
      ...files.map(([file, each]) => ({
        name: file.replace('src/', ''),
        isFolder: false,
        counts: countsOf([each])
      }))
    ]
    return rows.map((row) => ({ ...row, score: scoreOf(row.counts) }))
  })
}

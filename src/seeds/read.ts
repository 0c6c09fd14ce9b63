import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../core/package-root.js'
import { suggest } from '../core/suggest.js'
import { findIssues, pathText } from '../core/validation.js'
import { inOrderOfText, SeedError, type SeedMistake } from './errors.js'
import { Seed } from './format.js'
import { readText, type SeedText } from './yaml.js'

export { SeedError } from './errors.js'

/** A seed that has the format, with the means to point into it. */
export interface SeedFile {
  name: string
  seed: Seed
  mistakeAt: SeedText['mistakeAt']
}

/** A seed that is no file. */
export interface SeedValue {
  /** Stands for the file in mistakes. */
  name: string
  /** Text, YAML or JSON, or what such a text says. */
  seed: string | object
}

/**
 * Reads seeds: files, names of seeds that come with the package, or values. Throws SeedError with every breach of the
 * format in any of them.
 */
export function readSeeds(seeds: readonly (string | SeedValue)[]): SeedFile[] {
  const mistakes: SeedMistake[] = []
  const files = seeds.flatMap((seed) => {
    try {
      return typeof seed === 'string' ? readSeedFile(seed) : readSeed(seed)
    } catch (error) {
      if (!(error instanceof SeedError)) throw error
      mistakes.push(...error.mistakes)
      return []
    }
  })
  if (mistakes.length > 0) throw new SeedError(mistakes)
  return files
}

/** Where a seed is: a file, or one of those that come with the package, by its bare name. */
export function seedPath(seed: string): string {
  if (!/^[\w-]+$/.test(seed) || statSync(seed, { throwIfNoEntry: false })?.isFile()) return seed
  const own = join(ownSeeds(), `${seed}.yaml`)
  return existsSync(own) ? own : seed
}

function ownSeeds(): string {
  return join(packageRoot(), 'seeds')
}

function readSeedFile(seed: string): SeedFile {
  const file = seedPath(seed)
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (error) {
    throw new SeedError([{ file, path: '', message: `can't be read: ${whyUnreadable(file, error)}` }])
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new SeedError([{ file, path: '', message: "can't be read: it is not UTF-8; save it as UTF-8" }])
  }
  return readSeed({ name: file, seed: text })
}

function whyUnreadable(file: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT') return UNREADABLE[code ?? ''] ?? String(code)
  const own = readdirSync(ownSeeds())
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length))
  const meant = suggest(file, own)
  return `there is no such file, nor a seed of this name; ${meant ? `did you mean ${meant}?` : `of our own there are: ${own.join(', ')}`}`
}

const UNREADABLE: Record<string, string> = {
  EACCES: 'it is not allowed to read it; check the permissions',
  EISDIR: 'it is a folder; name a file in it',
  ENOTDIR: 'a part of its path is no folder'
}

function readSeed({ name, seed }: SeedValue): SeedFile {
  const { value, mistakes, mistakeAt } = typeof seed === 'string' ? readText(seed, name) : readValue(seed, name)
  const breaches = findIssues(Seed, value).map(({ path, message, hint, part }) =>
    mistakeAt(path, `${message}${hint}`, part)
  )
  if (value === null) throw new SeedError([mistakeAt([], EMPTY)])
  const all = [...mistakes, ...breaches].sort(inOrderOfText)
  if (all.length > 0) throw new SeedError(all)
  return { name, seed: value as Seed, mistakeAt }
}

const EMPTY = 'is empty: a seed begins with environments, and `environments: []` is a seed of nothing'

/** What the value is in JSON. There is no text to point into. */
function readValue(seed: object, file: string): SeedText {
  const mistakeAt: SeedText['mistakeAt'] = (path, message) => ({ file, path: pathText(path), message })
  try {
    return { value: JSON.parse(JSON.stringify(seed)), mistakes: [], mistakeAt }
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    throw new SeedError([mistakeAt([], `can't be read as JSON: ${reason}`)])
  }
}

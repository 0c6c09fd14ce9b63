import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../core/errors.js'
import { packageRoot } from '../core/package.js'
import { suggest } from '../core/suggest.js'
import { findIssues, pathText } from '../core/validation.js'
import { byLocation, createIssue, SeedError, type SeedIssue } from './errors.js'
import { Seed } from './format.js'
import { readText, type SeedText } from './yaml.js'

/** A seed that has the format. */
export interface SeedFile {
  seed: Seed
  issueAt: SeedText['issueAt']
}

/** A seed that is no file. */
export interface SeedValue {
  /** Stands for the file in issues. */
  name: string
  /** Text, YAML or JSON, or the value of such a text. */
  seed: string | object
  /** The value of the text, if it is known to be a seed. */
  value?: unknown
}

/** Reads seeds: files, names of packaged seeds, or values. Throws SeedError with all that breaks the format. */
export function readSeeds(seeds: readonly (string | SeedValue)[]): SeedFile[] {
  const issues: SeedIssue[] = []
  const files = seeds.flatMap((seed) => {
    try {
      return readSeed(typeof seed === 'string' ? readFile(seedPath(seed)) : seed)
    } catch (error) {
      if (!(error instanceof SeedError)) throw error
      issues.push(...error.issues)
      return []
    }
  })
  if (issues.length > 0) throw new SeedError(issues)
  return files
}

/** The path of a seed: a file, or one that comes with the package, by its bare name. */
export function seedPath(seed: string): string {
  if (!/^[\w-]+$/.test(seed) || statSync(seed, { throwIfNoEntry: false })?.isFile()) return seed
  const packaged = join(packageRoot(), 'seeds', `${seed}.yaml`)
  return existsSync(packaged) ? packaged : seed
}

function readFile(file: string): SeedValue {
  try {
    const seed = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    return { name: file, seed, value: packagedValue(file, seed) }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? notFoundMessage(file) : (READ_ERRORS[code] ?? code)
    throw new SeedError([createIssue({ file, path: '', message: `can't be read: ${reason}` })])
  }
}

/** The value of a seed that is published as checked JSON too: to read and check its YAML takes longer than the rest of a start. */
function packagedValue(file: string, text: string): unknown {
  const parsed = file.replace(/\.yaml$/, '.parsed.json')
  if (!file.startsWith(packageRoot()) || !existsSync(parsed)) return undefined
  const { sha256, seed } = attempt(() => JSON.parse(readFileSync(parsed, 'utf8'))) ?? {}
  return sha256 === packagedHash(text, seed) ? seed : undefined
}

/** The hash that a packaged seed has in JSON: of another text, or damaged, it is not used. */
export function packagedHash(text: string, seed: unknown): string {
  return hash('sha256', text + JSON.stringify(seed), 'hex')
}

const READ_ERRORS: Record<string, string> = {
  EACCES: 'permission denied; check the permissions',
  EISDIR: 'it is a folder; name a file in it',
  ENOTDIR: 'a part of its path is not a folder',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8; save it as UTF-8'
}

function notFoundMessage(file: string): string {
  const names = readdirSync(join(packageRoot(), 'seeds')).flatMap((name) => /^(.+)\.yaml$/.exec(name)?.[1] ?? [])
  const suggested = suggest(file, names)
  const remedy = suggested ? `did you mean ${suggested}?` : `the package has ${names.join(', ')}`
  return `there is no such file, nor a seed of this name; ${remedy}`
}

function readSeed({ name, seed, value: known }: SeedValue): SeedFile {
  const { value, issues, issueAt } = typeof seed === 'string' ? readText(seed, name, known) : readValue(seed, name)
  if (value === null) throw new SeedError([issueAt([], EMPTY)])
  const found = known === undefined ? findIssues(Seed, value) : []
  for (const { path, message, hint, part } of found) issues.push(issueAt(path, message + hint, part))
  if (issues.length > 0) throw new SeedError(issues.sort(byLocation))
  return { seed: value as Seed, issueAt }
}

const EMPTY = 'is empty: a seed begins with environments, and `environments: []` is a seed of nothing'

/** A copy, as it is in JSON. */
function readValue(seed: object, file: string): SeedText {
  const issueAt: SeedText['issueAt'] = (path, message) => createIssue({ file, path: pathText(path), message })
  try {
    return { value: JSON.parse(JSON.stringify(seed)), issues: [], issueAt }
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    throw new SeedError([issueAt([], `can't be read as JSON: ${reason}`)])
  }
}

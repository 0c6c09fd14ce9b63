import { hash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { TextDecoder } from 'node:util'
import { attempt } from '../core/errors.js'
import { findExcess, TOO_DEEP } from '../core/excess.js'
import { packageRoot } from '../core/package.js'
import { runInSlices, runToEnd } from '../core/slices.js'
import { suggest } from '../core/suggest.js'
import { type FoundIssues, findingIssues, pathText } from '../core/validation.js'
import { addIssue, byLocation, createIssue, SeedError, type SeedIssue } from './errors.js'
import { Seed, SeedEnvironment, SeedIntegration, SeedMessage, SeedSubscriber, SeedWorkflow, UNNAMED } from './format.js'
import { isObject, type Report } from './json-schema.js'
import { checkingRecord, FILE_LIMITS, REQUEST_LIMITS, type SeedLimits, tooMuch } from './limits.js'
import { packagedNames, packagedPath } from './packaged.js'
import { checkingSchemas } from './step-schemas.js'
import { readText } from './text.js'
import type { SeedText } from './yaml.js'

/** A seed that has the format. */
export interface SeedFile {
  seed: Seed
  /** What applying it may add to it. */
  limits: SeedLimits
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

/** A seed that comes with the package, whatever files there are. */
interface PackagedSeed {
  packaged: string
}

/** Reads seeds: files, names of packaged seeds, or values. Throws SeedError with what breaks the format or a limit. */
export function readSeeds(seeds: readonly (string | SeedValue)[]): SeedFile[] {
  return runToEnd(readingSeeds(seeds))
}

/** Does what `readSeeds` does, in steps. */
export function* readingSeeds(seeds: readonly (string | SeedValue | PackagedSeed)[]): Generator<void, SeedFile[]> {
  const files: SeedFile[] = []
  const issues: SeedIssue[] = []
  let more = 0
  for (const seed of seeds) {
    try {
      files.push(yield* readingSeed(sourceOf(seed), FILE_LIMITS))
    } catch (error) {
      if (!(error instanceof SeedError)) throw error
      issues.push(...error.issues)
      more += error.more
    }
  }
  if (issues.length > 0) throw new SeedError(issues, more)
  return files
}

/**
 * Reads the seed of a request, text or value, in slices of some milliseconds. Rejects with SeedError with what breaks the
 * format or a limit, and when `check`, which is called between slices, throws. A value belongs to the seed then: it is not
 * copied.
 */
export async function readSeed(seed: string | object, check?: () => void): Promise<SeedFile> {
  return runInSlices(readingSeed({ name: 'seed', seed }, REQUEST_LIMITS), check)
}

/** The path of a seed: a file, or one that comes with the package, by its bare name. */
export function seedPath(seed: string): string {
  if (!/^[\w-]+$/.test(seed) || statSync(seed, { throwIfNoEntry: false })?.isFile()) return seed
  const packaged = packagedPath(seed)
  return existsSync(packaged) ? packaged : seed
}

function sourceOf(seed: string | SeedValue | PackagedSeed): SeedValue {
  if (typeof seed === 'string') return readFile(seedPath(seed))
  return 'packaged' in seed ? readFile(packagedPath(seed.packaged)) : seed
}

function readFile(file: string): SeedValue {
  try {
    const { json, where, remedy } = FILE_LIMITS
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > json) {
      throw new SeedError([createIssue({ file, path: '', message: tooMuch('bytes', json, where, remedy) })])
    }
    const seed = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    return { name: file, seed, value: packagedValue(file, seed) }
  } catch (error) {
    if (error instanceof SeedError) throw error
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
  const names = packagedNames()
  const suggested = suggest(file, names)
  const remedy = suggested ? `did you mean ${suggested}?` : `the package has ${names.join(', ')}`
  return `there is no such file, nor a seed of this name; ${remedy}`
}

function* readingSeed({ name, seed, value: known }: SeedValue, limits: SeedLimits): Generator<void, SeedFile> {
  if (known !== undefined && typeof seed === 'string') return knownSeed(seed, name, known)
  const text = typeof seed === 'string' ? yield* readText(seed, name, limits) : readValue(seed, name, limits)
  const { value, issues, issueAt } = limits === REQUEST_LIMITS ? withEnvironments(text) : text
  if (value === null) throw new SeedError([issueAt([], EMPTY)])
  const report: Report = (path, message) => addIssue(issues, () => issueAt(path, message()))
  yield* checkSeed(value, report, (found) => {
    for (const { path, message, hint, part } of found.issues) {
      addIssue(issues, () => issueAt(path, message + hint, part))
    }
    issues.more += found.more
  })
  if (issues.issues.length > 0) throw new SeedError(issues.issues.sort(byLocation), issues.more)
  return { seed: value as Seed, limits, issueAt }
}

/** A seed that is known to have the format: its text is read only if there is an issue to locate. */
function knownSeed(text: string, file: string, known: unknown): SeedFile {
  let read: SeedText | undefined
  return {
    seed: known as Seed,
    limits: FILE_LIMITS,
    issueAt(...issue) {
      read ??= runToEnd(readText(text, file, FILE_LIMITS))
      return read.issueAt(...issue)
    }
  }
}

const EMPTY = 'is empty: a seed begins with environments, and `environments: []` is a seed of nothing'

/** Returns a seed whose one environment may be given alone, without a name. Its issues are located as it was given. */
function withEnvironments({ value, issues, issueAt }: SeedText): SeedText {
  const isWhole = !isObject(value) || Object.keys(value).some((field) => suggest(field, ['environments']))
  if (isWhole) return { value, issues, issueAt }
  const { $schema, ...environment } = value
  return {
    value: { environments: [{ name: UNNAMED, ...environment }] },
    issues,
    // Without `environments` and the index.
    issueAt: (path, ...issue) => issueAt(path.slice(2), ...issue)
  }
}

/** The lists of records of an environment, and the schema of each. */
const RECORDS = {
  integrations: SeedIntegration,
  subscribers: SeedSubscriber,
  workflows: SeedWorkflow,
  messages: SeedMessage
}

/** Checks a value record by record, as a large seed has many, and calls back with the issues of each part. */
function* checkSeed(value: unknown, report: Report, onIssues: (found: FoundIssues) => void): Generator<void, void> {
  const environments = listIn(value, 'environments')
  onIssues(yield* findingIssues(Seed, environments ? { ...(value as object), environments: [] } : value))
  for (const [index, environment] of (environments ?? []).entries()) {
    yield
    const base = ['environments', index]
    const lists = Object.entries(RECORDS).flatMap(([field, schema]) => {
      const records = listIn(environment, field)
      return records ? [{ field, schema, records }] : []
    })
    const emptied = lists.map(({ field }) => [field, []])
    const settings = lists.length > 0 ? { ...(environment as object), ...Object.fromEntries(emptied) } : environment
    onIssues(yield* findingIssues(SeedEnvironment, settings, base))
    for (const { field, schema, records } of lists) {
      for (const [at, record] of records.entries()) {
        yield
        const path = [...base, field, at]
        const problem = yield* checkingRecord(record)
        if (problem) {
          report(path, () => problem)
          continue
        }
        const found = yield* findingIssues(schema, record, path)
        onIssues(found)
        const isWorkflow = schema === SeedWorkflow && found.issues.length === 0
        if (isWorkflow) yield* checkingSchemas(record as SeedWorkflow, path, report)
      }
    }
  }
}

function listIn(value: unknown, field: string): unknown[] | undefined {
  const list = isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined
  return Array.isArray(list) ? list : undefined
}

/** A copy, as it is in JSON. Of a request it is the value itself, whose size and depth were looked at as it was parsed. */
function readValue(seed: object, file: string, limits: SeedLimits): SeedText {
  const issueAt: SeedText['issueAt'] = (path, message) => createIssue({ file, path: pathText(path), message })
  const value = limits === REQUEST_LIMITS ? seed : copyOf(seed, limits, issueAt)
  return { value, issues: { issues: [], more: 0 }, issueAt }
}

function copyOf(seed: object, { jsonValues }: SeedLimits, issueAt: SeedText['issueAt']): unknown {
  try {
    const json = JSON.stringify(seed)
    const excess = findExcess(json, jsonValues)
    if (excess) throw new SeedError([issueAt([], excess.message)])
    return JSON.parse(json)
  } catch (error) {
    if (error instanceof SeedError) throw error
    const [reason] = (error as Error).message.split('\n')
    const isDeep = error instanceof RangeError && /call stack/.test(error.message)
    throw new SeedError([issueAt([], isDeep ? TOO_DEEP : `can't be read as JSON: ${reason}`)])
  }
}

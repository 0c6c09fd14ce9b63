import { existsSync, statSync } from 'node:fs'
import { TextDecoder } from 'node:util'
import { type TObject, Type } from '@sinclair/typebox'
import { isTooDeep, TOO_DEEP } from '../core/depth.js'
import { attempt, invalidFields } from '../core/errors.js'
import { readRegularFile } from '../core/read-file.js'
import { didYouMean, suggest } from '../core/suggest.js'
import { compile, strictObject } from '../core/typebox.js'
import { findIssues, type Path, pathText, type ValidationIssue } from '../core/validation.js'
import { createIssue, errorOf, type IssueList, isFull, SeedError } from './errors.js'
import { Seed, SeedEnvironment, SeedIntegration, SeedMessage, SeedSubscriber, SeedWorkflow, UNNAMED } from './format.js'
import { FILE_LIMITS, formatLimit, REQUEST_LIMITS, recordProblem, type SeedLimits } from './limits.js'
import { packagedNames, packagedPath } from './packaged.js'
import { type IssueAt, readYaml, yamlLocator } from './yaml.js'

/** A seed as it was given: its value, which `resolveSeeds` takes, with what is wrong with that. */
export interface SeedFile {
  /** Without the values that have issues. */
  seed: Seed
  /** What applying it may add to it. */
  limits: SeedLimits
  issueAt: IssueAt
  /** What breaks the format. */
  issues: IssueList
}

const incomplete = new WeakSet<object>()

/** Whether a record of a seed lacks what it was given, as that has an issue. */
export const isIncomplete = (record: object): boolean => incomplete.has(record)

/** A seed that is no file. */
export interface SeedValue {
  /** Stands for the file in issues. */
  name: string
  /** Text, YAML or JSON, or the value of such a text. */
  seed: string | object
}

/**
 * Reads seeds: files, names of packaged seeds, or values. What breaks the format is told by `resolveSeeds`, with all else
 * that is wrong. Throws SeedError only when one of them has no value: for syntax, limits, and a file that can't be read.
 */
export function readSeeds(seeds: readonly (string | SeedValue)[]): SeedFile[] {
  const files: SeedFile[] = []
  const issues: IssueList[] = []
  for (const seed of seeds) {
    try {
      const file = typeof seed === 'string' ? readFile(seedPath(seed)) : readValue(seed)
      files.push(file)
      issues.push(file.issues)
    } catch (error) {
      if (!(error instanceof SeedError)) throw error
      issues.push(error.issues.map((issue) => () => issue))
    }
  }
  if (files.length < seeds.length) throw errorOf(issues)
  return files
}

/** Reads the seed of a request, text or value, as `readSeeds` does, which may be the content of one environment. */
export function readSeed(seed: string | object): SeedFile {
  return readValue({ name: 'seed', seed }, REQUEST_LIMITS)
}

/** Reads the first environment of a packaged seed. Throws `invalid` for a name of none. */
export function readScenario(name: string): SeedFile {
  const names = packagedNames()
  if (!names.includes(name)) {
    const message = `scenario must be the name of a packaged seed, ${names.join(', ')}${didYouMean(name, names)}`
    throw invalidFields({ scenario: { messages: [message], value: name } })
  }
  const file = scenarios.get(name) ?? readFile(packagedPath(name))
  scenarios.set(name, file)
  return { ...file, seed: { environments: file.seed.environments.slice(0, 1) } }
}

/** A packaged seed never changes, and its YAML takes longer to read than to load. */
const scenarios = new Map<string, SeedFile>()

/** The path of a seed: a file, or one that comes with the package, by its bare name. */
export function seedPath(seed: string): string {
  if (!/^[\w-]+$/.test(seed) || statSync(seed, { throwIfNoEntry: false })?.isFile()) return seed
  const packaged = packagedPath(seed)
  return existsSync(packaged) ? packaged : seed
}

function readFile(file: string): SeedFile {
  let seed: string
  try {
    seed = new TextDecoder('utf-8', { fatal: true }).decode(readRegularFile(file))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const names = packagedNames()
    const remedy = didYouMean(file, names) || `; the package has ${names.join(', ')}`
    const reasons: Record<string, string> = {
      ENOENT: `there is no such file, nor a seed of this name${remedy}`,
      EACCES: 'permission denied; check the permissions',
      EISDIR: 'it is a folder; name a file in it'
    }
    const reason = reasons[code ?? ''] ?? message
    throw new SeedError([createIssue({ file, path: '', message: `can't be read: ${reason}` })])
  }
  return readValue({ name: file, seed })
}

function readValue({ name, seed }: SeedValue, limits = FILE_LIMITS): SeedFile {
  const text = typeof seed === 'string' ? seed.replace(/^\uFEFF/, '') : undefined
  // What is too long to be read as YAML has no lines.
  const issueAt: IssueAt =
    text !== undefined && text.length <= limits.yaml
      ? yamlLocator(text, name)
      : (path, message) => createIssue({ file: name, path: pathText(path), message })
  const fail = (message: string) => new SeedError([createIssue({ file: name, path: '', message })])
  const value = text === undefined ? jsonCopy(seed as object, fail) : readText(text, name, limits, fail)
  if (value === null) throw new SeedError([issueAt([], EMPTY)])
  if (isTooDeep(value)) throw new SeedError([issueAt([], TOO_DEEP)])
  const issues: IssueList = []
  // A text without a long number has none that is too large, and the numbers of a program are what they are.
  const inexact = /\d{16}/.test(text ?? '') || limits === REQUEST_LIMITS ? inexactNumbers(value) : []
  for (const path of inexact) issues.push(() => issueAt(path, INEXACT))
  if (!isObject(value) || !isOneEnvironment(value, limits)) return checkedSeed(value, { limits, issues, issueAt })
  if (limits === FILE_LIMITS) issues.push(() => issueAt([], unwrapped(value, /^\s*[[{]/.test(text ?? '{'))))
  const { $schema, ...environment } = value
  return checkedSeed(
    { environments: [{ name: UNNAMED, ...environment }] },
    // Without `environments` and the index.
    { limits, issues, issueAt: (path, ...issue) => issueAt(path.slice(2), ...issue) }
  )
}

const INEXACT = `is a number beyond ${Number.MAX_SAFE_INTEGER}, which JSON would round: write it as text, in quotes`

/** Returns the paths of the whole numbers that are too large to be exact. */
function inexactNumbers(value: unknown): Path[] {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? [[]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) =>
    inexactNumbers(each).map((path) => [Array.isArray(value) ? Number(name) : name, ...path])
  )
}

const EMPTY = 'is empty: a seed begins with environments, and `environments: []` is a seed of nothing'

/** Says how to wrap the content of an environment: what is so far may be in braces, and may have a name. */
function unwrapped(content: object, isJson: boolean): string {
  const name = Object.hasOwn(content, 'name') ? '' : isJson ? '"name": "Shop", ' : ' name: Shop'
  const yaml = `begin with \`environments:\`, then \`  -${name}\`, and indent all of this by 4 spaces`
  const json = `put it into \`{ "environments": [{ ${name}… }] }\``
  return `must have environments, and has what one of them has: ${isJson ? json : yaml}`
}

/** Whether a seed has no environments, but the content of one; in a request that may be any. */
function isOneEnvironment(value: object, limits: SeedLimits): boolean {
  const names = Object.keys(value)
  if (names.some((field) => suggest(field, ['environments']))) return false
  return limits === REQUEST_LIMITS || names.some((field) => Object.hasOwn(SeedEnvironment.properties, field))
}

/** A copy, as it is in JSON. */
function jsonCopy(seed: object, fail: (message: string) => SeedError): unknown {
  try {
    return JSON.parse(JSON.stringify(seed))
  } catch (error) {
    const [reason] = (error as Error).message.split('\n')
    throw fail(error instanceof RangeError ? TOO_DEEP : `can't be read as JSON: ${reason}`)
  }
}

/** Returns the value of a text, JSON or YAML. Throws SeedError with all that keeps it from having a value. */
function readText(text: string, file: string, limits: SeedLimits, fail: (message: string) => SeedError): unknown {
  const { json: maxJson, yaml: maxYaml, where, remedy } = limits
  const most = (kind: string, limit: number) =>
    `has more than ${formatLimit(limit)} of ${kind}, the most that a seed may have ${where}: `
  if (text.length > maxJson) throw fail(most('JSON', maxJson) + remedy)
  const json = /^\s*[[{]/.test(text) ? attempt(() => ({ value: JSON.parse(text) as unknown })) : undefined
  if (json) return json.value
  if (text.length <= maxYaml) return readYaml(text, file, limits)
  throw fail(`${most('YAML', maxYaml)}write it as JSON, which may have ${formatLimit(maxJson)}, or ${remedy}`)
}

/** The lists of records of an environment, and the schema of each. */
const RECORDS = {
  integrations: SeedIntegration,
  subscribers: SeedSubscriber,
  workflows: SeedWorkflow,
  messages: SeedMessage
}

const LIST = Type.Array(Type.Unknown())
/** A seed but for its environments, and an environment but for its records: to check them one by one, and to compile less. */
const SeedSettings = strictObject({ ...Seed.properties, environments: LIST })
const EnvironmentSettings = strictObject({
  ...SeedEnvironment.properties,
  ...Object.fromEntries(Object.keys(RECORDS).map((field) => [field, Type.Optional(LIST)]))
})

type Fields = Record<string, unknown>

/** The one issue that is counted of a value when the report is full. */
const UNTOLD: ValidationIssue[] = [{ path: [], message: '', hint: '', part: 'value' }]

/** Returns a value as a seed without what breaks the format, and adds an issue of each. */
function checkedSeed(value: unknown, file: Pick<SeedFile, 'limits' | 'issues' | 'issueAt'>): SeedFile {
  const { issues, issueAt } = file
  const { environments = [], ...settings } = checked(SeedSettings, value, [])
  const seed = { ...settings, environments: (environments as unknown[]).map(checkedEnvironment) } as Seed
  return { ...file, seed }

  function checkedEnvironment(environment: unknown, index: number): Fields {
    const path = ['environments', index]
    const settings = checked(EnvironmentSettings, environment, path)
    const lists = Object.entries(RECORDS).flatMap(([field, schema]) => {
      if (!isObject(environment) || !Object.hasOwn(environment, field)) return []
      // For a list that is none there is a record of which nothing is known.
      const records = Array.isArray(settings[field]) ? settings[field] : [lacking({})]
      return [[field, records.map((record, at) => checkedRecord(schema, record, [...path, field, at]))]]
    })
    const hasKeys = !isObject(environment) || settings.apiKeys !== undefined || environment.apiKeys === undefined
    return { name: pathText(path), ...settings, ...Object.fromEntries(lists), ...(!hasKeys && { apiKeys: [] }) }
  }

  function checkedRecord(schema: TObject, record: unknown, path: Path): object {
    if (isObject(record) && incomplete.has(record)) return record
    const problem = recordProblem(record)
    if (!problem) return checked(schema, record, path)
    issues.push(() => issueAt(path, problem))
    return lacking({})
  }

  /** Returns the value, or one of those of its fields that have no issue. */
  function checked(schema: TObject, value: unknown, path: Path): Fields {
    if (compile(schema).Check(value)) return value as Fields
    // Which ones there are is not told any more, and such a seed is not resolved.
    const found = isFull(issues) ? UNTOLD : findIssues(schema, value)
    issues.push(
      ...found.map(({ path: inner, message, hint, part }) => () => {
        return issueAt([...path, ...inner], message + hint, part)
      })
    )
    const wrong = new Set(found.map(({ path: [field] }) => field))
    // Who has a subscriber embedded refers to no other.
    if (wrong.has('subscriber')) wrong.add('subscriberId')
    return lacking(
      Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(([name]) => !wrong.has(name)))
    )
  }

  function lacking(value: Fields): Fields {
    incomplete.add(value)
    return value
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

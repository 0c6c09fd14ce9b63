import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TextDecoder } from 'node:util'
import { attempt, invalidFields } from '../domain/errors.js'
import { didYouMean, suggest } from '../domain/suggestions.js'
import { packageRoot } from '../platform/package.js'
import { readRegularFile } from '../platform/read-file.js'
import {
  findIssues,
  isObject,
  isTooDeep,
  MAX_ISSUES,
  type Path,
  TOO_DEEP
} from '../schema/validation.js'
import { createIssue, errorOf, type IssueList, SeedError } from './errors.js'
import { Seed, SeedEnvironment, UNNAMED } from './format.js'
import {
  FILE_LIMITS,
  formatLimit,
  REQUEST_LIMITS,
  recordProblem,
  type SeedLimits
} from './limits.js'
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

/** A seed that is no file. */
export interface SeedValue {
  /** Stands for the file in issues. */
  name: string
  /** Text, YAML or JSON, or the value of such a text. */
  seed: string | object
}

/**
 * Reads seeds: files, names of built-in seeds, or values. What breaks the format is told by `resolveSeeds`, with all else
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

/** Reads the first environment of a built-in seed. Throws `invalid` for a name of none. */
export function readScenario(name: string): SeedFile {
  const names = packagedNames()
  if (!names.includes(name)) {
    const message = `scenario must be the name of a built-in seed, ${names.join(', ')}${didYouMean(name, names)}`
    throw invalidFields({ scenario: { messages: [message], value: name } })
  }
  const file = scenarios.get(name) ?? readFile(packagedPath(name))
  scenarios.set(name, file)
  return { ...file, seed: { environments: file.seed.environments.slice(0, 1) } }
}

/** A built-in seed never changes, and its YAML takes longer to read than to load. */
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
  const issueAt = yamlLocator(text, name, limits)
  const refusal = (message: string) => new SeedError([issueAt([], message)])
  const value = text === undefined ? seed : readText(text, name, limits, refusal)
  if (value === null)
    throw refusal(
      'is empty: a seed begins with environments, and `environments: []` is a seed of nothing'
    )
  if (isTooDeep(value)) throw refusal(TOO_DEEP)
  const copy = text === undefined ? JSON.parse(JSON.stringify(value)) : value
  const issues: IssueList = []
  if (!isObject(copy) || !isOneEnvironment(copy, limits))
    return checkedSeed(copy, { limits, issues, issueAt })
  if (limits === FILE_LIMITS) issues.push(() => issueAt([], UNWRAPPED))
  const { $schema, ...environment } = copy
  return checkedSeed(
    { environments: [{ name: UNNAMED, ...environment }] },
    // Without `environments` and the index.
    { limits, issues, issueAt: (path, ...issue) => issueAt(path.slice(2), ...issue) }
  )
}

/** Returns the value of a text, JSON or YAML. Throws SeedError with all that keeps it from having a value. */
function readText(
  text: string,
  file: string,
  limits: SeedLimits,
  refusal: (message: string) => SeedError
): unknown {
  const { json: maxJson, yaml: maxYaml, where, remedy } = limits
  const most = (kind: string, limit: number) =>
    `has more than ${formatLimit(limit)} of ${kind}, the most that a seed may have ${where}: `
  if (text.length > maxJson) throw refusal(most('JSON', maxJson) + remedy)
  const json = /^\s*[[{]/.test(text)
    ? attempt(() => ({ value: JSON.parse(text) as unknown }))
    : undefined
  if (json) return json.value
  if (text.length <= maxYaml) return readYaml(text, file, limits)
  throw refusal(
    `${most('YAML', maxYaml)}write it as JSON, which may have ${formatLimit(maxJson)}, or ${remedy}`
  )
}

const UNWRAPPED =
  'must have environments, and has what one of them has: begin with `environments:`, then `  -`, and indent all of this by 4 spaces, or put JSON into `{ "environments": [{ … }] }`; it needs a name'

/** Whether a seed has no environments, but the content of one; in a request that may be any. */
function isOneEnvironment(value: object, limits: SeedLimits): boolean {
  const names = Object.keys(value)
  if (names.some((field) => suggest(field, ['environments']))) return false
  return (
    limits === REQUEST_LIMITS ||
    names.some((field) => Object.hasOwn(SeedEnvironment.properties, field))
  )
}

/** The lists of records of an environment. */
const LISTS = ['integrations', 'subscribers', 'workflows', 'messages']

type Fields = Record<string | number, unknown>

/** The records of seeds that lack what they were given, as that has an issue. */
export const incomplete = new WeakSet<object>()

function markIncomplete(record: Fields): Fields {
  incomplete.add(record)
  return record
}

/** Returns a value as a seed without what breaks the format, and adds an issue of each. It may change the value. */
function checkedSeed(
  value: unknown,
  file: Pick<SeedFile, 'limits' | 'issues' | 'issueAt'>
): SeedFile {
  const { issues, issueAt } = file
  const seed = isObject(value) ? value : {}
  // One more than are listed, so that it is told that there are more.
  for (const { path, message, hint, part } of findIssues(Seed, value, MAX_ISSUES + 1)) {
    issues.push(() => issueAt(path, message + hint, part))
    takeOut(seed, path)
  }
  const environments = (seed.environments ?? []) as Fields[]
  for (const [at, environment] of environments.entries()) {
    environment.name ??= `environments[${at}]`
    for (const list of LISTS) {
      const records = (environment[list] ?? []) as unknown[]
      for (const [index, record] of records.entries()) {
        const problem = recordProblem(record)
        if (!problem) continue
        issues.push(() => issueAt(['environments', at, list, index], problem))
        records[index] = markIncomplete({})
      }
    }
  }
  return { ...file, seed: { environments } as Seed }
}

/** Takes what has an issue out of a seed: that field of its environment or record, which then is incomplete. */
function takeOut(seed: Fields, path: Path): void {
  const steps = path.slice(0, LISTS.includes(String(path[2])) ? 5 : 3)
  const name = steps.at(-1) ?? ''
  const holder = steps.slice(0, -1).reduce((node, step) => node[step] as Fields, seed)
  if (typeof name === 'number') {
    const present = holder[name]
    holder[name] = markIncomplete(isObject(present) ? present : {})
    return
  }
  markIncomplete(holder)
  // What may be in a list that is none is not known; its default would be another one.
  if (steps.length === 3 && (LISTS.includes(name) || name === 'apiKeys'))
    holder[name] = name === 'apiKeys' ? [] : [markIncomplete({})]
  else delete holder[name]
  // Who has a subscriber embedded refers to no other.
  if (name === 'subscriber') delete holder.subscriberId
}

const folder = () => join(packageRoot(), 'seeds')

export const packagedPath = (name: string) => join(folder(), `${name}.yaml`)

/** Returns the names of the seeds that come with the package, the default first. */
export function packagedNames(): string[] {
  return readdirSync(folder())
    .flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? [])
    .sort(
      (one, other) =>
        Number(other === 'default') - Number(one === 'default') || one.localeCompare(other)
    )
}

/** Reads what the seeds that come with the package are called and for, the default first. */
export function readBuiltInSeeds(): { name: string; description: string }[] {
  return packagedNames().map((name) => {
    // The first sentence of the comment that it begins with.
    const text = readFileSync(packagedPath(name), 'utf8')
    const [, sentence = ''] = /^\n# (?:Take it )?((?:.|\n# )*?)\.\s/m.exec(text) ?? []
    return { name, description: sentence.replaceAll('\n# ', ' ') }
  })
}

import { statSync } from 'node:fs'
import { TextDecoder } from 'node:util'
import { invalidFields } from '../domain/errors.js'
import { parseJsonObjectOrArray } from '../domain/json.js'
import { didYouMean, suggest } from '../domain/suggestions.js'
import { readRegularFile, readStandardInput } from '../platform/read-file.js'
import { isObject, isTooDeep, TOO_DEEP } from '../schema/validation.js'
import { builtInSeedNames, builtInSeedPath } from './built-in.js'
import { checkFormat } from './check-format.js'
import {
  createIssue,
  createSeedError,
  type IssueList,
  SeedError,
  type SeedIssue
} from './errors.js'
import { type Seed, SeedEnvironment, UNNAMED } from './format.js'
import { FILE_LIMITS, formatLimit, REQUEST_LIMITS, type SeedLimits } from './limits.js'
import { createIssueLocator, type IssueAt, readYaml } from './yaml.js'

/** A seed that has been read. `resolveSeeds` resolves it and reports its issues. */
export interface SeedFile {
  /** The seed without its invalid values. */
  seed: Seed
  limits: SeedLimits
  issueAt: IssueAt
  /** An issue for each value that doesn't match the seed format. */
  issues: IssueList
}

/** A seed that is passed as a value instead of a file. */
export interface SeedValue {
  /** Appears in issues instead of a file name. */
  name: string
  /** YAML or JSON text, or the parsed value. */
  seed: string | object
}

/**
 * Reads seed files, built-in seeds and values. Throws `SeedError` if a file is missing, a text has
 * a syntax error, or a seed exceeds a limit. The returned files contain all other issues.
 */
export function readSeeds(seeds: readonly (string | SeedValue)[]): SeedFile[] {
  const files: SeedFile[] = []
  const issues: IssueList[] = []
  for (const seed of seeds) {
    try {
      const file = typeof seed === 'string' ? readSeedFile(seedPath(seed)) : readSeedValue(seed)
      files.push(file)
      issues.push(file.issues)
    } catch (error) {
      if (!(error instanceof SeedError)) throw error
      issues.push(error.issues.map((issue) => () => issue))
    }
  }
  if (files.length < seeds.length) throw createSeedError(issues)
  return files
}

/**
 * Reads the seed of a request. Unlike a seed file, this seed can leave out `environments` and have
 * the fields of one environment at the top level.
 */
export function readSeed(seed: string | object): SeedFile {
  return readSeedValue({ name: 'seed', seed }, REQUEST_LIMITS)
}

/**
 * Caches built-in seeds, because parsing the YAML of a seed takes longer than storing its records.
 */
const builtInSeeds = new Map<string, SeedFile>()

/** Reads the first environment of a built-in seed. Throws `invalid` for an unknown name. */
export function readBuiltInSeed(name: string): SeedFile {
  const names = builtInSeedNames()
  if (!names.includes(name)) {
    const list = `${names.join(', ')}${didYouMean(name, names)}`
    const message = `scenario must be the name of a built-in seed: ${list}`
    throw invalidFields({ scenario: { messages: [message], value: name } })
  }
  const file = builtInSeeds.get(name) ?? readSeedFile(builtInSeedPath(name))
  builtInSeeds.set(name, file)
  return { ...file, seed: { environments: file.seed.environments.slice(0, 1) } }
}

/** Returns the path of a seed. A file takes precedence over a built-in seed of the same name. */
export function seedPath(seed: string): string {
  const isFile = statSync(seed, { throwIfNoEntry: false })?.isFile() ?? false
  return builtInSeedNames().includes(seed) && !isFile ? builtInSeedPath(seed) : seed
}

/** The file name that stands for standard input. */
const STANDARD_INPUT = '-'

function readSeedFile(file: string): SeedFile {
  let seed: string
  try {
    const bytes = file === STANDARD_INPUT ? readStandardInput() : readRegularFile(file)
    seed = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const message = `can't be read: ${readProblem(file, error as NodeJS.ErrnoException)}`
    throw new SeedError([createIssue({ file, path: '', message })])
  }
  return readSeedValue({ name: file, seed })
}

function readProblem(file: string, { code, message }: NodeJS.ErrnoException): string {
  const names = builtInSeedNames()
  switch (code) {
    case 'ENOENT': {
      const suggestion = didYouMean(file, names) || `; the built-in seeds are ${names.join(', ')}`
      return `there is no such file and no built-in seed with this name${suggestion}`
    }
    case 'EACCES':
      return 'permission denied; check the permissions of the file'
    case 'EISDIR':
      return 'it is a folder; use the path of a file'
    default:
      return message
  }
}

const COMMENT =
  'is a comment, which JSON does not have: remove it, or start it with `#`, as in YAML'

const EMPTY =
  'is empty: a seed starts with `environments:`; for a seed without data write `environments: []`'

const UNWRAPPED =
  'must have environments, but has the fields of one environment: start the file with ' +
  '`environments:` and `  -`, and indent the content by 4 spaces; in JSON, wrap it in ' +
  '`{ "environments": [{ … }] }`; an environment must have a name'

function readSeedValue({ name, seed }: SeedValue, limits = FILE_LIMITS): SeedFile {
  const text = typeof seed === 'string' ? seed.replace(/^\uFEFF/, '') : undefined
  const issueAt = createIssueLocator(text, name, limits)
  const createError = (message: string) => new SeedError([issueAt([], message)])
  const value = text === undefined ? seed : parseText(text, name, limits, createError)
  if (value === null) throw createError(EMPTY)
  if (isTooDeep(value)) throw createError(TOO_DEEP)
  // `checkFormat` changes the value, so pass it a copy of the caller's object.
  const copy: unknown = text === undefined ? JSON.parse(JSON.stringify(value)) : value
  if (isObject(copy)) removeExtensions(copy)
  if (isObject(copy) && isEnvironmentContent(copy, limits)) return wrap(copy, limits, issueAt)
  return { limits, issueAt, ...checkFormat(copy, issueAt) }
}

/** Removes top-level fields named `x-…`. Seeds can define YAML anchors in them. */
function removeExtensions(seed: Record<string, unknown>): void {
  for (const name of Object.keys(seed)) {
    if (name.startsWith('x-')) delete seed[name]
  }
}

/** Turns the fields of an environment into a seed with one environment. */
function wrap(content: Record<string, unknown>, limits: SeedLimits, issueAt: IssueAt): SeedFile {
  const { $schema: _schema, ...environment } = content
  const issueInContent: IssueAt = (path, ...issue) => {
    const pathInContent = path.slice(['environments', 0].length)
    return issueAt(pathInContent, ...issue)
  }
  const seed = { environments: [{ name: UNNAMED, ...environment }] }
  const checked = { limits, issueAt: issueInContent, ...checkFormat(seed, issueInContent) }
  if (limits === FILE_LIMITS) checked.issues.unshift(() => issueAt([], UNWRAPPED))
  return checked
}

/** Parses JSON or YAML. Throws `SeedError` for a syntax error or a text that is too large. */
function parseText(
  text: string,
  file: string,
  limits: SeedLimits,
  createError: (message: string) => SeedError
): unknown {
  const { json: maxJson, yaml: maxYaml, where, fix } = limits
  const tooLarge = (format: string, limit: number) =>
    `is larger than ${formatLimit(limit)}, the limit for ${format} ${where}`
  if (text.length > maxJson) throw createError(`${tooLarge('JSON', maxJson)}: ${fix}`)
  const json = parseJsonObjectOrArray(text)
  if (json !== undefined) return json
  const comment = findComment(text, file)
  if (comment) throw new SeedError([comment])
  if (text.length <= maxYaml) return readYaml(text, file, limits)
  const alternative = `write it as JSON, which can be up to ${formatLimit(maxJson)}, or ${fix}`
  throw createError(`${tooLarge('YAML', maxYaml)}: ${alternative}`)
}

/** Matches text that looks like JSON: a comment, or `{` followed by a quote or a comment. */
const JSON_START = /^\s*(?:\{\s*["/]|\/[/*])/

/**
 * Matches a quote, an escape sequence, or the start of a JavaScript comment. A comment must be at
 * the start of the text, or follow JSON punctuation or a JSON value, so that slashes in unquoted
 * YAML strings don't match.
 */
const QUOTE_OR_COMMENT = /"|\\.|\/[/*](?<=(?:^|[",:[\]{}\d]|true|false|null)\s*\/[/*])/gs

/** Returns an issue for the first comment if the text looks like JSON. */
function findComment(text: string, file: string): SeedIssue | undefined {
  if (!JSON_START.test(text)) return undefined
  let isInString = false
  for (const { 0: match, index } of text.matchAll(QUOTE_OR_COMMENT)) {
    if (match === '"') isInString = !isInString
    if (match.startsWith('/') && !isInString) return commentIssue(text, file, index)
  }
  return undefined
}

function commentIssue(text: string, file: string, offset: number): SeedIssue {
  const lines = text.slice(0, offset).split('\n')
  const column = (lines.at(-1)?.length ?? 0) + 1
  return createIssue({ file, line: lines.length, column, path: '', message: COMMENT })
}

/**
 * Returns whether the value has the fields of an environment instead of the field `environments`.
 */
function isEnvironmentContent(value: object, limits: SeedLimits): boolean {
  const names = Object.keys(value)
  // Return false for a misspelled `environments`, so that it is reported as a typo.
  if (names.some((name) => suggest(name, ['environments']) !== undefined)) return false
  if (limits === REQUEST_LIMITS) return true
  return names.some((name) => Object.hasOwn(SeedEnvironment.properties, name))
}

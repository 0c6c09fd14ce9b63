import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { isNode, LineCounter, parseDocument, type Document as YamlDocument } from 'yaml'
import { packageRoot } from '../package-root.js'
import { mistakesIn, pathText } from '../validation.js'
import { Seed, seedFormatSchemas } from './format.js'

/** Something wrong with a seed: where, in words, and what. */
export interface SeedMistake {
  /** `seeds/shop.yaml:12:7`, or the file alone when there is no telling where. */
  place: string
  /** `environments[0].integrations[1].channel`; empty for the file as a whole. */
  path: string
  message: string
}

/** Everything that is wrong with the seeds, all at once. Nothing of them has been applied. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly mistakes: readonly SeedMistake[]

  constructor(mistakes: readonly SeedMistake[]) {
    super(mistakes.map(({ place, path, message }) => `${place} ${path === '' ? '' : `${path}: `}${message}`).join('\n'))
    this.mistakes = mistakes
  }
}

type Path = readonly (string | number)[]

/** A seed that has the format, with the means to point into its text. */
export interface SeedFile {
  name: string
  seed: Seed
  mistakeAt(path: Path, message: string): SeedMistake
}

/** The seed that is loaded when no other is given. */
export const DEFAULT_SEED = 'default'

/** Where a seed is: a file, or one of those that come with the package, by its bare name. */
export function seedPath(seed: string): string {
  if (!/^[\w-]+$/.test(seed) || existsSync(seed)) return seed
  const own = join(packageRoot(), 'seeds', `${seed}.yaml`)
  return existsSync(own) ? own : seed
}

/** Reads a seed file, YAML or JSON, or one of the package's own. Throws SeedError with every breach of the format. */
export function readSeedFile(seed: string): SeedFile {
  const file = seedPath(seed)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SeedError([{ place: file, path: '', message: `can't be read: ${UNREADABLE[code ?? ''] ?? code}` }])
  }
  return readSeed(text, file)
}

const UNREADABLE: Record<string, string> = {
  ENOENT: 'there is no such file, nor a seed of this name that comes with notification-mock',
  EACCES: 'it is not allowed to read it',
  EISDIR: 'it is a folder'
}

/** Reads a seed from its text; `name` stands for the file in errors. */
export function readSeed(text: string, name: string): SeedFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
  const place = (offset: number | undefined) => {
    if (offset === undefined) return name
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  if (document.errors.length > 0) {
    throw new SeedError(document.errors.map(({ pos, message }) => ({ place: place(pos[0]), path: '', message })))
  }
  const seed = inPlainValues(document, name)
  const mistakeAt = (path: Path, message: string): SeedMistake => ({
    place: place(offsetOf(document, path)),
    path: pathText(path),
    message
  })
  const mistakes = mistakesIn(Seed as TSchema, seed, seedFormatSchemas)
  if (mistakes.length > 0) throw new SeedError(mistakes.map(({ path, message }) => mistakeAt(path, message)))
  return { name, seed: seed as Seed, mistakeAt }
}

function inPlainValues(document: YamlDocument, name: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new SeedError([{ place: name, path: '', message: (error as Error).message }])
  }
}

/** Where the value stands; for one that is not there, where the innermost thing around it stands. */
function offsetOf(document: YamlDocument, path: Path): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return undefined
}

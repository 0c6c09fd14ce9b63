import { MAX_FIELDS, TOO_WIDE } from '../core/excess.js'

/** What a seed may have at most. docs/seeds.md has the same table. */
export interface SeedLimits {
  where: string
  /** Characters of JSON, and of YAML that is not JSON, to read which takes fifty times as long. */
  json: number
  yaml: number
  /** Values in JSON, and in YAML. */
  jsonValues: number
  yamlValues: number
  /** Characters in JSON of what aliases and merges stand for. */
  aliases: number
  /** Characters of JSON that defaults and references add. */
  added: number
  /** Characters of JSON that are generated. */
  generated: number
  remedy: string
}

const MIB = 1024 * 1024

/** How many characters of JSON a record may be, its steps included: a page of many is one text. */
const MAX_RECORD = MIB

/** Values between two pauses. */
const VALUES = 10_000

/** Returns what is wrong with a record that is too large, in steps. It is looked at only as far as it may reach. */
export function* checkingRecord(record: unknown): Generator<void, string | undefined> {
  let left = MAX_RECORD
  let count = 0
  let isWide = false
  yield* measure(record)
  if (isWide) return `has ${TOO_WIDE}`
  return left < 0
    ? `is more than ${formatLimit(MAX_RECORD)} of JSON, the most that one record may be: shorten it`
    : undefined

  function* measure(value: unknown): Generator<void, void> {
    if (typeof value !== 'object' || value === null) {
      left -= lengthOf(value)
      return
    }
    const isList = Array.isArray(value)
    const names = isList ? value.keys() : Object.keys(value)
    if (!isList && (names as string[]).length > MAX_FIELDS) isWide = true
    left -= 1
    for (const name of names) {
      if (left < 0 || isWide) return
      if (++count % VALUES === 0) yield
      left -= isList ? 1 : 2 + lengthOf(name)
      const each = value[name as never] as unknown
      if (typeof each === 'object' && each !== null) yield* measure(each)
      else left -= lengthOf(each)
    }
  }
}

/** Characters in JSON of what is no list or object; at least so many of a text that is longer than any record. */
function lengthOf(value: unknown): number {
  if (typeof value !== 'string') return String(value).length
  return value.length > MAX_RECORD ? value.length : JSON.stringify(value).length
}

/** For files and for the library. */
export const FILE_LIMITS: SeedLimits = {
  where: 'in a file',
  json: 64 * MIB,
  yaml: 32 * MIB,
  jsonValues: 3_000_000,
  yamlValues: 2_000_000,
  aliases: 64 * MIB,
  added: 512 * MIB,
  generated: Number.POSITIVE_INFINITY,
  remedy: 'divide it among several files, or let `generate` make the messages'
}

/** For requests, which others wait for. */
export const REQUEST_LIMITS: SeedLimits = {
  where: 'in a request',
  json: 16 * MIB,
  yaml: 2 * MIB,
  jsonValues: 1_000_000,
  yamlValues: 100_000,
  aliases: 16 * MIB,
  added: 64 * MIB,
  generated: 256 * MIB,
  remedy: 'load it in parts with mode=merge, or start the server with it'
}

/** `2 MiB`, `100,000` */
export function formatLimit(limit: number): string {
  return limit % MIB === 0 ? `${limit / MIB} MiB` : limit.toLocaleString('en')
}

export function tooMuch(what: string, most: number, where: string, remedy: string): string {
  return `has more than ${formatLimit(most)} ${what}, the most that a seed may have ${where}: ${remedy}`
}

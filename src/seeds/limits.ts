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
  remedy: string
}

const MIB = 1024 * 1024

/** How many fields one object may have. */
export const MAX_FIELDS = 100_000

/** How many characters of JSON a record may be, its steps included: a page of many is one text. */
const MAX_RECORD = MIB

/** Returns what is wrong with a record that is too large. It is looked at only as far as it may reach. */
export function recordProblem(record: unknown): string | undefined {
  const isLarge = leftAfter(record, MAX_RECORD) < 0
  return isLarge
    ? `is more than ${formatLimit(MAX_RECORD)} of JSON, the most that one record may be: shorten it`
    : undefined
}

/** Returns how many of the characters a value leaves in JSON; some number below zero when they are not enough. */
function leftAfter(value: unknown, characters: number): number {
  if (typeof value !== 'object' || value === null) return characters - (JSON.stringify(value) ?? '').length
  const isList = Array.isArray(value)
  let left = characters - 1
  for (const name of isList ? value.keys() : Object.keys(value)) {
    if (left < 0) return left
    left = leftAfter(value[name as never], isList ? left - 1 : leftAfter(name, left - 2))
  }
  return left
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
  remedy: 'load it in parts with mode=merge, or start the server with it'
}

/** `2 MiB`, `100,000` */
export function formatLimit(limit: number): string {
  return limit % MIB === 0 ? `${limit / MIB} MiB` : limit.toLocaleString('en')
}

export function tooMuch(what: string, most: number, where: string, remedy: string): string {
  return `has more than ${formatLimit(most)} ${what}, the most that a seed may have ${where}: ${remedy}`
}

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

const MIB = 1024 * 1024

/** What a seed may have at most, in characters. docs/seeds.md has the same table. */
export interface SeedLimits {
  where: string
  /** Of JSON, and of the JSON that YAML with aliases stands for. */
  json: number
  /** Of YAML that is not JSON: to read it takes fifty times as long. */
  yaml: number
  /** Of the JSON that defaults, references and generated messages add. */
  added: number
  remedy: string
}

/** For files and for the library. */
export const FILE_LIMITS: SeedLimits = {
  where: 'in a file',
  json: 64 * MIB,
  yaml: 16 * MIB,
  added: 512 * MIB,
  remedy: 'divide it among several files, or let `generate` make the messages'
}

/** For requests, which others wait for. */
export const REQUEST_LIMITS: SeedLimits = {
  where: 'in a request',
  json: 8 * MIB,
  yaml: 2 * MIB,
  added: 64 * MIB,
  remedy: 'start the server with it, as a file, or load it in parts with mode=merge'
}

/** How many messages and how many subscribers a request may have generated: seconds of work. */
export const MAX_GENERATED = 10_000

/** `2 MiB` */
export const formatLimit = (limit: number): string => `${limit / MIB} MiB`

/** Returns what is wrong with a record that is too large, its steps included: a page of many is one text. */
export function recordProblem(record: unknown): string | undefined {
  const isLarge = JSON.stringify(record).length > MIB
  return isLarge ? 'is more than 1 MiB of JSON, the most that one record may be: shorten it' : undefined
}

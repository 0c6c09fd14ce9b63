const MIB = 1024 * 1024

/** What a seed may have at most, in characters, in a file or given to the library. docs/seeds.md has the same table. */
export const FILE_LIMITS = {
  where: 'in a file',
  /** Of JSON, and of the JSON that YAML with aliases stands for. */
  json: 64 * MIB,
  /** Of YAML that is not JSON: to read it takes fifty times as long. */
  yaml: 16 * MIB,
  /** Of the JSON that defaults, references and generated messages add. */
  added: 512 * MIB,
  remedy: 'divide it among several files, or let `generate` make the messages'
}

export type SeedLimits = typeof FILE_LIMITS

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
  return isLarge
    ? 'is more than 1 MiB of JSON, the most that one record may be: shorten it'
    : undefined
}

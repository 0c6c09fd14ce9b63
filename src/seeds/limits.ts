const MIB = 1024 * 1024

/**
 * Limits of one seed in a file or given to the library, in characters. docs/seeds.md repeats these
 * figures.
 */
export const FILE_LIMITS = {
  where: 'in a file',
  /** JSON, and the JSON that YAML aliases expand to. */
  json: 64 * MIB,
  /** YAML that is not JSON. Reading it takes fifty times as long as JSON. */
  yaml: 16 * MIB,
  /** The JSON added by defaults, references and generated messages. */
  added: 512 * MIB,
  fix: 'split it into several files, or generate the messages with `generate:`'
}

export type SeedLimits = typeof FILE_LIMITS

/** Limits of a seed in a request. They are lower because other requests have to wait. */
export const REQUEST_LIMITS: SeedLimits = {
  where: 'in a request',
  json: 8 * MIB,
  yaml: 2 * MIB,
  added: 64 * MIB,
  fix: 'start the server with this seed as a file, or load it in parts with mode=merge'
}

/** How many messages and subscribers one request can generate. This many take seconds. */
export const MAX_GENERATED = 10_000

/** Returns the limit as `2 MiB`. */
export const formatLimit = (limit: number): string => `${limit / MIB} MiB`

/** Returns an issue if the record, with its steps, is too large. Otherwise returns undefined. */
export function recordProblem(record: unknown): string | undefined {
  if (JSON.stringify(record).length <= MIB) return undefined
  return 'is larger than 1 MiB of JSON, the limit for one record: shorten it'
}

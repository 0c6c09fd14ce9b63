const MIB = 1024 * 1024

/**
 * Limits, in characters, for a seed that is read from a file or passed to the library.
 * `docs/seeds.md` repeats these numbers.
 */
export const FILE_LIMITS = {
  where: 'in a file',
  /** The limit for JSON text, and for the JSON that YAML aliases expand to. */
  json: 64 * MIB,
  /** The limit for YAML text. It is lower, because YAML is much slower to read than JSON. */
  yaml: 16 * MIB,
  /**
   * The limit for the JSON that defaults and references add to the seed. In a request, generated
   * messages also count.
   */
  added: 512 * MIB,
  fix: 'split it into several files, or generate the messages with `generate:`'
}

export type SeedLimits = typeof FILE_LIMITS

/** Limits for a seed in a request. They are lower, because loading a seed delays other requests. */
export const REQUEST_LIMITS: SeedLimits = {
  where: 'in a request',
  json: 8 * MIB,
  yaml: 2 * MIB,
  added: 64 * MIB,
  fix: 'start the server with this seed as a file, or load it in parts with mode=merge'
}

/**
 * The maximum number of messages or subscribers that one request may generate. Generating this many
 * takes seconds.
 */
export const MAX_GENERATED = 10_000

/** Returns text such as `2 MiB`. */
export const formatLimit = (limit: number): string => `${limit / MIB} MiB`

import { createHash } from 'node:crypto'

/** Ids are 24 lower-case hex digits. */
export const ID_PATTERN = /^[0-9a-f]{24}$/

/** API keys are printable ASCII without spaces: what a header can carry, and nobody misreads. */
export const API_KEY_PATTERN = /^[!-~]+$/

/** `type:id`, neither of them empty. */
export const CONTEXT_KEY_PATTERN = '^[^:]+:.+$'

// Ids of the deployed service begin with the seconds of their making; these bounds are early 2024 and mid 2025.
const EARLIEST = 0x66000000
const LATEST = 0x68600000

/**
 * The id of the thing at a place: the same place gives the same id, on every machine and in every run.
 *
 * The place is the names that lead to it, outermost first. Ids look like the deployed service's: the first
 * eight digits are a time of 2024 or 2025.
 */
export function idOf(...place: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(place)).digest()
  const seconds = EARLIEST + (hash.readUInt32BE(0) % (LATEST - EARLIEST))
  return seconds.toString(16).padStart(8, '0') + hash.toString('hex', 4, 12)
}

import { createHash } from 'node:crypto'

/** Ids are 24 lower-case hex digits. */
export const ID_PATTERN = /^[0-9a-f]{24}$/

/** Returns the id that a client's text is, whose letters may be in capitals, or undefined when it is none. */
export const idIn = (text: string): string | undefined =>
  /^[0-9a-f]{24}$/i.test(text) ? text.toLowerCase() : undefined

/** API keys are printable ASCII without spaces, which any header can carry. */
export const API_KEY_PATTERN = /^[!-~]+$/

/** A key that a client chooses is unlike a word such as `messages`, as keys are hidden in the journals of all environments. */
export const CHOSEN_API_KEY_PATTERN = /^([!-~]{16,}|[!-~]*[\d-][!-~]*)$/

/** `type:id`, neither of them empty. */
export const CONTEXT_KEY_PATTERN = '^[^:]+:.+$'

// Ids of the deployed service begin with the seconds of their creation; these bounds are early 2024 and mid 2025.
const EARLIEST = 0x66000000
const LATEST = 0x68600000

/** Returns the id of a path, such as an environment's name, a kind and an identifier: always the same. */
export function idOf(...path: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(path)).digest()
  const seconds = EARLIEST + (hash.readUInt32BE(0) % (LATEST - EARLIEST))
  return seconds.toString(16).padStart(8, '0') + hash.toString('hex', 4, 12)
}

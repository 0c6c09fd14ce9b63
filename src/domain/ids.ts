import { createHash } from 'node:crypto'
import libSlugify from '@sindresorhus/slugify'

/** An id is 24 lower-case hex digits. */
export const ID_PATTERN = /^[0-9a-f]{24}$/

/** Parses an id in upper or lower case. Returns it in lower case, or undefined if it is invalid. */
export function parseId(text: string): string | undefined {
  return /^[0-9a-f]{24}$/i.test(text) ? text.toLowerCase() : undefined
}

/**
 * An API key consists of printable ASCII characters without spaces, so that a header can contain
 * it.
 */
export const API_KEY_PATTERN = /^[!-~]+$/

/**
 * An API key chosen by a client must not look like a word such as `messages`, because the journals
 * mask every occurrence of a key.
 */
export const CHOSEN_API_KEY_PATTERN = /^([!-~]{16,}|[!-~]*[\d-][!-~]*)$/

/** A context key has the form `type:id`. Neither part may be empty. */
export const CONTEXT_KEY_PATTERN = '^[^:]+:.+$'

// Novu's ids start with their creation time in seconds. A derived id starts with a time from early
// 2024 to mid 2025.
const EARLIEST = 0x66000000
const LATEST = 0x68600000

/**
 * Returns an id derived from a path, such as environment, kind and name. The same path always
 * yields the same id.
 */
export function deriveId(...path: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(path)).digest()
  const seconds = EARLIEST + (hash.readUInt32BE(0) % (LATEST - EARLIEST))
  return seconds.toString(16).padStart(8, '0') + hash.toString('hex', 4, 12)
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(ALPHABET.length)

/**
 * Matches names that need no transliteration: ASCII words without camelCase, and separators that
 * the slugify package turns into `-`. The separators are the space and all ASCII punctuation except
 * `&`, `'`, `^` and the backtick.
 */
const PLAIN_WORDS = /^(?:(?:[A-Z]?[a-z\d]+|[A-Z]+)(?![A-Za-z\d])|[ -%(-/:-@[-\]_{-~])*$/

/** A slug uses only the start of a name, because transliterating a megabyte takes minutes. */
const MAX_NAME = 500

/**
 * Returns the first 500 characters of a name as lower-case ASCII words joined by `-`. Returns an
 * empty string if no character can be transliterated.
 */
export function slugify(wholeName: string): string {
  const name = wholeName.slice(0, MAX_NAME)
  // The slugify package tries 2,000 replacements per name, which would add 30 ms to the server's
  // start.
  if (PLAIN_WORDS.test(name)) return (name.toLowerCase().match(/[a-z\d]+/g) ?? []).join('-')
  return libSlugify(name, { decamelize: true })
}

/** Returns `<slug of the name>_<kind>_<id in base62>`. The slug of the name may be empty. */
export const slugOf = (name: string, kind: 'wf' | 'st', id: string): string =>
  `${slugify(name)}_${kind}_${encodeBase62(id)}`

/**
 * Match the kind and the id at the end of a slug. `any` behaves like Novu: it accepts every kind,
 * but requires a name and an id of 16 digits.
 */
const SLUG_ENDS = {
  wf: /_wf_([0-9A-Za-z]+)$/,
  st: /_st_([0-9A-Za-z]+)$/,
  any: /._(?:wf|st|stp|env|lt)_([0-9A-Za-z]{16})$/s
}

/** Returns the id at the end of the slug, or undefined if the slug doesn't match the kind. */
export function idFromSlug(slug: string, kind: keyof typeof SLUG_ENDS): string | undefined {
  const digits = SLUG_ENDS[kind].exec(slug)?.[1]
  return digits && decodeBase62(digits)
}

/** Encodes an id's 12 bytes as a big-endian base62 number, with one `0` per leading zero byte. */
export function encodeBase62(id: string): string {
  let digits = ''
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= BASE) {
    digits = ALPHABET.charAt(Number(rest % BASE)) + digits
  }
  const leadingZeros = /^(?:00)*/.exec(id)?.[0] ?? ''
  return '0'.repeat(leadingZeros.length / 2) + digits
}

/** Returns the id that `encodeBase62` encodes as this text, or undefined if there is no such id. */
export function decodeBase62(text: string): string | undefined {
  // An id has 12 base62 digits if all its bytes are 0, and 17 digits if all its bytes are 0xff.
  if (!/^[0-9A-Za-z]{12,17}$/.test(text)) return undefined
  const value = [...text].reduce((sum, digit) => sum * BASE + BigInt(ALPHABET.indexOf(digit)), 0n)
  const id = value.toString(16).padStart(24, '0')
  return id.length === 24 && encodeBase62(id) === text ? id : undefined
}

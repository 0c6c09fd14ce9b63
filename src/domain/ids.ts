import { createHash } from 'node:crypto'
import libSlugify from '@sindresorhus/slugify'

/** An id is 24 lower-case hex digits. */
export const ID_PATTERN = /^[0-9a-f]{24}$/

/** Returns the id in lower case if the client's text is one, in any case; otherwise undefined. */
export function parseId(text: string): string | undefined {
  return /^[0-9a-f]{24}$/i.test(text) ? text.toLowerCase() : undefined
}

/** An API key is printable ASCII without spaces, so that it fits in a header. */
export const API_KEY_PATTERN = /^[!-~]+$/

/**
 * A key chosen by a client must not look like a word such as `messages`: the journals of all
 * environments mask every occurrence of it.
 */
export const CHOSEN_API_KEY_PATTERN = /^([!-~]{16,}|[!-~]*[\d-][!-~]*)$/

/** A context key is `type:id`, both not empty. */
export const CONTEXT_KEY_PATTERN = '^[^:]+:.+$'

// Novu's ids start with their creation time in seconds. These are early 2024 and mid 2025.
const EARLIEST = 0x66000000
const LATEST = 0x68600000

/** Returns an id that is always the same for the same path, such as environment, kind and name. */
export function deriveId(...path: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(path)).digest()
  const seconds = EARLIEST + (hash.readUInt32BE(0) % (LATEST - EARLIEST))
  return seconds.toString(16).padStart(8, '0') + hash.toString('hex', 4, 12)
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(ALPHABET.length)

/**
 * Matches ASCII words without camelCase, separated by characters that the package turns into `-`,
 * which is all except `&`, `'`, `^` and the backtick.
 */
const PLAIN_WORDS = /^(?:(?:[A-Z]?[a-z\d]+|[A-Z]+)(?![A-Za-z\d])|[ -%(-/:-@[-\]_{-~])*$/

/** Transliterating a megabyte takes minutes, so slugs use only the start of a name. */
const MAX_NAME = 500

/**
 * Returns the first 500 characters of a name as lower-case ASCII words joined by `-`. Returns an
 * empty string if none of them can be transliterated.
 */
export function slugify(wholeName: string): string {
  const name = wholeName.slice(0, MAX_NAME)
  // The package tries 2,000 replacements per name, which would add 30 ms to a start.
  if (PLAIN_WORDS.test(name)) return (name.toLowerCase().match(/[a-z\d]+/g) ?? []).join('-')
  return libSlugify(name, { decamelize: true })
}

/** Returns `<slug of the name>_<kind>_<base62 of the id>`, where the name's slug may be empty. */
export const slugOf = (name: string, kind: 'wf' | 'st', id: string): string =>
  `${slugify(name)}_${kind}_${encodeBase62(id)}`

/** Ends of slugs. Like Novu, `any` accepts every kind, but only 16 digits and not an empty name. */
const SLUG_ENDS = {
  wf: /_wf_([0-9A-Za-z]+)$/,
  st: /_st_([0-9A-Za-z]+)$/,
  any: /._(?:wf|st|stp|env|lt)_([0-9A-Za-z]{16})$/s
}

/** Returns the id at the end of a slug of this kind, or undefined. Ignores the name in the slug. */
export function idFromSlug(slug: string, kind: keyof typeof SLUG_ENDS): string | undefined {
  const digits = SLUG_ENDS[kind].exec(slug)?.[1]
  return digits && decodeBase62(digits)
}

/** Returns an id's 12 bytes as a big-endian base62 number with a `0` for each leading zero byte. */
export function encodeBase62(id: string): string {
  let digits = ''
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= BASE) {
    digits = ALPHABET.charAt(Number(rest % BASE)) + digits
  }
  const leadingZeros = /^(?:00)*/.exec(id)?.[0] ?? ''
  return '0'.repeat(leadingZeros.length / 2) + digits
}

/** Returns the id that `encodeBase62` encodes as exactly this text, or undefined. */
export function decodeBase62(text: string): string | undefined {
  // Twelve zero bytes have 12 digits, twelve 0xff bytes 17.
  if (!/^[0-9A-Za-z]{12,17}$/.test(text)) return undefined
  const value = [...text].reduce((sum, digit) => sum * BASE + BigInt(ALPHABET.indexOf(digit)), 0n)
  const id = value.toString(16).padStart(24, '0')
  return id.length === 24 && encodeBase62(id) === text ? id : undefined
}

import { createHash } from 'node:crypto'
import libSlugify from '@sindresorhus/slugify'

/** Ids are 24 lower-case hex digits. */
export const ID_PATTERN = /^[0-9a-f]{24}$/

/** Returns the id that a client's text is, whose letters may be in capitals, or undefined when it is none. */
export const parseId = (text: string): string | undefined =>
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
export function deriveId(...path: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(JSON.stringify(path)).digest()
  const seconds = EARLIEST + (hash.readUInt32BE(0) % (LATEST - EARLIEST))
  return seconds.toString(16).padStart(8, '0') + hash.toString('hex', 4, 12)
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(ALPHABET.length)

/** ASCII words without camelCase, between characters that become `-`, as all do but four. */
const PLAIN_WORDS = /^(?:(?:[A-Z]?[a-z\d]+|[A-Z]+)(?![A-Za-z\d])|[ -%(-/:-@[-\]_{-~])*$/

/** The characters of a name that its slug is made of: to transliterate a megabyte takes minutes. */
const MAX_NAME = 500

/** Returns the first 500 characters of a name as lower-case ASCII words joined by `-`; empty when none can be made of them. */
export function slugify(wholeName: string): string {
  const name = wholeName.slice(0, MAX_NAME)
  // Most names are such words, and the package tries each of 2,000 replacements, which takes 30 ms of a start.
  if (PLAIN_WORDS.test(name)) return (name.toLowerCase().match(/[a-z\d]+/g) ?? []).join('-')
  return libSlugify(name, { decamelize: true })
}

/** Returns `<slug of the name>_<kind>_<base62 of the id>`; the name's slug may be empty. */
export const slugOf = (name: string, kind: 'wf' | 'st', id: string): string =>
  `${slugify(name)}_${kind}_${encodeBase62(id)}`

/** What a slug ends with: of one kind, or of any kind behind a name, as the deployed service reads it. */
const SLUG_ENDS = {
  wf: /_wf_([0-9A-Za-z]+)$/,
  st: /_st_([0-9A-Za-z]+)$/,
  any: /._(?:wf|st|stp|env|lt)_([0-9A-Za-z]{16})$/s
}

/** Returns the id at the end of a slug of that kind, whatever name it has, or undefined when the text is no such slug. */
export function idFromSlug(text: string, kind: keyof typeof SLUG_ENDS): string | undefined {
  const digits = SLUG_ENDS[kind].exec(text)?.[1]
  return digits && decodeBase62(digits)
}

/** Returns the 12 bytes of an id as one big-endian number in base62, with a `0` in front for every leading zero byte. */
export function encodeBase62(id: string): string {
  let digits = ''
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= BASE)
    digits = ALPHABET.charAt(Number(rest % BASE)) + digits
  const zeroBytes = /^(?:00)*/.exec(id)?.[0] ?? ''
  return '0'.repeat(zeroBytes.length / 2) + digits
}

/** Returns the id that `encodeBase62` writes as exactly this text, or undefined when there is none. */
export function decodeBase62(text: string): string | undefined {
  // Twelve zero bytes make 12 characters, twelve 0xff bytes 17.
  if (!/^[0-9A-Za-z]{12,17}$/.test(text)) return undefined
  const value = [...text].reduce((sum, digit) => sum * BASE + BigInt(ALPHABET.indexOf(digit)), 0n)
  const id = value.toString(16).padStart(24, '0')
  return id.length === 24 && encodeBase62(id) === text ? id : undefined
}

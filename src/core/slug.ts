import libSlugify from '@sindresorhus/slugify'

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
  for (let rest = BigInt(`0x${id}`); rest > 0n; rest /= BASE) digits = ALPHABET.charAt(Number(rest % BASE)) + digits
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

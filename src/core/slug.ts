import libSlugify from '@sindresorhus/slugify'
import { ID_PATTERN } from './ids.js'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(ALPHABET.length)

const PLAIN_WORDS = /^(?:[A-Z]?[a-z\d]+|[A-Z]+)(?:[ _-](?:[A-Z]?[a-z\d]+|[A-Z]+))*$/

/**
 * Returns a name as lower-case ASCII words joined by `-`: camelCase split, accents dropped, emoji spelt out. It is
 * empty when nothing of the name can be transliterated.
 */
export function slugify(name: string): string {
  // Most names are such words, and the package tries each of 2,000 replacements, which takes half a millisecond.
  if (PLAIN_WORDS.test(name)) return name.toLowerCase().replaceAll(/[ _]/g, '-')
  return libSlugify(name, { decamelize: true })
}

/** Returns `<slug of the name>_wf_<base62 of the id>`; it begins with `_wf_` when the name has no slug. */
export function workflowSlug(name: string, id: string): string {
  return `${slugify(name)}_wf_${encodeBase62(id)}`
}

/** Returns `<slug of the name>_st_<base62 of the id>`; it begins with `_st_` when the name has no slug. */
export function stepSlug(name: string, id: string): string {
  return `${slugify(name)}_st_${encodeBase62(id)}`
}

/**
 * Returns the id at the end of a slug of that kind, or undefined when the text is no such slug. The name in it may be
 * outdated, empty, or contain a marker itself: the last marker counts.
 */
export function idFromSlug(text: string, kind: 'wf' | 'st'): string | undefined {
  const marker = `_${kind}_`
  const at = text.lastIndexOf(marker)
  return at < 0 ? undefined : decodeBase62(text.slice(at + marker.length))
}

/**
 * Returns the 12 bytes of an id as one big-endian number in base62, with one `0` in front for every leading zero byte:
 * 16 characters for today's ids, 17 from about 2051 on. Throws RangeError for anything but 24 lower-case hex digits.
 */
export function encodeBase62(objectId: string): string {
  if (!ID_PATTERN.test(objectId)) throw new RangeError(`not an id of 24 lower-case hex digits: ${objectId}`)
  const zeroBytes = /^(?:00)*/.exec(objectId)?.[0] ?? ''
  return ALPHABET.charAt(0).repeat(zeroBytes.length / 2) + digitsOf(BigInt(`0x${objectId}`))
}

/** Returns the id that `encodeBase62` writes as exactly this text, or undefined when there is none. */
export function decodeBase62(text: string): string | undefined {
  // Twelve zero bytes make 12 characters, twelve 0xff bytes 17.
  if (!/^[0-9A-Za-z]{12,17}$/.test(text)) return undefined
  const value = [...text].reduce((sum, digit) => sum * BASE + BigInt(ALPHABET.indexOf(digit)), 0n)
  const objectId = value.toString(16).padStart(24, '0')
  return objectId.length === 24 && encodeBase62(objectId) === text ? objectId : undefined
}

function digitsOf(value: bigint): string {
  return value === 0n ? '' : digitsOf(value / BASE) + ALPHABET.charAt(Number(value % BASE))
}

import { hash } from 'node:crypto'
import { parseIsoTime } from '../../domain/clock.js'
import { PLAIN_WORD } from './kept-field-names.js'
import { FIRST_NAMES, LAST_NAMES, WORDS } from './replacement-words.js'

const EMAIL = /^[^\s@]+@[^\s@]+$/
const DAY = 86_400_000
/** The latest replacement date is this many days after 2001-01-01. */
const DATE_RANGE = 9000

/**
 * Creates replacements for personal values. The same value and API key always result in the same
 * replacement. An empty string stays empty.
 */
export class Pseudonyms {
  readonly #apiKey: string

  constructor(apiKey: string) {
    this.#apiKey = apiKey
  }

  /**
   * Uses `hash()` instead of `createHmac()`, because HMAC objects stay in memory until the next
   * full garbage collection.
   */
  #digest(kind: string, source: string): Buffer {
    return hash('sha256', `${this.#apiKey}\n${kind}\n${source}\n${this.#apiKey}`, 'buffer')
  }

  /** Returns the kind followed by a hash, such as `txn-0123456789abcdef`. */
  opaque(kind: string, source: string): string {
    return source && `${kind}-${this.#digest(kind, source).toString('hex', 0, 8)}`
  }

  subscriberId(source: string): string {
    return EMAIL.test(source) ? this.email(source) : this.opaque('subscriber', source)
  }

  /**
   * Replaces a context key such as `tenant:ada`. Keeps the type before the colon if it is a plain
   * word.
   */
  contextKey(source: string): string {
    const colon = source.indexOf(':')
    const type = source.slice(0, Math.max(colon, 0))
    return PLAIN_WORD.test(type)
      ? `${type}:${this.opaque(type, source.slice(colon + 1))}`
      : `context:${this.opaque('context', source)}`
  }

  email(source: string): string {
    if (source === '') return ''
    const digest = this.#digest('email', source)
    const name = `${pick(FIRST_NAMES, digest)}.${pick(LAST_NAMES, digest, 4)}`
    return `${name}.${digest.toString('hex', 8, 16)}@example.com`.toLowerCase()
  }

  firstName(source: string): string {
    return source && pick(FIRST_NAMES, this.#digest('first name', source))
  }

  lastName(source: string): string {
    return source && pick(LAST_NAMES, this.#digest('last name', source))
  }

  /** Returns a phone number with the fictional area code 555. */
  phone(source: string): string {
    if (source === '') return ''
    return `+1555${this.digits(source.replaceAll(/\D/g, '').padStart(11, '5').slice(-11))}`
  }

  url(source: string): string {
    return `https://example.com/${this.#digest('url', source).toString('hex', 0, 8)}`
  }

  number(source: number): number {
    if (!Number.isSafeInteger(Math.trunc(source))) return 1
    return Number(String(source).replaceAll(/\d+/g, (digits) => this.digits(digits)))
  }

  /**
   * Replaces a string of digits with another one of the same length. The replacement starts with 0
   * only if the source does.
   */
  digits(source: string): string {
    const made = BigInt(`0x${this.#digest('digits', source).toString('hex')}`).toString()
    const repeated = made.repeat(1 + source.length / made.length)
    const start = source.startsWith('0') ? '0' : ''
    return `${start}${repeated}`.slice(0, source.length)
  }

  /**
   * Replaces an email address, URL, number or date with another one of the same kind, and any other
   * text with words.
   */
  text(source: string): string {
    if (EMAIL.test(source)) return this.email(source)
    if (/^https?:\/\//i.test(source)) return this.url(source)
    if (/^\d+$/.test(source)) return this.digits(source)
    const digest = this.#digest('text', source)
    if (parseIsoTime(source) !== undefined) return dateFrom(digest, source.length)
    const words = [...digest].map((byte) => WORDS[byte % WORDS.length]).join(' ')
    const line = `${words} `
    return line.repeat(1 + source.length / line.length).slice(0, source.length)
  }
}

const pick = (list: readonly string[], digest: Buffer, offset = 0) =>
  list[digest.readUInt32BE(offset) % list.length] ?? ''

function dateFrom(digest: Buffer, length: number): string {
  const offset = digest.readUIntBE(0, 5) % (DATE_RANGE * DAY)
  const text = new Date(Date.UTC(2001, 0, 1) + offset).toISOString()
  return length === 10 ? text.slice(0, 10) : text
}

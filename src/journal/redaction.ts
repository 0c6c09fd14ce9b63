import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { isSecretName } from '../domain/credentials.js'
import { MASK, maskForm, maskSecrets } from '../domain/masking.js'
import type { EnvironmentService } from '../environments/service.js'

/** The characters that separate words in headers, URLs and JSON. */
const DELIMITERS = '\\s"\'`&+=,:;<>{}()[\\]\\\\/?#|\ufffd'
const DELIMITER = new RegExp(`[${DELIMITERS}]`)
/** Matches a whole word, which can then be looked up among the API keys. */
const WORD = new RegExp(`[^${DELIMITERS}]+`, 'g')
/**
 * Matches words that look like a generated API key. Such a word may be the key of another server or
 * of a removed environment, which this server can't look up.
 */
const GENERATED_KEY = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi
/** Matches the authentication scheme at the start of a header value. */
const SCHEME = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i
const PERCENT_ENCODED = /(?:%[0-9a-f]{2})+/gi

/** How many times to percent-decode a word. A key may have been encoded more than once. */
const MAX_ENCODINGS = 3
/** The maximum length of a logged text, in characters. Longer texts are cut. */
const MAX_LOGGED = 8192
/** A key shorter than this is redacted only where it is a whole word. */
const MIN_KEY_ANYWHERE = 8
/** An invalid key shorter than this isn't redacted, because it is probably an ordinary word. */
const MIN_SENT_KEY = 4

export type RedactionOf = (authorization?: string) => Redaction

/**
 * Returns a function that takes a request's `Authorization` header and creates the redaction for
 * that request. `serverSecrets` are the secrets in the server's configuration.
 */
export function createRedaction(
  environments: EnvironmentService,
  serverSecrets: readonly string[]
): RedactionOf {
  const knownWords = new Map<string, boolean>()

  function isKey(word: string): boolean {
    // Cache the results, because words repeat and each lookup hashes the word. Clear the cache
    // after the current task, because keys may be added later.
    if (knownWords.size === 0) queueMicrotask(() => knownWords.clear())
    const known = knownWords.get(word)
    if (known !== undefined) return known
    const isSecret = serverSecrets.includes(word) || environments.isApiKey(word)
    knownWords.set(word, isSecret)
    return isSecret
  }

  return (authorization = '') =>
    new Redaction(authorization, [...serverSecrets, ...environments.unusualApiKeys()], isKey)
}

/**
 * Replaces secrets in one request and its response. Secrets are the API keys of all environments,
 * the server's own secrets, the key in the request itself, and values whose name suggests a
 * credential. Percent-encoded keys are found too.
 */
export class Redaction {
  /** Returns whether a word is an environment's API key or one of the server's secrets. */
  readonly isKey: (word: string) => boolean
  readonly #sentKey: string
  /** These secrets are replaced even inside a longer word. */
  readonly #anywhere: readonly string[]

  constructor(
    authorization: string,
    unusualSecrets: readonly string[],
    isKey: (word: string) => boolean
  ) {
    this.isKey = isKey
    this.#sentKey = authorization.trim().replace(/^\S+\s+/, '')
    // An invalid key may be an ordinary word, so replace it only where it is a whole word.
    const isDistinctive = isKey(this.#sentKey) || DELIMITER.test(this.#sentKey)
    const candidates = [isDistinctive ? this.#sentKey : '', ...unusualSecrets]
    this.#anywhere = candidates.filter(({ length }) => length >= MIN_KEY_ANYWHERE)
  }

  /** Replaces all secrets in the text, which may be JSON. */
  redact(text: string): string {
    return this.#redact(text, MAX_ENCODINGS)
  }

  /** Returns a copy of a JSON value with all secrets replaced. */
  redactJson<Value>(value: Value): Value {
    return this.#redactJson(value, '') as Value
  }

  /**
   * Returns the redacted headers or parameters as an object. The values of a repeated name are in
   * an array.
   */
  redactValues(pairs: readonly [name: string, value: string][]) {
    // The object has no prototype, because a client may name a parameter `constructor`.
    const values: Record<string, string | string[]> = Object.create(null)
    for (const [pairName, pairValue] of pairs) {
      const name = this.redact(pairName)
      const value = this.#redactValue(pairName, pairValue)
      const earlier = values[name]
      // Append in place, because a name can have thousands of values, and copying the array for
      // each value would be slow.
      if (Array.isArray(earlier)) earlier.push(value)
      else values[name] = earlier === undefined ? value : [earlier, value]
    }
    return values
  }

  /**
   * Returns the redacted body as text, or in base64 if it isn't UTF-8. Drops the last word of a cut
   * body, because this word may be the start of a key.
   */
  redactBody(bytes: Buffer, isCut: boolean): string {
    const end = isCut ? withoutLastWord(bytes.toString('latin1')).length : bytes.length
    const body = bytes.subarray(0, end)
    if (isUtf8(body)) return this.#redactBodyText(body.toString())
    // latin1 maps each byte to one character, so no byte is lost.
    return Buffer.from(this.#redactBodyText(body.toString('latin1')), 'latin1').toString('base64')
  }

  #redactJson(value: unknown, name: string): unknown {
    if (typeof value === 'string') return this.#redactValue(name, value)
    if (typeof value === 'number') return isSecretName(name) ? MASK : value
    if (Array.isArray(value)) return value.map((item) => this.#redactJson(item, name))
    if (typeof value !== 'object' || value === null) return value
    const fields = Object.entries(value).map(([field, inner]) => [
      this.redact(field),
      this.#redactJson(inner, isSecretName(name) ? name : field)
    ])
    return Object.fromEntries(fields)
  }

  #redactBodyText(text: string): string {
    return this.redact(/^\s*[[{]/.test(text) ? text : maskForm(text))
  }

  #redactValue(name: string, value: string): string {
    if (value === '') return ''
    if (!isSecretName(name)) return this.#isSecret(value) ? MASK : this.redact(value)
    // Show the scheme, because a wrong scheme is the most common mistake.
    const scheme = SCHEME.exec(value)?.[1]
    return scheme ? `${scheme} ${MASK}` : MASK
  }

  #redact(text: string, encodings: number): string {
    return maskSecrets(text, { maskKnown: (plain) => this.#redactKnown(plain, encodings) })
  }

  #redactKnown(text: string, encodings: number): string {
    const rest = this.#anywhere.reduce((left, secret) => left.replaceAll(secret, MASK), text)
    return rest.replace(WORD, (word) => (this.#hidesSecret(word, encodings) ? MASK : word))
  }

  #hidesSecret(word: string, encodings: number): boolean {
    if (this.#isSecret(word)) return true
    if (encodings === 0 || !word.includes('%')) return false
    const plain = decode(word)
    if (plain === word) return false
    return this.#isSecret(plain) || this.#redact(plain, encodings - 1) !== plain
  }

  #isSecret(word: string): boolean {
    const isSentKey = word === this.#sentKey && word.length >= MIN_SENT_KEY
    if (isSentKey || this.isKey(word)) return true
    // Ignore punctuation around the word, such as a period after a key.
    const bare = /\w(?:.*\w)?/s.exec(word)?.[0] ?? word
    return bare !== word && this.#isSecret(bare)
  }
}

/**
 * Redacts a text about a request for the log. Replaces the same secrets as `Redaction`, and all
 * words that look like a generated API key. Cuts long texts.
 */
export function redactForLog(
  redactionOf: RedactionOf,
  { url, headers }: FastifyRequest,
  text: string
): string {
  const redaction = redactionOf(headers.authorization)
  const isCut = text.length > MAX_LOGGED
  let logged = isCut ? `${withoutLastWord(text.slice(0, MAX_LOGGED))}...` : text
  // `redact` splits the text at delimiters, so it can't find a key that contains a delimiter. If
  // the URL contains such a key in percent-encoded form, replace the decoded key here.
  for (const part of url.slice(0, MAX_LOGGED).split(/[/?&=]/)) {
    const plain = decode(part)
    if (plain !== part && redaction.isKey(plain)) logged = logged.replaceAll(plain, MASK)
  }
  return redaction.redact(logged).replace(GENERATED_KEY, MASK)
}

/** Returns the text up to and including its last delimiter. */
function withoutLastWord(text: string): string {
  const lastWord = text.split(DELIMITER).at(-1) ?? ''
  return text.slice(0, text.length - lastWord.length)
}

/**
 * Decodes percent-encoding. Bytes that aren't UTF-8 become a delimiter, so that a key next to them
 * is still found.
 */
function decode(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return word.replace(PERCENT_ENCODED, (encoded) =>
      Buffer.from(encoded.replaceAll('%', ''), 'hex').toString()
    )
  }
}

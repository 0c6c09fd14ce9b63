import type { FastifyRequest } from 'fastify'
import { SECRET_NAME } from '../domain/credentials.js'
import type { EnvironmentService } from '../environments/service.js'
import { withoutSecretParameters } from '../http/target.js'

/** Stands in for a secret. */
export const REDACTED = '***'

/**
 * The tokens of JSON that redaction looks at: strings (the last may be cut), colons, braces,
 * numbers.
 */
const JSON_TOKEN = /"((?:[^"\\]|\\.)*)(?:"(\s*:)?|$)|[{}[\]]|-?\d[\d.eE+-]*/g
/** The characters that end a word in headers, URLs and JSON. */
const DELIMITERS = '\\s"\'`&=,:;<>{}()[\\]\\\\/?#|\ufffd'
const DELIMITER = new RegExp(`[${DELIMITERS}]`)
/** A word: the unit that is compared with API keys. */
const WORD = new RegExp(`[^${DELIMITERS}]+`, 'g')
/**
 * The form of generated API keys. Such a word may be the key of another server, or of a removed
 * environment.
 */
const GENERATED_KEY = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi
/** The authentication scheme of a header's value. */
const SCHEME = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i
const PERCENT_ENCODED = /(?:%[0-9a-f]{2})+/gi

/** How many layers of percent-encoding are decoded to find a key. */
const MAX_ENCODINGS = 3
/** The longest text that is logged, in characters. */
const MAX_LOGGED = 8192
/** A shorter key is redacted only where it stands alone. */
const MIN_KEY_ANYWHERE = 8
/** A shorter `Authorization` is more likely an ordinary word than a key. */
const MIN_SENT_KEY = 4

export type RedactionOf = (authorization?: string) => Redaction

/**
 * Returns a function that takes a request's `Authorization` header and returns the redaction for
 * that request.
 */
export function createRedaction(
  environments: EnvironmentService,
  adminToken: string | undefined
): RedactionOf {
  const knownWords = new Map<string, boolean>()

  function isKey(word: string): boolean {
    // Each lookup is a query and words repeat. Kept for one turn only, because keys come and go.
    if (knownWords.size === 0) queueMicrotask(() => knownWords.clear())
    const known = knownWords.get(word)
    if (known !== undefined) return known
    const isSecret = word === adminToken || environments.isApiKey(word)
    knownWords.set(word, isSecret)
    return isSecret
  }

  return (authorization = '') => new Redaction(authorization, adminToken, isKey)
}

/**
 * Replaces secrets in one request and its response: the values of fields named like credentials,
 * the API keys of all environments, the admin token, and the key that the request itself sent.
 * Percent-encoded keys are found too.
 */
export class Redaction {
  /** Returns whether a word is an API key of any environment or the admin token. */
  readonly isKey: (word: string) => boolean
  readonly #sentKey: string
  /** The secrets that are replaced even inside a longer word. */
  readonly #anywhere: readonly string[]

  constructor(
    authorization: string,
    adminToken: string | undefined,
    isKey: (word: string) => boolean
  ) {
    this.isKey = isKey
    this.#sentKey = authorization.trim().replace(/^\S+\s+/, '')
    // An invalid key may be an ordinary word, so it is replaced only where it stands alone.
    const isDistinctive = isKey(this.#sentKey) || DELIMITER.test(this.#sentKey)
    const candidates = [isDistinctive ? this.#sentKey : '', adminToken ?? '']
    this.#anywhere = candidates.filter(({ length }) => length >= MIN_KEY_ANYWHERE)
  }

  /** Returns the text with all secrets replaced. */
  redact(text: string): string {
    return this.#redact(text, MAX_ENCODINGS)
  }

  /** Returns headers or parameters by name, with an array where a name is repeated. */
  redactValues(pairs: readonly [name: string, value: string][]) {
    // Without a prototype, because a client may name a parameter `constructor`.
    const values: Record<string, string | string[]> = Object.create(null)
    for (const [pairName, pairValue] of pairs) {
      const name = this.redact(pairName)
      const value = this.#redactValue(pairName, pairValue)
      const earlier = values[name]
      values[name] = earlier === undefined ? value : [earlier, value].flat()
    }
    return values
  }

  /**
   * Returns the body as text, or in base64 if it isn't UTF-8. The last word of a cut body is
   * dropped, since it may be half a key.
   */
  redactBody(bytes: Buffer, isCut: boolean): string {
    // In latin1 each byte is one character, so no byte is lost.
    const whole = bytes.toString('latin1')
    const body = isCut ? withoutLastWord(whole) : whole
    const isJson = /^\s*[[{]/.test(body)
    const hidden = isJson ? redactSecretFields(body) : withoutSecretParameters(body)
    const redacted = Buffer.from(this.redact(hidden), 'latin1')
    const text = redacted.toString()
    const isUtf8 = Buffer.from(text).equals(redacted)
    return isUtf8 ? text : redacted.toString('base64')
  }

  #redactValue(name: string, value: string): string {
    if (!SECRET_NAME.test(name)) return this.redact(value)
    if (value === '') return ''
    // Keep the scheme: it is what clients most often get wrong.
    const scheme = SCHEME.exec(value)?.[1]
    return scheme ? `${scheme} ${REDACTED}` : REDACTED
  }

  #redact(text: string, encodings: number): string {
    const rest = this.#anywhere.reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
    return rest.replace(WORD, (word) => (this.#hidesSecret(word, encodings) ? REDACTED : word))
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
    return isSentKey || this.isKey(word)
  }
}

/**
 * Returns a text about a request without the request's secrets and without anything that looks like
 * an API key.
 */
export function redactForLog(
  redactionOf: RedactionOf,
  { url, headers }: FastifyRequest,
  text: string
): string {
  const redaction = redactionOf(headers.authorization)
  const isCut = text.length > MAX_LOGGED
  let logged = isCut ? `${withoutLastWord(text.slice(0, MAX_LOGGED))}...` : text
  // A decoded key may contain delimiters, so it wouldn't be found as one word.
  for (const part of url.slice(0, MAX_LOGGED).split(/[/?&=]/)) {
    const plain = decode(part)
    if (plain !== part && redaction.isKey(plain)) logged = logged.replaceAll(plain, REDACTED)
  }
  return redaction.redact(logged).replace(GENERATED_KEY, REDACTED)
}

/**
 * Replaces the values of secret names in JSON, and the strings inside objects with such names. The
 * JSON may be cut.
 */
function redactSecretFields(json: string): string {
  const fields = new SecretFields()
  return json.replace(
    JSON_TOKEN,
    (token: string, string: string | undefined, colon: string | undefined) => {
      if (colon !== undefined) {
        fields.readName(string ?? '')
        return token
      }
      return fields.isSecret(token, string !== undefined) ? `"${REDACTED}"` : token
    }
  )
}

/** Follows the tokens of JSON and finds the values that are secret. */
class SecretFields {
  #followsSecretName = false
  /** How many objects deep the current token is inside an object with a secret name. */
  #depth = 0

  readName(name: string): void {
    this.#followsSecretName = SECRET_NAME.test(name)
  }

  /** Reads a token that isn't a name, and returns whether it is a secret value. */
  isSecret(token: string, isString: boolean): boolean {
    const followsSecretName = this.#followsSecretName
    this.#followsSecretName = false
    if (token === '{' && (followsSecretName || this.#depth > 0)) this.#depth += 1
    if (token === '}' && this.#depth > 0) this.#depth -= 1
    if (isString) return followsSecretName || this.#depth > 0
    const isNumber = /^[-\d]/.test(token)
    return isNumber && followsSecretName
  }
}

/** Returns the text up to its last delimiter. */
function withoutLastWord(text: string): string {
  const lastWord = text.split(DELIMITER).at(-1) ?? ''
  return text.slice(0, text.length - lastWord.length)
}

/**
 * Decodes percent-encoding. Bytes that aren't UTF-8 become a delimiter, so that a key next to them
 * is found.
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

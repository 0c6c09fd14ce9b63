import type { FastifyRequest } from 'fastify'
import { SECRET_NAME } from '../domain/credentials.js'
import type { EnvironmentService } from '../environments/service.js'
import { withoutSecretParameters } from '../http/target.js'

/** Replaces each secret. */
export const REDACTED = '***'

/**
 * Matches a brace, a bracket, a number or a string in JSON. If a colon follows the string, matches
 * the colon too. In truncated JSON, also matches a string without its end.
 */
const JSON_TOKEN = /"((?:[^"\\]|\\.)*)(?:"(\s*:)?|$)|[{}[\]]|-?\d[\d.eE+-]*/g
/** The characters that separate words in headers, URLs and JSON. */
const DELIMITERS = '\\s"\'`&=,:;<>{}()[\\]\\\\/?#|\ufffd'
const DELIMITER = new RegExp(`[${DELIMITERS}]`)
/** Matches one word. Each whole word is looked up among the API keys. */
const WORD = new RegExp(`[^${DELIMITERS}]+`, 'g')
/**
 * Matches words that look like a generated API key. They may be keys of another server or of a
 * removed environment.
 */
const GENERATED_KEY = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi
/** Matches the authentication scheme at the start of a header value. */
const SCHEME = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i
const PERCENT_ENCODED = /(?:%[0-9a-f]{2})+/gi

/** How many times a word is percent-decoded, to find a key that was encoded repeatedly. */
const MAX_ENCODINGS = 3
/** Longer log texts are cut to this number of characters. */
const MAX_LOGGED = 8192
/** How many API keys of removed environments are remembered. */
const MAX_FORMER_KEYS = 10_000
/** A key shorter than this is redacted only where it is a whole word. */
const MIN_KEY_ANYWHERE = 8
/** An invalid key shorter than this isn't redacted, because it is more likely an ordinary word. */
const MIN_SENT_KEY = 4

export type RedactionOf = (authorization?: string) => Redaction

/**
 * Returns a function that creates the redaction for one request from its `Authorization` header.
 * `serverSecrets` are the secrets in the server's configuration.
 */
export function createRedaction(
  environments: EnvironmentService,
  serverSecrets: readonly string[]
): RedactionOf {
  const knownWords = new Map<string, boolean>()
  // The report shows the requests of removed environments.
  const formerKeys = new Set<string>()
  environments.subscribe({
    onRemove(environment) {
      for (const apiKey of environments.apiKeysOf(environment)) formerKeys.add(apiKey)
      for (const apiKey of formerKeys) {
        if (formerKeys.size <= MAX_FORMER_KEYS) break
        formerKeys.delete(apiKey)
      }
    }
  })

  function isKey(word: string): boolean {
    // Cache the results, because each lookup is a database query and words repeat. Clear the cache
    // after the current task, because keys may be added or removed later.
    if (knownWords.size === 0) queueMicrotask(() => knownWords.clear())
    const known = knownWords.get(word)
    if (known !== undefined) return known
    const isServerSecret = serverSecrets.includes(word)
    const isSecret = isServerSecret || formerKeys.has(word) || environments.isApiKey(word)
    knownWords.set(word, isSecret)
    return isSecret
  }

  return (authorization = '') => new Redaction(authorization, serverSecrets, isKey)
}

/**
 * Replaces secrets in one request and its response. Secrets are the API keys of all environments,
 * the server's own secrets, the key in the request itself, and values whose name suggests a credential.
 * Percent-encoded keys are found too.
 */
export class Redaction {
  /** Returns whether a word is an environment's API key or one of the server's secrets. */
  readonly isKey: (word: string) => boolean
  readonly #sentKey: string
  /** These secrets are replaced even inside a longer word. */
  readonly #anywhere: readonly string[]

  constructor(
    authorization: string,
    serverSecrets: readonly string[],
    isKey: (word: string) => boolean
  ) {
    this.isKey = isKey
    this.#sentKey = authorization.trim().replace(/^\S+\s+/, '')
    // An invalid key may be an ordinary word, so replace it only where it is a whole word.
    const isDistinctive = isKey(this.#sentKey) || DELIMITER.test(this.#sentKey)
    const candidates = [isDistinctive ? this.#sentKey : '', ...serverSecrets]
    this.#anywhere = candidates.filter(({ length }) => length >= MIN_KEY_ANYWHERE)
  }

  /** Replaces all secrets in the text. */
  redact(text: string): string {
    return this.#redact(text, MAX_ENCODINGS)
  }

  /**
   * Returns the redacted headers or parameters as an object. A name that is repeated has an array
   * of values.
   */
  redactValues(pairs: readonly [name: string, value: string][]) {
    // The object has no prototype, because a client may name a parameter `constructor`.
    const values: Record<string, string | string[]> = Object.create(null)
    for (const [pairName, pairValue] of pairs) {
      const name = this.redact(pairName)
      const value = this.#redactValue(pairName, pairValue)
      const earlier = values[name]
      // Append in place, because copying the array for each of thousands of values would be slow.
      if (Array.isArray(earlier)) earlier.push(value)
      else values[name] = earlier === undefined ? value : [earlier, value]
    }
    return values
  }

  /**
   * Returns the redacted body as text, or in base64 if it isn't UTF-8. Drops the last word of a cut
   * body, because this word may be half of a key.
   */
  redactBody(bytes: Buffer, isCut: boolean): string {
    // latin1 maps each byte to one character, so no byte is lost.
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
    // Show the scheme, because a wrong scheme is the most common mistake.
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
 * Redacts a text about a request: replaces the request's secrets and all words that look like an
 * API key.
 */
export function redactForLog(
  redactionOf: RedactionOf,
  { url, headers }: FastifyRequest,
  text: string
): string {
  const redaction = redactionOf(headers.authorization)
  const isCut = text.length > MAX_LOGGED
  let logged = isCut ? `${withoutLastWord(text.slice(0, MAX_LOGGED))}...` : text
  // `redact` splits the text at delimiters, so it can't find a key that contains delimiters after
  // decoding. Replace such keys here.
  for (const part of url.slice(0, MAX_LOGGED).split(/[/?&=]/)) {
    const plain = decode(part)
    if (plain !== part && redaction.isKey(plain)) logged = logged.replaceAll(plain, REDACTED)
  }
  return redaction.redact(logged).replace(GENERATED_KEY, REDACTED)
}

/**
 * Redacts each string or number whose name in the JSON suggests a credential. If an object has such
 * a name, redacts all strings in the object. The JSON may be truncated.
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

/** Walks the JSON tokens and finds the secret values. */
class SecretFields {
  #followsSecretName = false
  /**
   * How many objects are open: the outermost object with a secret name, and the objects inside it.
   * 0 if no object with a secret name is open.
   */
  #depth = 0

  readName(name: string): void {
    this.#followsSecretName = SECRET_NAME.test(name)
  }

  /** Reads a token other than a name, and returns whether it is a secret value. */
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

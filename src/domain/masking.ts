import { isSecretName } from './credentials.js'

/** Replaces each secret. */
export const MASK = '***'

interface MaskOptions {
  /** Masks secrets that only the caller knows, such as API keys. */
  maskKnown?: (text: string) => string
  /** Returns the replacement for a secret. By default, every secret becomes `MASK`. */
  replace?: (secret: string) => string
}

type Masking = Required<MaskOptions>

/** How many levels of JSON nested in JSON strings are searched for secrets. */
const MAX_NESTING = 3

/**
 * Matches a brace, a bracket, a number or a string in JSON. If a colon follows the string, matches
 * the colon too. A string without a closing quote ends at the end of its line, so that the search
 * takes linear time.
 */
const JSON_TOKEN =
  /"([^"\\\r\n]*(?:\\(?:[\s\S]|$)[^"\\\r\n]*)*)(?:"(\s*:)?|$|(?=[\r\n]))|[{}[\]]|-?\d[\d.eE+-]*/g
const JSON_ESCAPE = /\\(?:u([0-9a-f]{4})|([\s\S]))/gi
const ESCAPED: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Matches a parameter in a form. Its value may contain spaces. */
const FORM_PARAMETER = /(?<=^|[?&])([\w%+.[\]-]+)=([^&]+)/g
/** Matches a parameter in any text: in a URL, form, cookie or connection string. */
const PARAMETER =
  /(?<=^|[?&;:,\s"'`({])([\w%+.[\]-]+)=("[^"\r\n]*"|[^&;,\s"'`<>(){}\\][^&;\s"'`<>\\]*)/g
/** Matches a field with a single-quoted value, as in objects printed by Node. */
const QUOTED_FIELD = /(?<![\w$-])([\w$-]+)(['"]?\s*:\s*)'([^'"\\\r\n]+)/g
/**
 * Matches a header or a YAML field at the start of a line or of a quoted text. Doesn't match if the
 * value is a placeholder, as in `Authorization: ApiKey <key>`.
 */
const LINE_FIELD =
  /(?<=^|[\r\n"'`])([ \t]*(?:- )?)([\w-]+)([ \t]*:[ \t]+)(?!\w+ <)("[^"\r\n]*"|[^\s"'`\\][^\r\n"'`\\]*)/g
const USER_IN_URL = /(?<=:\/\/)[^\s/?#@"'`<>\\]+(?=@)/g
/** Matches a JSON Web Token, even directly after a percent-encoded character. */
const JWT = /(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/g
const PRIVATE_KEY =
  /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----(?:\\[nr]|[\w+/=\s])*(?:-----END \1-----)?/g
/**
 * Matches an authentication scheme and its value. To skip prose such as `Basic authentication`,
 * requires a value that contains a digit or has at least 20 characters.
 */
const SCHEME = new RegExp(
  '(?<!\\w)((?:ApiKey|Bearer|Basic|Digest|Token)\\s{1,9})' +
    `(?=[^\\s"'<>,;\\\\]{0,100}\\d|[^\\s"'<>,;\\\\]{20})([^\\s"'<>,;\\\\*]{8,})`,
  'gi'
)

/**
 * Masks everything that looks like a secret: the values of fields and parameters with a secret
 * name, JSON Web Tokens, private keys, user names and passwords in URLs, and values after an
 * authentication scheme. Also searches JSON nested in strings.
 */
export function maskSecrets(text: string, options: MaskOptions = {}): string {
  return maskText(
    text,
    { maskKnown: (plain) => plain, replace: () => MASK, ...options },
    MAX_NESTING
  )
}

function maskText(text: string, masking: Masking, nesting: number): string {
  const withoutFields = text.includes('"') ? maskFields(text, masking, nesting) : text
  return masking.maskKnown(maskForms(withoutFields, masking))
}

function maskForms(text: string, { replace }: Masking): string {
  return maskParameters(text, PARAMETER, replace)
    .replace(QUOTED_FIELD, (field, name: string, colon: string, value: string) =>
      isSecretName(name) ? `${name}${colon}'${replace(value)}` : field
    )
    .replace(LINE_FIELD, (field, indent: string, name: string, colon: string, value: string) =>
      isSecretName(name) ? `${indent}${name}${colon}${replace(value)}` : field
    )
    .replace(USER_IN_URL, (user) => replace(user))
    .replace(JWT, (token) => replace(token))
    .replace(PRIVATE_KEY, (key) => replace(key))
    .replace(SCHEME, (_match, scheme: string, value: string) => scheme + replace(value))
}

/** Masks the values of parameters in a URL, query or form if their names suggest a secret. */
export const maskForm = (text: string): string => maskParameters(text, FORM_PARAMETER, () => MASK)

/** Masks the values of parameters whose name suggests a secret. Names may be percent-encoded. */
function maskParameters(text: string, parameter: RegExp, replace: Masking['replace']): string {
  if (!text.includes('=')) return text
  return text.replace(parameter, (pair, name: string, value: string) =>
    isSecretName(decodeAscii(name)) ? `${name}=${replace(value)}` : pair
  )
}

/** Decodes each percent-encoded byte on its own. Unlike `decodeURIComponent`, it never throws. */
function decodeAscii(name: string): string {
  return name.replace(/%[0-9a-f]{2}/gi, (byte) =>
    String.fromCharCode(Number.parseInt(byte.slice(1), 16))
  )
}

/**
 * Masks each string and number in JSON if its name suggests a secret. If an array or an object has
 * such a name, masks all strings and numbers in it. The JSON may be truncated.
 */
function maskFields(json: string, masking: Masking, nesting: number): string {
  const fields = new SecretFields()
  return json.replace(
    JSON_TOKEN,
    (token: string, string: string | undefined, colon: string | undefined) => {
      if (colon !== undefined) {
        fields.readName(unescapeJson(string ?? ''))
        return maskEscaped(token, string, masking, nesting)
      }
      if (fields.isSecret(token, string)) return maskValue(token, string, masking)
      return maskEscaped(token, string, masking, nesting)
    }
  )
}

/**
 * Masks a JSON string or number. `string` is the text between the quotes, or undefined for a
 * number.
 */
function maskValue(token: string, string: string | undefined, { replace }: Masking): string {
  const value = string === undefined ? token : unescapeJson(string)
  const replaced = replace(value)
  return replaced === value ? token : JSON.stringify(replaced)
}

/**
 * Masks the secrets in a JSON string or property name that contains escapes. Returns any other
 * token unchanged, because `maskText` can search it without unescaping.
 */
function maskEscaped(
  token: string,
  string: string | undefined,
  masking: Masking,
  nesting: number
): string {
  if (nesting === 0 || !string?.includes('\\')) return token
  const plain = unescapeJson(string)
  const masked = maskText(plain, masking, nesting - 1)
  if (masked === plain) return token
  const colon = token.endsWith(':') ? ':' : ''
  return JSON.stringify(masked) + colon
}

function unescapeJson(string: string): string {
  if (!string.includes('\\')) return string
  return string.replace(JSON_ESCAPE, (_escape, hex: string | undefined, character = '') =>
    hex === undefined
      ? (ESCAPED[character] ?? character)
      : String.fromCharCode(Number.parseInt(hex, 16))
  )
}

/** Reads JSON tokens in order and decides which values are secret. */
class SecretFields {
  /** The name of the property whose value comes next, or undefined for the items of an array. */
  #name: string | undefined
  /**
   * The number of open objects and arrays, counted from the outermost one that has a secret name.
   * 0 if none of them has a secret name.
   */
  #depth = 0
  /**
   * Whether the field `value` of the current object contains a secret, because its field `name` or
   * `key` contains a secret name, as in `{"name":"token","value":"…"}`.
   */
  #isNamedSecret = false

  readName(name: string): void {
    this.#name = name
  }

  /**
   * Reads a token other than a property name, and returns whether it is a secret value. `string` is
   * the text between the quotes of a string.
   */
  isSecret(token: string, string: string | undefined): boolean {
    const name = this.#name
    this.#name = undefined
    const isNamedSecret = name === 'value' && this.#isNamedSecret
    const isSecret = isNamedSecret || (name !== undefined && isSecretName(name))
    if (string === undefined && !/^[-\d]/.test(token)) {
      this.#isNamedSecret = false
      this.#readBracket(token, isSecret)
      return false
    }
    if (name === 'name' || name === 'key') {
      this.#isNamedSecret = string !== undefined && isSecretName(unescapeJson(string))
    }
    return isSecret || this.#depth > 0
  }

  #readBracket(bracket: string, isSecret: boolean): void {
    if (bracket === '{' || bracket === '[') {
      if (isSecret || this.#depth > 0) this.#depth += 1
    } else if (this.#depth > 0) {
      this.#depth -= 1
    }
  }
}

import { isSecretName } from '../../domain/credentials.js'
import { parseJsonObjectOrArray } from '../../domain/json.js'

/** Fields whose content the API reference doesn't define, or that hold credentials. */
const FREE_FIELDS = new Set([
  'payload',
  'overrides',
  'data',
  'controlValues',
  'credentials',
  'deviceTokens'
])
/** The JSON Schema keywords that contain possible values of the described field. */
const SCHEMA_VALUES = new Set(['default', 'examples', 'placeholder', 'const', 'enum'])

const USER_IN_URL = /(?<before>\b[a-z][a-z\d+.-]{1,20}:\/\/)(?<secret>[^\s/?#@"'<>]+)@/gi
const PARAMETER = /(?<=^|[?&;])(?<before>(?<name>[\w%.[\]-]+)=)(?<secret>[^&\s"'<>#]+)/g
const FIELD =
  /(?<before>\\?["'](?<name>[\w-]{1,200})\\?["']\s*:\s*\\?["'])(?<secret>(?:[^"'\\]|\\[^"'])+)/g
const TOKEN = /(?<before>(?<![\w-]))(?<secret>eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*)/g
/**
 * Matches an authentication scheme and the secret after it. If the scheme is also an ordinary word,
 * such as `Basic` or `token`, the next word is a secret only if it looks like a key.
 */
const SCHEME = new RegExp(
  '(?<before>\\b(?:ApiKey|Bearer)\\s+|' +
    '\\b(?:api[Kk]ey|bearer|[Bb]asic|[Tt]oken|[Dd]igest)\\s+(?=\\S+[\\dA-Z=])(?=\\S{8}))' +
    '(?<secret>[^\\s"\'<>,;\\\\{]+)',
  'g'
)

/**
 * Where a value is:
 * - `free`: in content that the API reference doesn't define
 * - `secret`: in a field that holds credentials
 * - `described`: in the JSON Schema of a field that holds credentials
 * - `plain`: anywhere else
 */
type State = 'plain' | 'free' | 'secret' | 'described'

/**
 * Returns a copy of a record in which `replace` has replaced all credentials, keys and webhook
 * URLs. Also finds them inside strings: in URLs, parameters and JSON, and after an authentication
 * scheme such as `Bearer`. The API key is replaced wherever it occurs.
 */
export function replaceSecrets<Value>(
  record: Value,
  apiKey: string,
  replace: (secret: string) => string
): Value {
  return new SecretReplacement(apiKey, replace).value(record, '', 'plain') as Value
}

class SecretReplacement {
  readonly #apiKey: string
  readonly #replace: (secret: string) => string

  constructor(apiKey: string, replace: (secret: string) => string) {
    this.#apiKey = apiKey
    this.#replace = replace
  }

  value(value: unknown, field: string, state: State): unknown {
    if (typeof value === 'string') return this.#string(value, field, state)
    if (typeof value === 'number') return state === 'secret' ? 0 : value
    if (Array.isArray(value)) return value.map((item) => this.value(item, field, state))
    if (typeof value !== 'object' || value === null) return value
    // Headers and parameters may be pairs such as `{ key: 'Authorization', value: … }`.
    const { name: title, key } = value as Record<string, unknown>
    const isSecretPair = [title, key].some((word) => typeof word === 'string' && isSecretName(word))
    const entries = Object.entries(value).map(([name, inner]) => {
      const isSecret = isSecretName(name) || (isSecretPair && name === 'value')
      return [name, this.value(inner, name, innerState(name, isSecret, field, state))]
    })
    return Object.fromEntries(entries)
  }

  #string(source: string, field: string, state: State): string {
    if (/^(directW|w)ebhookUrl$/.test(field)) return this.#url(source)
    if (state === 'secret')
      return /^https?:\/\//i.test(source) ? this.#url(source) : this.#replace(source)
    const json = parseJsonObjectOrArray(source)
    if (typeof json !== 'object' || json === null) return this.#patterns(source)
    const replaced = JSON.stringify(this.value(json, '', 'free'))
    const isUnchanged = replaced === JSON.stringify(json)
    return this.#patterns(isUnchanged ? source : replaced)
  }

  #url(source: string): string {
    return `https://example.com/${this.#replace(source)}`
  }

  #patterns(source: string): string {
    let text = source
    for (const pattern of [USER_IN_URL, PARAMETER, FIELD, SCHEME, TOKEN]) {
      text = text.replace(pattern, (...match) => this.#match(match[0], match.at(-1)))
    }
    return text.replaceAll(this.#apiKey, () => this.#replace(this.#apiKey))
  }

  #match(match: string, { before, name, secret }: Match): string {
    // Keep Liquid expressions, because they aren't secret.
    if (secret.includes('{{') || (name !== undefined && !isSecretName(name))) return match
    const after = match.slice(before.length + secret.length)
    return `${before}${this.#replace(secret)}${after}`
  }
}

/**
 * The named groups of a pattern. If there is a `name`, the value is a secret only if the name
 * suggests it.
 */
interface Match {
  before: string
  name?: string
  secret: string
}

/**
 * Returns the state of a field's value. `state` is the state of the object that contains the field.
 */
function innerState(name: string, isSecret: boolean, parentField: string, state: State): State {
  if (state === 'secret') return 'secret'
  if (state === 'described') return SCHEMA_VALUES.has(name) ? 'secret' : 'described'
  if (parentField === 'properties') return isSecret ? 'described' : state
  const isFree = state === 'free' || FREE_FIELDS.has(name)
  if (!isFree) return 'plain'
  return isSecret ? 'secret' : 'free'
}

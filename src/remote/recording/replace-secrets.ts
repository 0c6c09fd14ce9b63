import { isSecretName } from '../../domain/credentials.js'
import { parseJsonObjectOrArray } from '../../domain/json.js'
import { maskSecrets } from '../../domain/masking.js'

/** Fields that hold credentials, and fields whose content the API reference doesn't define. */
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

/**
 * Matches an authentication scheme and the secret after it. If the scheme is also an ordinary word,
 * such as `Basic` or `token`, the next word is a secret only if it looks like a key.
 */
const SCHEME = new RegExp(
  '(\\b(?:ApiKey|Bearer)\\s+|' +
    '\\b(?:api[Kk]ey|bearer|[Bb]asic|[Tt]oken|[Dd]igest)\\s+(?=\\S+[\\dA-Z=])(?=\\S{8}))' +
    '([^\\s"\'<>,;\\\\{]+)',
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
 * Returns a copy of the record in which `replace` has replaced each credential, key and webhook
 * URL, even inside a string: in a URL, in parameters or JSON, or after an authentication scheme
 * such as `Bearer`. The API key is replaced wherever it occurs.
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
      const replaced = this.value(inner, name, innerState(name, isSecret, field, state))
      return [this.#text(name), replaced]
    })
    return Object.fromEntries(entries)
  }

  #string(source: string, field: string, state: State): string {
    if (/^(directW|w)ebhookUrl$/.test(field)) return this.#url(source)
    if (state === 'secret')
      return /^https?:\/\//i.test(source) ? this.#url(source) : this.#replace(source)
    const json = parseJsonObjectOrArray(source)
    if (typeof json !== 'object' || json === null) return this.#text(source)
    const replaced = JSON.stringify(this.value(json, '', 'free'))
    const isUnchanged = replaced === JSON.stringify(json)
    return this.#known(isUnchanged ? source : replaced)
  }

  #url(source: string): string {
    return `https://example.com/${this.#replace(source)}`
  }

  #text(source: string): string {
    const text = source.replace(
      SCHEME,
      (_match, scheme: string, secret: string) => scheme + this.#replace(secret)
    )
    const replace = (secret: string) => this.#replaceUnlessLiquid(secret)
    return this.#known(maskSecrets(text, { replace }))
  }

  /** Replaces the API key. */
  #known(text: string): string {
    return text.replaceAll(this.#apiKey, () => this.#replace(this.#apiKey))
  }

  /** Keeps a value that contains a Liquid expression, because it isn't secret. */
  #replaceUnlessLiquid(secret: string): string {
    return secret.includes('{{') ? secret : this.#replace(secret)
  }
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

import { SECRET_FIELD, SECRET_NAME } from '../../domain/credentials.js'
import { attempt } from '../../domain/errors.js'

/** Fields whose content the contract does not know, or that hold credentials. */
const FREE_FIELDS = new Set([
  'payload',
  'overrides',
  'data',
  'controlValues',
  'credentials',
  'deviceTokens'
])
/** In a schema, the fields with values of what it describes. */
const SCHEMA_VALUES = new Set(['default', 'examples', 'placeholder', 'const', 'enum'])

const USER_IN_URL = /(\b[a-z][a-z\d+.-]{1,20}:\/\/)([^\s/?#@"'<>]+)@/gi
const PARAMETER = new RegExp(`((?:^|[?&;])${SECRET_FIELD}=)([^&\\s"'<>#]+)`, 'gi')
const FIELD = new RegExp(
  `(\\\\?["']${SECRET_FIELD}\\\\?["']\\s*:\\s*\\\\?["'])((?:[^"'\\\\]|\\\\[^"'])+)`,
  'gi'
)
/** Of words that are prose too, what follows must look like a key. */
const SCHEME =
  /(\b(?:ApiKey|Bearer)\s+|\b(?:api[Kk]ey|bearer|[Bb]asic|[Tt]oken|[Dd]igest)\s+(?=\S+[\dA-Z=])(?=\S{8}))([^\s"'<>,;\\{]+)/g

/** What a value is: a secret, or the part of a schema that describes one. */
type State = 'plain' | 'free' | 'secret' | 'described'

/**
 * Returns a record with other credentials, keys and addresses of webhooks, also in its texts: in URLs, parameters and JSON,
 * after the names of schemes, and the API key wherever it stands. All else stays.
 */
export function withoutSecrets<Value>(
  record: Value,
  apiKey: string,
  secret: (text: string) => string
): Value {
  return walk(record, '', 'plain') as Value

  function walk(value: unknown, field: string, state: State): unknown {
    if (typeof value === 'string') return textOf(value, field, state)
    if (typeof value === 'number') return state === 'secret' ? 0 : value
    if (Array.isArray(value)) return value.map((each) => walk(each, field, state))
    if (typeof value !== 'object' || value === null) return value
    // A header or parameter: `{ key: 'Authorization', value: … }`.
    const { name: title, key } = value as Record<string, unknown>
    const isPair = [title, key].some((each) => typeof each === 'string' && SECRET_NAME.test(each))
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const isSecret = SECRET_NAME.test(name) || (isPair && name === 'value')
        return [name, walk(each, name, stateOf(name, isSecret, field, state))]
      })
    )
  }

  function textOf(source: string, field: string, state: State): string {
    if (/^(directW|w)ebhookUrl$/.test(field)) return `https://example.com/${secret(source)}`
    if (state === 'secret')
      return /^https?:\/\//i.test(source) ? `https://example.com/${secret(source)}` : secret(source)
    const inner = /^\s*[[{]/.test(source) ? attempt((): unknown => JSON.parse(source)) : undefined
    if (typeof inner !== 'object' || inner === null) return withoutPatterns(source)
    const text = JSON.stringify(walk(inner, '', 'free'))
    return withoutPatterns(text === JSON.stringify(inner) ? source : text)
  }

  function withoutPatterns(source: string): string {
    const replaced = [USER_IN_URL, PARAMETER, FIELD, SCHEME].reduce(
      (text, pattern) =>
        text.replace(pattern, (match, before: string, value: string) =>
          value.includes('{{')
            ? match
            : `${before}${secret(value)}${match.slice(before.length + value.length)}`
        ),
      source
    )
    return replaced.replaceAll(apiKey, () => secret(apiKey))
  }
}

function stateOf(name: string, isSecret: boolean, field: string, state: State): State {
  if (state === 'secret') return 'secret'
  if (state === 'described') return SCHEMA_VALUES.has(name) ? 'secret' : 'described'
  if (field === 'properties') return isSecret ? 'described' : state
  const isFree = state === 'free' || FREE_FIELDS.has(name)
  return isFree && isSecret ? 'secret' : isFree ? 'free' : 'plain'
}

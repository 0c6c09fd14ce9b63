import { SECRET_FIELD } from '../../core/credentials.js'

/** What stands for a secret, by its form. */
interface Replacer {
  isSecret(field: string): boolean
  secret(text: string): string
  url(text: string): string
  number(source: number): number
  withoutSecrets(text: string): string
}

/** Fields whose content the contract does not know, or that hold credentials. */
const FREE_FIELDS = new Set(['payload', 'overrides', 'data', 'controlValues', 'credentials', 'deviceTokens'])
/** In a schema, the fields with values of what it describes. */
const SCHEMA_VALUES = new Set(['default', 'examples', 'placeholder', 'const', 'enum'])

const USER_IN_URL = /(\b[a-z][a-z\d+.-]{1,20}:\/\/)([^\s/?#@"'<>]+)@/gi
const PARAMETER = new RegExp(`((?:^|[?&;])${SECRET_FIELD}=)([^&\\s"'<>#]+)`, 'gi')
const FIELD = new RegExp(`(\\\\?["']${SECRET_FIELD}\\\\?["']\\s*:\\s*\\\\?["'])((?:[^"'\\\\]|\\\\[^"'])+)`, 'gi')
/** Of words that are prose too, what follows must look like a key. */
const SCHEME =
  /(\b(?:ApiKey|Bearer)\s+|\b(?:api[Kk]ey|bearer|[Bb]asic|[Tt]oken|[Dd]igest)\s+(?=\S+[\dA-Z=])(?=\S{8}))([^\s"'<>,;\\{]+)/g

/** Returns a text without the secrets in its URLs, its parameters, its JSON and after the names of schemes. */
export function textWithoutSecrets(source: string, secret: (text: string) => string): string {
  return [USER_IN_URL, PARAMETER, FIELD, SCHEME].reduce(
    (text, pattern) =>
      text.replace(pattern, (match, before: string, value: string) =>
        value.includes('{{') ? match : `${before}${secret(value)}${match.slice(before.length + value.length)}`
      ),
    source
  )
}

/** Returns a record, or the value of a field of it, with other credentials, keys and webhooks; all else stays. */
export function withoutSecrets(replacer: Replacer, record: unknown, field = ''): unknown {
  return walk(record, field, false)

  /** `owner` is the secret property that the part of a schema describes. */
  function walk(value: unknown, field: string, wasFree: boolean, owner?: string): unknown {
    const isFree = wasFree || FREE_FIELDS.has(field)
    const isSecret = isFree && replacer.isSecret(field)
    if (typeof value === 'string') return textOf(value, field, isSecret)
    if (typeof value === 'number') return isSecret ? replacer.number(value) : value
    if (Array.isArray(value)) return value.map((each) => walk(each, field, isFree, owner))
    if (typeof value !== 'object' || value === null) return value
    const named = nameOfPair(value)
    const entries = Object.entries(value).map(([name, each]) => {
      const within = owner ?? (field === 'properties' && replacer.isSecret(name) ? name : undefined)
      if (within && field !== 'properties' && SCHEMA_VALUES.has(name)) return [name, walk(each, within, true)]
      if (named !== undefined && name === 'value') return [name, walk(each, named, true)]
      return [name, walk(each, isSecret && !isWebhook(name) ? field : name, isFree, within)]
    })
    return Object.fromEntries(entries)
  }

  /** A header or parameter: `{ key: 'Authorization', value: … }`. */
  function nameOfPair(value: object): string | undefined {
    const { name, key } = value as Record<string, unknown>
    return [name, key].find((each): each is string => typeof each === 'string' && replacer.isSecret(each))
  }

  function textOf(source: string, field: string, isSecret: boolean): string {
    if (isWebhook(field)) return replacer.url(source)
    if (isSecret) return /^https?:\/\//i.test(source) ? replacer.url(source) : replacer.secret(source)
    const inner = /^\s*[[{]/.test(source) ? parsed(source) : undefined
    if (typeof inner !== 'object' || inner === null) return replacer.withoutSecrets(source)
    const text = JSON.stringify(walk(inner, 'data', true))
    return replacer.withoutSecrets(text === JSON.stringify(inner) ? source : text)
  }
}

const isWebhook = (field: string) => /^(directW|w)ebhookUrl$/.test(field)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import { hash } from 'node:crypto'
import { Kind, type TSchema } from '@sinclair/typebox'
import { VENDOR_NAMES } from '../../domain/assumptions.js'
import { parseIsoTime } from '../../domain/clock.js'
import { SECRET_NAME } from '../../domain/credentials.js'
import { STEP_TYPES } from '../../domain/enums.js'
import { ID_PATTERN, slugOf } from '../../domain/ids.js'
import { MessageResponse } from '../../messages/schemas.js'
import { compile, targetOf } from '../../schema/typebox.js'
import type { SeedMessage, SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { defaultControls, stepVariables } from '../../seeds/resolve/step-defaults.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { isObject } from '../response-checks.js'
import { WORD } from './names.js'
import { withoutSecrets } from './secrets.js'
import { FIRST_NAMES, LAST_NAMES, WORDS } from './words.js'

/** What is not replaced: credentials and keys always are. */
export type Kept = 'nothing' | 'workflow-texts' | 'personal-data'

export type Replacement = ReturnType<typeof createReplacement>

/** The name of a field in a workflow's own schema; in payloads it must have letters alone. */
const OWN_NAME = /^(?=.{1,30}$)[A-Za-z_]+(-[A-Za-z_]+)*$/
const EMAIL = /^[^\s@]+@[^\s@]+$/
const RECORD_ID = /^[\da-f]{24}$|^[\da-f-]{36}$/
const IDENTIFIER_FIELD = /^(identifier|\w+Identifier|providerId|stepId|workflowId|errorId)$/
const IDENTIFIER = /^(?!.*\d{7})[A-Za-z][\w.-]{0,99}$/
const TIMEZONES: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])
/** The number of a phone has as many digits, or more; what counts or measures has fewer. */
const MIN_DIGITS = 7

/**
 * Returns what replaces the personal data of records. Only what the contract's schemas say is no text stays: words of an
 * enum, numbers, flags, times, ids and identifiers; all else is made anew, of the same length. The same value with the
 * same API key has the same replacement. Of free objects the names of fields stay that `keepsName` allows.
 */
export function createReplacement(
  apiKey: string,
  kept: Kept,
  keepsName: (name: string) => boolean
) {
  const secretless = <Value>(value: Value) =>
    withoutSecrets(value, apiKey, (text) => opaque('secret', text))
  const workflowText = (source: string) => (kept === 'nothing' ? text(source) : secretless(source))
  const staying = (pattern: RegExp, other: (source: string) => string) => (source: string) =>
    pattern.test(source) ? source : other(source)
  const subscriberId = (source: string) =>
    EMAIL.test(source) ? email(source) : opaque('subscriber', source)
  const transactionId = (source: string) => opaque('txn', source)
  const url = (source: string) =>
    `https://example.com/${digestOf('url', source).toString('hex', 0, 8)}`
  /** By the name of a field that the contract has, what stands for its text. */
  const rules: [RegExp, (source: string) => string][] = [
    [
      /^(_\w+|uuid|deletedBy|workflowDatabaseId)$/,
      staying(RECORD_ID, (source) => opaque('id', source))
    ],
    [IDENTIFIER_FIELD, staying(IDENTIFIER, (source) => opaque('identifier', source))],
    [/^atTime$/, staying(/^\d\d:\d\d$/, text)],
    [/(At|Date|Until)$/, (source) => (parseIsoTime(source) === undefined ? text(source) : source)],
    [/^(field|variableName|digestKey|delayPath)$/, path],
    [/^(avatar|\w*[uU]rl)$/, (source) => source && url(source)],
    [/^(name|description|tags)$/, workflowText],
    [/^firstName$/, (source) => source && pick(FIRST_NAMES, digestOf('first name', source))],
    [/^lastName$/, (source) => source && pick(LAST_NAMES, digestOf('last name', source))],
    [/^email$/, email],
    [
      /^phone$/,
      (source) =>
        source && `+1555${digits(source.replaceAll(/\D/g, '').padStart(11, '5').slice(-11))}`
    ],
    [/^subscriberId$/, subscriberId],
    [/^transactionId$/, transactionId],
    [/^contextKeys$/, contextKey],
    [/^deviceTokens$/, (source) => opaque('device-token', source)],
    [/^locale$/, staying(/^[a-z]{2}([-_][A-Z]{2})?$/, text)],
    [/^timezone$/, (source) => (TIMEZONES.has(source) ? source : text(source))],
    [/^monthDays$/, staying(/^\d{1,2}$/, text)]
  ]
  return { message, step, workflow, subscriberId, transactionId, contextKey }

  function workflow({ name, steps = [], ...document }: SeedWorkflow) {
    return { ...document, ...(name && { name: workflowText(name) }), steps: steps.map(step) }
  }

  function message(document: SeedMessage): SeedMessage {
    if (kept === 'personal-data') return secretless(document)
    return bySchema(MessageResponse, document, '') as SeedMessage
  }

  function step(document: SeedStep): SeedStep {
    if (kept === 'personal-data') return secretless(document)
    const replaced = bySchema(
      WorkflowStep,
      document,
      '',
      ownTexts(document.controls?.dataSchema)
    ) as SeedStep
    const { _id = '', name = '', slug } = replaced
    if (slug !== undefined && ID_PATTERN.test(_id)) replaced.slug = slugOf(name, 'st', _id)
    if (kept === 'workflow-texts' && document.controlValues)
      replaced.controlValues = secretless({ controlValues: document.controlValues }).controlValues
    return replaced
  }

  /** `own` are the texts of a step that stay; a message has none. */
  function bySchema(
    schema: TSchema,
    value: unknown,
    field: string,
    own?: ReadonlySet<string>
  ): unknown {
    if (schema[Kind] === 'Reference' || schema[Kind] === 'Nullable') {
      return value === null ? null : bySchema(targetOf(schema), value, field, own)
    }
    const variant: TSchema | undefined = schema.anyOf?.find((each: TSchema) =>
      compile(each).Check(value)
    )
    if (variant) return bySchema(variant, value, field, own)
    if (Array.isArray(value))
      return value.map((each) => bySchema(schema.items ?? {}, each, field, own))
    if (typeof value === 'string') {
      if (isWordOf(schema, value) || (own?.has(value) && !SECRET_NAME.test(field))) return value
      if (schema.type) return (rules.find(([fields]) => fields.test(field))?.[1] ?? text)(value)
      // Of a free object, and in a step also of a JSON Schema.
      if (own && field === 'pattern') return '.*'
      return own && field === 'required' ? nameOf(value, own) : text(value)
    }
    if (typeof value === 'number')
      return schema.type === 'number' && !own ? value : number(value, field, own)
    if (!isObject(value)) return value
    const { properties = {}, additionalProperties: others, type } = schema
    const isFree = type === undefined || others === true
    const entries = Object.entries(value).map(([name, inner]) => {
      // Any other `name` is a text.
      const isVariable = schema.$id === 'NotificationTriggerVariable'
      if (Object.hasOwn(properties, name))
        return [name, bySchema(properties[name], inner, isVariable ? 'field' : name, own)]
      if (isObject(others)) return [path(name), bySchema(others as TSchema, inner, name, own)]
      // A name that the contract does not have is told as it is: no seed has it.
      return [isFree ? nameOf(name, own) : name, bySchema({} as TSchema, inner, name, own)]
    })
    return Object.fromEntries(entries)
  }

  function nameOf(name: string, own?: ReadonlySet<string>): string {
    return (own ? OWN_NAME.test(name) : keepsName(name)) ? name : opaque('field', name)
  }

  /** `payload.order.id`, also with indexes. */
  function path(source: string): string {
    const isPlain = source
      .split('.')
      .every((part) => OWN_NAME.test(part.replaceAll(/\[\d*\]/g, '')))
    return isPlain ? source : opaque('field', source)
  }

  /** Not by an object of HMAC, of which each stays in memory until all of that is collected. */
  function digestOf(kind: string, source: string): Buffer {
    return hash('sha256', `${apiKey}\n${kind}\n${source}\n${apiKey}`, 'buffer')
  }

  /** Returns what stands for a text that nobody reads. */
  function opaque(kind: string, source: string): string {
    return source && `${kind}-${digestOf(kind, source).toString('hex', 0, 8)}`
  }

  /** The type stays where it is a word. */
  function contextKey(source: string): string {
    const at = source.indexOf(':')
    const type = source.slice(0, Math.max(at, 0))
    return WORD.test(type)
      ? `${type}:${opaque(type, source.slice(at + 1))}`
      : `context:${opaque('context', source)}`
  }

  function email(source: string): string {
    const digest = digestOf('email', source)
    const [first, last] = [pick(FIRST_NAMES, digest), pick(LAST_NAMES, digest, 4)]
    return source && `${first}.${last}.${digest.toString('hex', 8, 16)}@example.com`.toLowerCase()
  }

  function number(source: number, field: string, own?: ReadonlySet<string>): number {
    const isShort = String(source).replaceAll(/\D/g, '').length < MIN_DIGITS
    if (own && isShort && !SECRET_NAME.test(field)) return source
    return Number.isSafeInteger(Math.trunc(source))
      ? Number(String(source).replaceAll(/\d+/g, digits))
      : 1
  }

  /** Returns as many digits, the first of them no zero where that of the source is none. */
  function digits(source: string): string {
    const made = BigInt(`0x${digestOf('digits', source).toString('hex')}`).toString()
    const all = made.repeat(1 + source.length / made.length)
    return `${source.startsWith('0') ? '0' : ''}${all}`.slice(0, source.length)
  }

  /** Returns a text of the same length and kind: an address, a time, a number, or else words. */
  function text(source: string): string {
    if (EMAIL.test(source)) return email(source)
    if (/^https?:\/\//i.test(source)) return url(source)
    if (/^\d+$/.test(source)) return digits(source)
    const digest = digestOf('text', source)
    if (parseIsoTime(source) !== undefined) {
      const moment = new Date(
        Date.UTC(2001, 0, 1) + (digest.readUIntBE(0, 5) % (9000 * 86_400_000))
      )
      return source.length === 10 ? moment.toISOString().slice(0, 10) : moment.toISOString()
    }
    const words = `${[...digest].map((byte) => WORDS[byte % WORDS.length]).join(' ')} `
    return words.repeat(1 + source.length / words.length).slice(0, source.length)
  }
}

const pick = (list: readonly string[], digest: Buffer, at = 0) =>
  list[digest.readUInt32BE(at) % list.length] ?? ''

const isWordOf = ({ enum: words = [] }: TSchema, value: string): boolean =>
  words.some((word: string) => word === value || VENDOR_NAMES[word] === value)

let common: readonly string[] | undefined

/** Returns the texts of the schemas that every step has, and the choices that are words of the step's own schema. */
function ownTexts(schema: unknown): ReadonlySet<string> {
  common ??= [
    ...textsIn([STEP_TYPES.map(defaultControls), stepVariables([], {})]),
    'integer',
    'null',
    'date-time'
  ]
  return new Set([...common, ...choicesIn(schema).filter((choice) => OWN_NAME.test(choice))])
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function choicesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    /^(enum|const)$/.test(name) ? textsIn(value) : choicesIn(value)
  )
}

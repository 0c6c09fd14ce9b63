import { Kind, type TSchema } from '@sinclair/typebox'
import { VENDOR_NAMES } from '../../domain/assumptions.js'
import { parseIsoTime } from '../../domain/clock.js'
import { isSecretName } from '../../domain/credentials.js'
import { STEP_TYPES } from '../../domain/enums.js'
import { ID_PATTERN, slugOf } from '../../domain/ids.js'
import { MessageResponse } from '../../messages/schemas.js'
import { compile, targetOf } from '../../schema/typebox.js'
import { isObject } from '../../schema/validation.js'
import type { SeedMessage, SeedStep, SeedWorkflow } from '../../seeds/format.js'
import { defaultControls, stepVariables } from '../../seeds/resolve/step-defaults.js'
import { WorkflowStep } from '../../workflow-steps/schemas.js'
import { Pseudonyms } from './pseudonyms.js'
import { replaceSecrets } from './replace-secrets.js'

/** What a recording keeps unchanged. Credentials and keys are always replaced. */
export type Kept = 'nothing' | 'workflow-texts' | 'personal-data'

/**
 * The kind of record that contains a value. In a step, the strings in `ownTexts` stay unchanged.
 */
type Context = { kind: 'message' } | { kind: 'step'; ownTexts: ReadonlySet<string> }

type ReplaceText = (source: string) => string

/**
 * Matches the field names that stay unchanged in the schemas of steps. `keepsFieldName` decides
 * which field names in payloads stay.
 */
const SCHEMA_FIELD_NAME = /^(?=.{1,30}$)[A-Za-z_]+(-[A-Za-z_]+)*$/
const RECORD_ID = /^[\da-f]{24}$|^[\da-f-]{36}$/
const IDENTIFIER_FIELD = /^(identifier|\w+Identifier|providerId|stepId|workflowId|errorId)$/
const IDENTIFIER = /^(?!.*\d{7})[A-Za-z][\w.-]{0,99}$/
const TIMEZONES: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])
/**
 * The minimum number of digits in a phone number. Shorter numbers are assumed to be counts or
 * measures.
 */
const PHONE_DIGITS = 7

/**
 * Replaces the personal data in records. Fields that the API reference defines keep their enum
 * values, numbers, booleans, timestamps, ids and identifiers. Every other string is replaced.
 * In objects whose fields the API reference doesn't define, such as payloads, a field name stays
 * only if `keepsFieldName` returns true.
 */
export class PersonalDataReplacement {
  readonly #pseudonyms: Pseudonyms
  readonly #apiKey: string
  readonly #kept: Kept
  readonly #keepsFieldName: (name: string) => boolean
  /** How to replace a string, depending on its field name in the API reference. */
  readonly #textRules: readonly (readonly [field: RegExp, replace: ReplaceText])[]

  constructor(apiKey: string, kept: Kept, keepsFieldName: (name: string) => boolean) {
    this.#pseudonyms = new Pseudonyms(apiKey)
    this.#apiKey = apiKey
    this.#kept = kept
    this.#keepsFieldName = keepsFieldName
    this.#textRules = textRules(this.#pseudonyms, (source) => this.#workflowText(source))
  }

  subscriberId(source: string): string {
    return this.#pseudonyms.subscriberId(source)
  }

  transactionId(source: string): string {
    return this.#pseudonyms.opaque('txn', source)
  }

  contextKey(source: string): string {
    return this.#pseudonyms.contextKey(source)
  }

  workflow({ name, steps = [], ...fields }: SeedWorkflow): SeedWorkflow & { steps: SeedStep[] } {
    return {
      ...fields,
      ...(name && { name: this.#workflowText(name) }),
      steps: steps.map((step) => this.step(step))
    }
  }

  message(message: SeedMessage): SeedMessage {
    if (this.#kept === 'personal-data') return this.#withoutSecrets(message)
    return this.#value(MessageResponse, message, '', { kind: 'message' }) as SeedMessage
  }

  step(step: SeedStep): SeedStep {
    if (this.#kept === 'personal-data') return this.#withoutSecrets(step)
    const ownTexts = ownTextsOf(step.controls?.dataSchema)
    const replaced = this.#value(WorkflowStep, step, '', { kind: 'step', ownTexts }) as SeedStep
    const { _id = '', name = '', slug } = replaced
    if (slug !== undefined && ID_PATTERN.test(_id)) replaced.slug = slugOf(name, 'st', _id)
    if (this.#kept === 'workflow-texts' && step.controlValues) {
      const { controlValues } = this.#withoutSecrets({ controlValues: step.controlValues })
      replaced.controlValues = controlValues
    }
    return replaced
  }

  #withoutSecrets<Value>(value: Value): Value {
    return replaceSecrets(value, this.#apiKey, (secret) =>
      this.#pseudonyms.opaque('secret', secret)
    )
  }

  #workflowText(source: string): string {
    return this.#kept === 'nothing' ? this.#pseudonyms.text(source) : this.#withoutSecrets(source)
  }

  #value(schema: TSchema, value: unknown, field: string, context: Context): unknown {
    if (schema[Kind] === 'Reference' || schema[Kind] === 'Nullable')
      return value === null ? null : this.#value(targetOf(schema), value, field, context)
    const variant: TSchema | undefined = schema.anyOf?.find((candidate: TSchema) =>
      compile(candidate).Check(value)
    )
    if (variant) return this.#value(variant, value, field, context)
    if (Array.isArray(value))
      return value.map((item) => this.#value(schema.items ?? {}, item, field, context))
    if (typeof value === 'string') return this.#string(schema, value, field, context)
    if (typeof value === 'number') return this.#number(schema, value, field, context)
    return isObject(value) ? this.#object(schema, value, context) : value
  }

  #string(schema: TSchema, value: string, field: string, context: Context): string {
    if (isEnumValue(schema, value)) return value
    const isStep = context.kind === 'step'
    if (isStep && context.ownTexts.has(value) && !isSecretName(field)) return value
    if (schema.type) {
      const rule = this.#textRules.find(([fields]) => fields.test(field))
      return rule ? rule[1](value) : this.#pseudonyms.text(value)
    }
    // A schema without a type means that the string is in an object whose fields the API reference
    // doesn't define. In a step, that object may itself be a JSON Schema.
    if (isStep && field === 'pattern') return '.*'
    if (isStep && field === 'required') return this.#fieldName(value, context)
    return this.#pseudonyms.text(value)
  }

  #number(schema: TSchema, value: number, field: string, context: Context): number {
    if (context.kind === 'message')
      return schema.type === 'number' ? value : this.#pseudonyms.number(value)
    const isShort = String(value).replaceAll(/\D/g, '').length < PHONE_DIGITS
    return isShort && !isSecretName(field) ? value : this.#pseudonyms.number(value)
  }

  #object(schema: TSchema, value: object, context: Context): object {
    const entries = Object.entries(value).map(([name, inner]) =>
      this.#entry(schema, name, inner, context)
    )
    return Object.fromEntries(entries)
  }

  #entry(
    schema: TSchema,
    name: string,
    value: unknown,
    context: Context
  ): [name: string, value: unknown] {
    const { properties = {}, additionalProperties, type } = schema
    if (Object.hasOwn(properties, name)) {
      // The `name` of a variable is a field path. Every other `name` is text.
      const isVariable = schema.$id === 'NotificationTriggerVariable'
      return [name, this.#value(properties[name], value, isVariable ? 'field' : name, context)]
    }
    if (isObject(additionalProperties)) {
      const itemSchema = additionalProperties as TSchema
      return [fieldPath(this.#pseudonyms, name), this.#value(itemSchema, value, name, context)]
    }
    // If the API reference defines the object's fields, an unknown field is never written to a
    // seed, so its name can stay.
    const isFree = type === undefined || additionalProperties === true
    const keptName = isFree ? this.#fieldName(name, context) : name
    return [keptName, this.#value({} as TSchema, value, name, context)]
  }

  #fieldName(name: string, context: Context): string {
    const isKept =
      context.kind === 'step' ? SCHEMA_FIELD_NAME.test(name) : this.#keepsFieldName(name)
    return isKept ? name : this.#pseudonyms.opaque('field', name)
  }
}

function textRules(pseudonyms: Pseudonyms, workflowText: ReplaceText) {
  const text: ReplaceText = (source) => pseudonyms.text(source)
  const opaque = (kind: string) => (source: string) => pseudonyms.opaque(kind, source)
  const rules: [RegExp, ReplaceText][] = [
    [/^(_\w+|uuid|deletedBy|workflowDatabaseId)$/, keeping(RECORD_ID, opaque('id'))],
    [IDENTIFIER_FIELD, keeping(IDENTIFIER, opaque('identifier'))],
    [/^atTime$/, keeping(/^\d\d:\d\d$/, text)],
    [/(At|Date|Until)$/, (source) => (parseIsoTime(source) === undefined ? text(source) : source)],
    [/^(field|variableName|digestKey|delayPath)$/, (source) => fieldPath(pseudonyms, source)],
    [/^(avatar|\w*[uU]rl)$/, (source) => source && pseudonyms.url(source)],
    [/^(name|description|tags)$/, workflowText],
    [/^firstName$/, (source) => pseudonyms.firstName(source)],
    [/^lastName$/, (source) => pseudonyms.lastName(source)],
    [/^email$/, (source) => pseudonyms.email(source)],
    [/^phone$/, (source) => pseudonyms.phone(source)],
    [/^subscriberId$/, (source) => pseudonyms.subscriberId(source)],
    [/^transactionId$/, opaque('txn')],
    [/^contextKeys$/, (source) => pseudonyms.contextKey(source)],
    [/^deviceTokens$/, opaque('device-token')],
    [/^locale$/, keeping(/^[a-z]{2}([-_][A-Z]{2})?$/, text)],
    [/^timezone$/, (source) => (TIMEZONES.has(source) ? source : text(source))],
    [/^monthDays$/, keeping(/^\d{1,2}$/, text)]
  ]
  return rules
}

/** Wraps `replace` so that strings matching the pattern stay unchanged. */
const keeping =
  (pattern: RegExp, replace: ReplaceText): ReplaceText =>
  (source) =>
    pattern.test(source) ? source : replace(source)

/** Keeps a path such as `payload.order.items[0].id` if its parts are plain names. */
function fieldPath(pseudonyms: Pseudonyms, source: string): string {
  const parts = source.split('.')
  const isPlain = parts.every((part) => SCHEMA_FIELD_NAME.test(part.replaceAll(/\[\d*\]/g, '')))
  return isPlain ? source : pseudonyms.opaque('field', source)
}

const isEnumValue = ({ enum: values = [] }: TSchema, value: string): boolean =>
  values.some((allowed: string) => allowed === value || VENDOR_NAMES[allowed] === value)

let commonTexts: readonly string[] | undefined

/**
 * Returns the strings that stay unchanged in a step:
 * - strings in the default schemas of all step types, and a few types and formats of JSON Schema
 * - `enum` and `const` values in the step's own schema, if they are plain names
 */
function ownTextsOf(schema: unknown): ReadonlySet<string> {
  commonTexts ??= [
    ...stringsIn([STEP_TYPES.map(defaultControls), stepVariables([], {})]),
    'integer',
    'null',
    'date-time'
  ]
  const choices = choicesIn(schema).filter((choice) => SCHEMA_FIELD_NAME.test(choice))
  return new Set([...commonTexts, ...choices])
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

function choicesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) =>
    /^(enum|const)$/.test(name) ? stringsIn(value) : choicesIn(value)
  )
}

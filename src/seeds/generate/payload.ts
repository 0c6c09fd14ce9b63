import type { Faker } from '@faker-js/faker'
import { isoTime } from '../../core/clock.js'
import { createRandom } from '../../core/random.js'
import { createFaker, DAY } from './random.js'

type JsonSchema = Record<string, unknown>

/** Returns one value; `at` is the time of the trigger, in milliseconds since 1970. */
export type ValueMaker = (faker: Faker, at: number) => unknown

/**
 * For each field of a payload, what makes its values: as its schema asks, else as its name suggests. Of the values that
 * the seed's own messages show, words and lists are used again. Of a list whose schema does not describe its items,
 * `inferred` does, the schema that the templates agree with.
 */
export function payloadMakers(
  schema: JsonSchema,
  { observed, inferred }: { observed: ReadonlyMap<string, readonly unknown[]>; inferred: JsonSchema }
): [name: string, make: ValueMaker][] {
  const used = propertiesOf(inferred)
  return Object.entries(propertiesOf(schema)).map(([name, field]) => {
    const known = (observed.get(name) ?? []).filter(isReusable)
    if (known.length > 0) return [name, (faker) => faker.helpers.arrayElement(known)]
    const isOpenList = field.type === 'array' && !isFilled(field.items)
    return [name, makerOf(isOpenList ? { ...field, items: used[name]?.items } : field, name)]
  })
}

/** False of a single value that would look odd when repeated, such as a number, and of endless words that test a layout. */
function isReusable(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null
  if (/\S{31}/.test(value)) return false
  return /^\P{N}+$/u.test(value) ? /^\p{L}/u.test(value) && !value.includes('://') : /^\p{L}.*\s/u.test(value)
}

function isFilled(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length > 0
}

function propertiesOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  return (properties ?? {}) as Record<string, JsonSchema>
}

function makerOf(schema: JsonSchema, name: string): ValueMaker {
  const { enum: choices, examples } = schema
  if ('const' in schema) return () => schema.const
  for (const values of [choices, examples]) {
    if (Array.isArray(values) && values.length > 0) return (faker) => faker.helpers.arrayElement(values)
  }
  switch ([schema.type].flat().find((each) => each !== 'null')) {
    case 'string':
      // Inferred from a template, which does not distinguish text and numbers.
      return String(schema.default).startsWith('{{') ? makerByName(name) : stringMaker(schema, name)
    case 'number':
      return numberMaker(schema, name, 0.01)
    case 'integer':
      return numberMaker(schema, name, 1)
    case 'boolean':
      return (faker) => faker.datatype.boolean()
    case 'array':
      return arrayMaker(schema, name)
    case 'object':
      return objectMaker(schema, name)
    default:
      return isFilled(schema.properties) ? objectMaker(schema, name) : makerByName(name)
  }
}

function objectMaker(schema: JsonSchema, owner: string): ValueMaker {
  const fields = Object.entries(propertiesOf(schema)).map(([name, field]) => {
    // The name of a product is a product, that of a member one of a person.
    return [name, makerOf(field, name === 'name' && ruleFor(owner) ? owner : name)] as const
  })
  return (faker, at) => Object.fromEntries(fields.map(([name, make]) => [name, make(faker, at)]))
}

/** A schema may ask for a text or a list so long that it fits nowhere. */
const MAX_LENGTH = 1000

function arrayMaker({ items, minItems, maxItems }: JsonSchema, name: string): ValueMaker {
  const make = isFilled(items) ? makerOf(items as JsonSchema, name.replace(/s$/, '')) : makerByName('product')
  const min = Math.min(numberOr(minItems, 1), MAX_LENGTH)
  const max = Math.max(min, Math.min(min + 2, numberOr(maxItems, min + 2)))
  return (faker, at) => Array.from({ length: between(faker, min, max) }, () => make(faker, at))
}

function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other
}

function numberMaker(schema: JsonSchema, name: string, unit: number): ValueMaker {
  const step = numberOr(schema.multipleOf, unit)
  const min = numberOr(schema.minimum, numberOr(schema.exclusiveMinimum, -Infinity) + step)
  const max = numberOr(schema.maximum, numberOr(schema.exclusiveMaximum, Infinity) - step)
  // In steps; a quotient of fractions may be off by a little.
  const first = Math.ceil((Number.isFinite(min) ? min : max - 100) / step - 1e-9)
  const last = Math.max(first, Math.floor(Math.min(max / step, first + 1000) + 1e-9))
  const isMoney = unit < 1 && ruleFor(name) === money
  return (faker) => {
    const usual = isMoney ? faker.number.int({ min: 500, max: 50_000 }) / 100 : faker.number.int({ min: 1, max: 60 })
    if (usual >= min && usual <= max && schema.multipleOf === undefined) return usual
    return Number((faker.number.int({ min: first, max: last }) * step).toFixed(6))
  }
}

function stringMaker({ format, pattern, minLength, maxLength }: JsonSchema, name: string): ValueMaker {
  const byPattern = typeof pattern === 'string' ? patternMaker(pattern) : undefined
  if (byPattern) return byPattern
  const make = FORMATS[String(format)] ?? makerByName(name)
  const min = Math.min(numberOr(minLength, 0), MAX_LENGTH)
  const max = numberOr(maxLength, Number.POSITIVE_INFINITY)
  return (faker, at) => String(make(faker, at)).padEnd(min, '0').slice(0, max)
}

/** Undefined of a pattern that faker can't make texts of, such as one with groups or alternatives. */
function patternMaker(pattern: string): ValueMaker | undefined {
  const atMost = (min: number, max: number) => `{${min},${Math.min(max || Infinity, min + 20)}}`
  const source = pattern
    .replaceAll(/^\^|\$$/g, '')
    .replaceAll('\\d', '[0-9]')
    .replaceAll('\\w', '[a-z0-9]')
    .replaceAll(/\{(\d+),(\d*)\}/g, (_, min, max) => atMost(Number(min), Number(max)))
  if ([...source.matchAll(/\d+/g)].some(([count]) => Number(count) > MAX_LENGTH)) return undefined
  const make: ValueMaker = (faker) => faker.helpers.fromRegExp(source)
  try {
    return new RegExp(pattern, 'u').test(String(make(createFaker(createRandom(1)), 0))) ? make : undefined
  } catch {
    return undefined
  }
}

const between = (faker: Faker, min: number, max: number) => faker.number.int({ min, max })
const digits = (faker: Faker, length: number) => String(between(faker, 10 ** (length - 1), 10 ** length - 1))
const dayOf = (at: number) => isoTime(at).slice(0, 10)
const later: ValueMaker = (faker, at) => dayOf(at + between(faker, 1, 30) * DAY)
const earlier: ValueMaker = (faker, at) => dayOf(at - between(faker, 0, 6) * DAY)
const money: ValueMaker = (faker) => `€${between(faker, 1, 240)}.${digits(faker, 2)}`
const url: ValueMaker = (faker) => `https://example.com/${faker.string.alphanumeric(8)}`
const email: ValueMaker = (faker) => `${faker.string.alpha({ length: 6, casing: 'lower' })}@example.com`

const FORMATS: Record<string, ValueMaker> = {
  date: later,
  'date-time': (faker, at) => isoTime(at + between(faker, 0, 14 * DAY)),
  time: (faker) => `${between(faker, 10, 23)}:${between(faker, 10, 59)}:00Z`,
  email,
  uri: url,
  url,
  'uri-reference': url,
  uuid: (faker) => faker.string.uuid(),
  hostname: (faker) => `${faker.string.alpha({ length: 6, casing: 'lower' })}.example.com`
}

function makerByName(name: string): ValueMaker {
  return ruleFor(name) ?? ((faker) => `${wordsOf(name)} ${faker.number.int({ min: 1, max: 900 })}`)
}

function ruleFor(name: string): ValueMaker | undefined {
  const words = ` ${wordsOf(name).toLowerCase()} `
  return RULES.find(([pattern]) => pattern.test(words))?.[1]
}

/** Whether a field of this name concerns one subscriber only, such as the number of an order. */
export function isPersonal(name: string): boolean {
  return / (code|otp|id|number|no|order|invoice|ticket|account|tracking|amount|total|user|customer) /.test(
    ` ${wordsOf(name).toLowerCase()} `
  )
}

/** `trackingUrl`, `tracking_url` and `tracking-url` as `Tracking url`. */
function wordsOf(name: string): string {
  const spaced = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.\s-]+/g, ' ')
    .trim()
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase()
}

/** By the words of a field's name; the first rule that matches counts. */
const RULES: readonly (readonly [RegExp, ValueMaker])[] = [
  [/ (code|otp|pin) /, (faker) => digits(faker, 6)],
  [/ track\w* (url|link) /, (faker) => `https://track.example.com/${faker.helpers.replaceSymbols('??########')}`],
  [/ (image|avatar|picture|photo|icon)/, (faker) => `https://cdn.example.com/${faker.string.alphanumeric(8)}.png`],
  [/ (url|uri|link|href|website) /, url],
  [/ e?mail /, email],
  [/ (phone|mobile) /, (faker) => faker.helpers.replaceSymbols('+120255501##')],
  [/ invoice (number|no|id) /, (faker, at) => `INV-${dayOf(at).slice(0, 4)}-${digits(faker, 5)}`],
  [/ (amount|total|subtotal|price|cost|sum|fee|balance|refund|salary|paid) /, money],
  [/ currency /, (faker) => faker.helpers.arrayElement(['EUR', 'USD', 'GBP'])],
  [/ (percent|percentage|discount|progress) /, (faker) => 5 * between(faker, 1, 19)],
  [
    / (minutes|hours|days|seconds|count|quantity|qty|left|stock|points|items|rating) /,
    (faker) => between(faker, 1, 40)
  ],
  [/ (due|expires?|expiry|deadline|until|by|renews?|starts?|arrives?|delivery|locked) .*/, later],
  [/ (date|day|on|at|since|time|when) $/, earlier],
  [/ (first|given) name /, (faker) => faker.person.firstName()],
  [/ (last|family) name /, (faker) => faker.person.lastName()],
  [/ (company|organi[sz]ation|tenant|account|customer name|vendor|supplier) /, (faker) => faker.company.name()],
  [/ (team|project|workspace|department|channel|group) /, (faker) => faker.commerce.department()],
  [/ (product|item|title|article|book|dish|plan|model|line)s? /, (faker) => faker.commerce.productName()],
  [/ (user|customer|sender|author|actor|assignee|person|owner|colleague|manager|driver|inviter|name) /, person],
  [/ (warehouse|city|location|place|store|branch|office|destination|origin|town) /, (faker) => faker.location.city()],
  [/ country /, (faker) => faker.location.country()],
  [/ (street|address) /, (faker) => faker.location.streetAddress()],
  [
    / (reason|comment|message|note|text|body|description|summary|details) /,
    (faker) => faker.commerce.productDescription()
  ],
  [/ (status|state) /, (faker) => faker.helpers.arrayElement(['open', 'in progress', 'done'])],
  [/ (version|release) /, (faker) => faker.system.semver()],
  [/ (id|number|no|reference|ref|order|ticket|issue) $/, (faker) => digits(faker, 5)]
]

function person(faker: Faker): string {
  return `${faker.person.firstName()} ${faker.person.lastName()}`
}

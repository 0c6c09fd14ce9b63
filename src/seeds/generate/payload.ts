import type { Faker } from '@faker-js/faker'
import { isoTime } from '../../domain/clock.js'
import { createPicture } from './picture.js'

const DAY = 86_400_000

type JsonSchema = Record<string, unknown>

/** Creates a random value. `time` is the time of the trigger, in milliseconds since 1970. */
export type ValueMaker = (faker: Faker, time: number) => unknown

/**
 * Lists that are nested deeper than this have only one item, because each level can triple the size
 * of the value.
 */
const MAX_LIST_DEPTH = 3

/** A list never has more items than this, even if its schema requires more. */
const MAX_LIST_LENGTH = 100

/** Returns a function that creates values for a schema, based on types, formats and field names. */
export function createValueMaker(schema: JsonSchema, name = '', listDepth = 0): ValueMaker {
  if ('const' in schema) return () => schema.const
  const choices = [schema.enum, schema.examples].find(
    (values): values is unknown[] => Array.isArray(values) && values.length > 0
  )
  if (choices) return (faker) => faker.helpers.arrayElement(choices)
  const type = [schema.type].flat().find((candidate) => candidate !== 'null')
  switch (type) {
    case 'boolean':
      return (faker) => faker.datatype.boolean()
    case 'number':
    case 'integer':
      return createNumberMaker(schema, type === 'integer')
    case 'array':
      return createListMaker(schema, name, listDepth)
    case 'object':
      return createObjectMaker(schema, name, listDepth)
    default:
      if (schema.properties) return createObjectMaker(schema, name, listDepth)
      return createTextMaker(schema, name, type === 'string')
  }
}

function createListMaker(schema: JsonSchema, name: string, listDepth: number): ValueMaker {
  const { items = {} } = schema
  const make = createValueMaker(items as JsonSchema, name, listDepth + 1)
  const { min, max } = lengthsOf(schema, listDepth)
  return (faker, time) => {
    const length = max > 1 ? randomInt(faker, min, max) : max
    return Array.from({ length }, () => make(faker, time))
  }
}

/** Returns a list's minimum and maximum length. Nested lists ignore `minItems` and `maxItems`. */
function lengthsOf({ minItems, maxItems }: JsonSchema, listDepth: number) {
  if (listDepth >= MAX_LIST_DEPTH) return { min: 1, max: 1 }
  if (listDepth > 0) return { min: 1, max: 3 }
  const limited = (value: unknown, fallback: number) =>
    typeof value === 'number' ? Math.min(Math.max(value, 0), MAX_LIST_LENGTH) : fallback
  const max = limited(maxItems, Math.max(3, limited(minItems, 1)))
  return { min: Math.min(limited(minItems, 1), max), max }
}

function createObjectMaker(
  { properties = {} }: JsonSchema,
  name: string,
  listDepth: number
): ValueMaker {
  const schemas = Object.entries(properties as Record<string, JsonSchema>)
  const makers = schemas.map(([field, schema]) => {
    // The meaning of a field `name` depends on its parent: `product.name` is a product,
    // `member.name` a person.
    const fieldName = field === 'name' ? name : field
    return [field, createValueMaker(schema, fieldName, listDepth)] as const
  })
  return (faker, time) =>
    Object.fromEntries(makers.map(([field, make]) => [field, make(faker, time)]))
}

function createTextMaker(schema: JsonSchema, name: string, isString: boolean): ValueMaker {
  const format = String(schema.format)
  const words = splitWords(FORMATS.test(format) ? format : name)
  const [, rule] = RULES.find(([pattern]) => pattern.test(words)) ?? []
  const make = rule ?? ((faker: Faker) => `${splitWords(name)} ${randomInt(faker, 1, 900)}`)
  // Schemas that are inferred from templates give every value the type `string`, because a template
  // doesn't show the value's real type.
  const isInferred = String(schema.default).startsWith('{{')
  return isString && !isInferred ? (faker, time) => String(make(faker, time)) : make
}

/** If the maximum is below the minimum, all numbers equal the minimum. */
function createNumberMaker({ minimum, maximum }: JsonSchema, isInteger: boolean): ValueMaker {
  const max = typeof maximum === 'number' ? maximum : undefined
  const min = typeof minimum === 'number' ? minimum : Math.min(1, max ?? 1)
  const range = Math.max((max ?? min + 100) - min, 0)
  return (faker) => {
    const value = min + faker.number.float() * range
    return isInteger ? Math.round(value) : Number(value.toFixed(2))
  }
}

const randomInt = (faker: Faker, min: number, max: number) => faker.number.int({ min, max })
const randomWord = (faker: Faker) => faker.string.alpha({ length: 8, casing: 'lower' })
const randomDigits = (faker: Faker, length: number) =>
  String(randomInt(faker, 10 ** (length - 1), 10 ** length - 1))
const price = (faker: Faker) => `€${randomInt(faker, 1, 240)}.${randomDigits(faker, 2)}`
const day = (faker: Faker, time: number) =>
  isoTime(time + randomInt(faker, 1, 30) * DAY).slice(0, 10)
const product = ({ commerce }: Faker) =>
  `${commerce.productAdjective()} ${commerce.productMaterial()} ${commerce.product()}`
const person = (faker: Faker) => `${faker.person.firstName()} ${faker.person.lastName()}`

/** The formats that have a rule. For other formats, the rule is chosen by the field name. */
const FORMATS = /^(date|date-time|time|email|ur[il]|uuid)$/

/**
 * Rules for creating a value. A rule matches the format of the value, or words in the name of its
 * field. The first matching rule wins.
 */
const RULES: readonly (readonly [RegExp, ValueMaker])[] = [
  [/^date time$/, (faker, time) => isoTime(time + randomInt(faker, 0, 14 * DAY))],
  [/^time$/, (faker) => `${randomInt(faker, 10, 23)}:${randomInt(faker, 10, 59)}:00Z`],
  [/^uuid$/, (faker) => faker.string.uuid()],
  [/\b(code|otp|pin)\b/, (faker) => randomDigits(faker, 6)],
  [/\b(image|avatar|picture|photo|icon)\b/, (faker) => createPicture('', randomInt(faker, 0, 99))],
  [/\b(ur[il]|link|href|website)\b/, (faker) => `https://example.com/${randomWord(faker)}`],
  [/\be?mail\b/, (faker) => `${randomWord(faker)}@example.com`],
  [/\b(phone|mobile)\b/, (faker) => faker.helpers.replaceSymbols('+120255501##')],
  [/\b(amount|(sub)?total|price|cost|sum|fee|balance|refund)\b/, price],
  [
    /\b(minutes|hours|days|seconds|count|quantity|left|stock|points|rating)\b/,
    (faker) => randomInt(faker, 1, 40)
  ],
  [/\b(due|expires|deadline|until|date|day|on|at|since|when)\b/, day],
  [/\b(company|organi[sz]ation|tenant|vendor|supplier)\b/, (faker) => faker.company.name()],
  [/\b(product|item|title|article|line|plan)s?\b/, product],
  [/\b(first|given) name\b/, (faker) => faker.person.firstName()],
  [/\b(user|customer|sender|author|assignee|owner|member|name)s?\b/, person],
  [/\b(warehouse|city|location|place|store|branch|office)\b/, (faker) => faker.location.city()],
  [
    /\b(reason|comment|message|text|body|description|summary)\b/,
    (faker) => faker.commerce.productDescription()
  ],
  [/\b(id|number|no|reference|order|ticket|issue)$/, (faker) => randomDigits(faker, 5)]
]

/** Returns the words of a name, such as `tracking url` for `trackingUrl` or `tracking_url`. */
function splitWords(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .toLowerCase()
}

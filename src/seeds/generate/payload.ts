import type { Faker } from '@faker-js/faker'
import { isoTime } from '../../domain/clock.js'

const DAY = 86_400_000

type JsonSchema = Record<string, unknown>

/** Returns one value; `at` is the time of the trigger, in milliseconds since 1970. */
export type ValueMaker = (faker: Faker, at: number) => unknown

/** Lists in lists that have several elements: each triples what is in it. */
const MAX_LISTS = 3

/** Returns what makes values of a schema: by its type and format, and by the names of its fields. */
export function valueMaker(schema: JsonSchema, name = '', lists = 0): ValueMaker {
  const { type, format, items, properties } = schema
  if ('const' in schema) return () => schema.const
  for (const values of [schema.enum, schema.examples]) {
    if (Array.isArray(values) && values.length > 0)
      return (faker) => faker.helpers.arrayElement(values)
  }
  const kind = [type].flat().find((each) => each !== 'null')
  if (kind === 'boolean') return (faker) => faker.datatype.boolean()
  if (kind === 'number' || kind === 'integer') return numberMaker(schema, kind === 'integer')
  if (kind === 'array') {
    const make = valueMaker((items ?? {}) as JsonSchema, name, lists + 1)
    return (faker, at) =>
      Array.from({ length: lists < MAX_LISTS ? whole(faker, 1, 3) : 1 }, () => make(faker, at))
  }
  if (kind === 'object' || properties) {
    // The name of a product is a product, that of a member one of a person.
    const makers = Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(
      ([field, value]) => {
        return [field, valueMaker(value, field === 'name' ? name : field, lists)] as const
      }
    )
    return (faker, at) =>
      Object.fromEntries(makers.map(([field, make]) => [field, make(faker, at)]))
  }
  const words = wordsOf(FORMATS.test(String(format)) ? String(format) : name)
  const [, rule] = RULES.find(([pattern]) => pattern.test(words)) ?? []
  const make = rule ?? ((faker: Faker) => `${wordsOf(name)} ${whole(faker, 1, 900)}`)
  // The type of a value that is inferred from a template may be any.
  const isInferred = String(schema.default).startsWith('{{')
  return kind === 'string' && !isInferred ? (faker, at) => String(make(faker, at)) : make
}

/** A maximum below the minimum counts as the minimum. */
function numberMaker({ minimum, maximum }: JsonSchema, isInteger: boolean): ValueMaker {
  const most = typeof maximum === 'number' ? maximum : undefined
  const least = typeof minimum === 'number' ? minimum : Math.min(1, most ?? 1)
  const range = Math.max((most ?? least + 100) - least, 0)
  return (faker) => {
    const value = least + faker.number.float() * range
    return isInteger ? Math.round(value) : Number(value.toFixed(2))
  }
}

const whole = (faker: Faker, min: number, max: number) => faker.number.int({ min, max })
const word = (faker: Faker) => faker.string.alpha({ length: 8, casing: 'lower' })
const digits = (faker: Faker, length: number) =>
  String(whole(faker, 10 ** (length - 1), 10 ** length - 1))
const price = (faker: Faker) => `€${whole(faker, 1, 240)}.${digits(faker, 2)}`
const day = (faker: Faker, at: number) => isoTime(at + whole(faker, 1, 30) * DAY).slice(0, 10)
const product = ({ commerce: c }: Faker) =>
  `${c.productAdjective()} ${c.productMaterial()} ${c.product()}`
const person = (faker: Faker) => `${faker.person.firstName()} ${faker.person.lastName()}`

/** The formats that have a rule. With any other, the field's name decides. */
const FORMATS = /^(date|date-time|time|email|ur[il]|uuid)$/

/** By the format, or the words of the field's name; the first rule that matches counts. */
const RULES: readonly (readonly [RegExp, ValueMaker])[] = [
  [/^date time$/, (faker, at) => isoTime(at + whole(faker, 0, 14 * DAY))],
  [/^time$/, (faker) => `${whole(faker, 10, 23)}:${whole(faker, 10, 59)}:00Z`],
  [/^uuid$/, (faker) => faker.string.uuid()],
  [/\b(code|otp|pin)\b/, (faker) => digits(faker, 6)],
  [
    /\b(image|avatar|picture|photo|icon)\b/,
    (faker) => `https://cdn.example.com/${word(faker)}.png`
  ],
  [/\b(ur[il]|link|href|website)\b/, (faker) => `https://example.com/${word(faker)}`],
  [/\be?mail\b/, (faker) => `${word(faker)}@example.com`],
  [/\b(phone|mobile)\b/, (faker) => faker.helpers.replaceSymbols('+120255501##')],
  [/\b(amount|(sub)?total|price|cost|sum|fee|balance|refund)\b/, price],
  [
    /\b(minutes|hours|days|seconds|count|quantity|left|stock|points|rating)\b/,
    (faker) => whole(faker, 1, 40)
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
  [/\b(id|number|no|reference|order|ticket|issue)$/, (faker) => digits(faker, 5)]
]

/** `trackingUrl`, `tracking_url` and `tracking-url` as `tracking url`. */
function wordsOf(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_.-]+/g, ' ')
    .toLowerCase()
}

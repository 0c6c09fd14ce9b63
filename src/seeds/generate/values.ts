import { isoTime } from '../../core/clock.js'
import { createRandom, type Random } from '../../core/random.js'
import { below, digitPair, digits, letters, pick } from './draw.js'
import { PEOPLE } from './people.js'
import { DAY, dayOf } from './times.js'

type JsonSchema = Record<string, unknown>

/** Makes one value; `at` is when, in milliseconds since 1970. */
export type Maker = (chance: Random, at: number) => unknown

/**
 * For each field of a payload what makes its values: as its schema asks, else as its name suggests. Of what the seed's
 * own messages hold there, stringEnum and lists are taken as they are. `texts` are the templates, which show what is read
 * of each item of a list.
 */
export function payloadMakers(
  schema: JsonSchema,
  { observed, texts }: { observed: ReadonlyMap<string, readonly unknown[]>; texts: readonly string[] }
): [name: string, make: Maker][] {
  return Object.entries(propertiesOf(schema)).map(([name, field]) => {
    const known = (observed.get(name) ?? []).filter(isWording)
    if (known.length > 0) return [name, (chance) => pick(chance, known)]
    const read = field.type === 'array' && !isFilled(field.items) ? readOfItems(name, texts) : []
    const items = closedObject(read)
    return [name, makerOf(read.length > 0 ? { ...field, items } : field, name)]
  })
}

/** What would look odd with other digits in it, or is no single value; no endless words, made to test a layout. */
function isWording(value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null
  if (/\S{31}/.test(value)) return false
  return /^\P{N}+$/u.test(value) ? /^\p{L}/u.test(value) && !value.includes('://') : /^\p{L}.*\s/u.test(value)
}

function isFilled(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length > 0
}

function closedObject(names: readonly string[]): JsonSchema {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
}

/** The fields that loops over the list in the payload read of its items. */
function readOfItems(list: string, texts: readonly string[]): string[] {
  const found = texts.flatMap((text) =>
    [...text.matchAll(/\bfor\s+([\w-]+)\s+in\s+payload\.([\w-]+)/g)].flatMap(([, item = '', name]) =>
      name === list ? [...text.matchAll(new RegExp(`\\b${item}\\.([\\w-]+)`, 'g'))].map(([, field]) => field ?? '') : []
    )
  )
  return [...new Set(found)]
}

function propertiesOf({ properties }: JsonSchema): Record<string, JsonSchema> {
  return (properties ?? {}) as Record<string, JsonSchema>
}

function makerOf(schema: JsonSchema, name: string): Maker {
  const { enum: words, examples } = schema
  if ('const' in schema) return () => schema.const
  if (Array.isArray(words) && words.length > 0) return (chance) => pick(chance, words)
  if (Array.isArray(examples) && examples.length > 0) return (chance) => pick(chance, examples)
  const type = [schema.type].flat().find((each) => each !== 'null')
  switch (type) {
    case 'string':
      // Inferred of a template, which does not tell text from numbers.
      return String(schema.default).startsWith('{{') ? naturalMaker(name) : stringMaker(schema, name)
    case 'number':
    case 'integer':
      return numberMaker(schema, name, type)
    case 'boolean':
      return (chance) => chance.next() < 0.5
    case 'array':
      return arrayMaker(schema, name)
    case 'object':
      return objectMaker(schema, name)
    default:
      return isFilled(schema.properties) ? objectMaker(schema, name) : naturalMaker(name)
  }
}

function objectMaker(schema: JsonSchema, of: string): Maker {
  const fields = Object.entries(propertiesOf(schema)).map(([name, field]) => {
    // The name of a product is a product, that of a member one of a person.
    return [name, makerOf(field, name === 'name' && kindOf(of) ? of : name)] as const
  })
  return (chance, at) => Object.fromEntries(fields.map(([name, make]) => [name, make(chance, at)]))
}

function arrayMaker({ items, minItems, maxItems }: JsonSchema, name: string): Maker {
  const make = isFilled(items) ? makerOf(items as JsonSchema, name.replace(/s$/, '')) : naturalMaker('product')
  const fewest = Math.min(numberOr(minItems, 1), MAX_REPEATED)
  const most = Math.max(fewest, Math.min(fewest + 2, numberOr(maxItems, Number.POSITIVE_INFINITY)))
  return (chance, at) => {
    const length = fewest + below(chance, most - fewest + 1)
    return Array.from({ length }, () => make(chance, at))
  }
}

function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other
}

function numberMaker(schema: JsonSchema, name: string, type: 'number' | 'integer'): Maker {
  const step = numberOr(schema.multipleOf, type === 'integer' ? 1 : 0.01)
  const least = numberOr(schema.minimum, aside(schema.exclusiveMinimum, step))
  const most = numberOr(schema.maximum, aside(schema.exclusiveMaximum, -step))
  const from = Number.isFinite(least) ? least : most - 100
  const fitting = Math.max(0, Math.floor(Math.min(most - from, 1000) / step)) + 1
  const isMoney = type === 'number' && kindOf(name) === money
  const natural = (chance: Random) => (isMoney ? (500 + below(chance, 49_500)) / 100 : 1 + below(chance, 60))
  return (chance) => {
    const wish = natural(chance)
    const value = wish < least || wish > most ? from + step * below(chance, fitting) : wish
    const steps = Math.floor(value / step + TINY)
    return Number(((steps * step < least - TINY ? steps + 1 : steps) * step).toFixed(6))
  }
}

/** What sums of fractions are off by. */
const TINY = 1e-9

function aside(bound: unknown, by: number): number {
  return typeof bound === 'number' ? bound + by : by > 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

function stringMaker(schema: JsonSchema, name: string): Maker {
  const { format, pattern, minLength, maxLength } = schema
  const make = FORMATS[String(format)] ?? naturalMaker(name)
  const least = Math.min(numberOr(minLength, 0), MAX_REPEATED)
  const most = numberOr(maxLength, Number.POSITIVE_INFINITY)
  const byPattern = typeof pattern === 'string' ? patternMaker(pattern) : undefined
  return (chance, at) => {
    if (byPattern) return byPattern(chance, at)
    const value = String(make(chance, at))
    return value.padEnd(least, '0').slice(0, most)
  }
}

/** Of characters, classes and quantifiers; undefined of a pattern that has anything else. */
function patternMaker(pattern: string): Maker | undefined {
  const parts: { letters: string; fewest: number; most: number }[] = []
  const source = pattern.replace(/^\^/, '').replace(/\$$/, '')
  let end = 0
  for (const { 0: text, index, groups } of source.matchAll(PATTERN_PART)) {
    if (index !== end) return undefined
    end += text.length
    const { set, escape: escapedLetter, letter, low, high, sign } = groups ?? {}
    const letters =
      set === undefined ? (escapedLetter === undefined ? letter : lettersOf(`\\${escapedLetter}`)) : lettersOf(set)
    if (!letters) return undefined
    const fewest = low === undefined ? (sign === '*' || sign === '?' ? 0 : 1) : Number(low)
    if (fewest > MAX_REPEATED) return undefined
    const most =
      sign === '+' || sign === '*' ? fewest + 6 : low === undefined ? 1 : Math.min(Number(high || low), fewest + 20)
    parts.push({ letters, fewest, most })
  }
  if (end !== source.length) return undefined
  const make: Maker = (chance) =>
    parts
      .map(({ letters, fewest, most }) =>
        Array.from({ length: fewest + below(chance, most - fewest + 1) }, () => pick(chance, [...letters])).join('')
      )
      .join('')
  try {
    return new RegExp(pattern, 'u').test(String(make(createRandom(1), 0))) ? make : undefined
  } catch {
    return undefined
  }
}

/** A schema may ask for a text or a list so long that it fits nowhere. */
const MAX_REPEATED = 1000

const PATTERN_PART =
  /(?:\[(?<set>[^^\]][^\]]*)\]|\\(?<escape>.)|(?<letter>[^\\[\](){}|.*+?^$]))(?:\{(?<low>\d+)(?:,(?<high>\d*))?\}|(?<sign>[*+?]))?/gsu

function lettersOf(set: string): string {
  return set
    .replaceAll('\\d', '0-9')
    .replaceAll('\\w', 'a-z0-9')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/(.)-(.)/gs, (_, from: string, to: string) => {
      const first = from.charCodeAt(0)
      return Array.from({ length: Math.max(0, to.charCodeAt(0) - first + 1) }, (_each, place) =>
        String.fromCharCode(first + place)
      ).join('')
    })
}

const later: Maker = (chance, at) => dayOf(at + (1 + below(chance, 30)) * DAY)
const earlier: Maker = (chance, at) => dayOf(at - below(chance, 7) * DAY)
const code: Maker = (chance) => digits(chance, 6)
const number: Maker = (chance) => digits(chance, 5)
const count: Maker = (chance) => 1 + below(chance, 40)
const money: Maker = (chance) => `€${1 + below(chance, 240)}.${digits(chance, 2)}`
const person: Maker = (chance) => `${pick(chance, PEOPLE).given} ${pick(chance, PEOPLE).family}`
const address: Maker = (chance) => `https://example.com/${letters(chance, 8)}`
const uuid: Maker = (chance) => chance.uuid()
const email: Maker = (chance) => `${letters(chance, 6)}@example.com`

const FORMATS: Record<string, Maker> = {
  date: later,
  'date-time': (chance, at) => isoTime(at + below(chance, 14 * DAY)),
  time: (chance) => `${digitPair(below(chance, 24))}:${digitPair(below(chance, 60))}:00Z`,
  email,
  uri: address,
  url: address,
  'uri-reference': address,
  uuid,
  hostname: (chance) => `${letters(chance, 6)}.example.com`
}

function naturalMaker(name: string): Maker {
  return kindOf(name) ?? ((chance) => `${wordsOf(name)} ${1 + below(chance, 900)}`)
}

function kindOf(name: string): Maker | undefined {
  const words = ` ${wordsOf(name).toLowerCase()} `
  return KINDS.find(([pattern]) => pattern.test(words))?.[1]
}

/** Whether a field of this name holds what concerns but one subscriber, such as the number of an order. */
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

/** By the words of a field's name; the first that fits counts. */
const KINDS: readonly (readonly [RegExp, Maker])[] = [
  [/ (code|otp|pin) /, code],
  [
    / track\w* (url|link) /,
    (chance) => `https://track.example.com/${letters(chance, 2).toUpperCase()}${digits(chance, 8)}`
  ],
  [/ (image|avatar|picture|photo|icon)/, (chance) => `https://cdn.example.com/${letters(chance, 8)}.png`],
  [/ (url|uri|link|href|website) /, address],
  [/ e?mail /, email],
  [/ (phone|mobile) /, (chance) => `+1202555${digitPair(1)}${digitPair(below(chance, 100))}`],
  [/ invoice (number|no|id) /, (chance, at) => `INV-${dayOf(at).slice(0, 4)}-${digits(chance, 5)}`],
  [/ (amount|total|subtotal|price|cost|sum|fee|balance|refund|salary|paid) /, money],
  [/ currency /, (chance) => pick(chance, ['EUR', 'USD', 'GBP'])],
  [/ (percent|percentage|discount|progress) /, (chance) => 5 * (1 + below(chance, 19))],
  [/ (minutes|hours|days|seconds|count|quantity|qty|left|stock|points|items|number of \w+|rating) /, count],
  [/ (due|expires?|expiry|deadline|until|by|renews?|starts?|arrives?|delivery|locked) .*/, later],
  [/ (date|day|on|at|since|time|when) $/, earlier],
  [/ (first|given) name /, (chance) => pick(chance, PEOPLE).given],
  [/ (last|family) name /, (chance) => pick(chance, PEOPLE).family],
  [
    / (company|organi[sz]ation|tenant|account|customer name|vendor|supplier|employer) /,
    (chance) => pick(chance, COMPANIES)
  ],
  [/ (team|project|workspace|department|channel|group) /, (chance) => pick(chance, TEAMS)],
  [
    / (product|item|title|article|book|dish|plan|model|line|lines|products|items|articles) /,
    (chance) => pick(chance, PRODUCTS)
  ],
  [/ (user|customer|sender|author|actor|assignee|person|owner|colleague|manager|driver|inviter|name) /, person],
  [/ (warehouse|city|location|place|store|branch|office|destination|origin|town) /, (chance) => pick(chance, CITIES)],
  [/ country /, (chance) => pick(chance, COUNTRIES)],
  [/ (street|address) /, (chance) => `${1 + below(chance, 120)} ${pick(chance, STREETS)}`],
  [/ (reason|comment|message|note|text|body|description|summary|details|excerpt) /, (chance) => pick(chance, REMARKS)],
  [/ (status|state) /, (chance) => pick(chance, ['open', 'in progress', 'done'])],
  [/ (version|release) /, (chance) => `${1 + below(chance, 5)}.${below(chance, 20)}.${below(chance, 10)}`],
  [/ (id|number|no|reference|ref|order|ticket|issue) $/, number]
]

const PRODUCTS = [
  'Walnut desk lamp',
  'Linen tea towel',
  'Merino socks',
  'Enamel coffee pot',
  'Oak chopping board',
  'Canvas rucksack',
  'Stoneware bowl',
  'Wool blanket',
  'Brass pencil case',
  'Bamboo toothbrush',
  'Recycled notebook',
  'Cast iron pan',
  'Beeswax candle',
  'Bicycle bell',
  'Rain jacket',
  'Olive oil soap',
  'Cotton apron',
  'Herb scissors',
  'Picnic basket',
  'Leather key ring'
] as const
const COMPANIES = [
  'Alder & Finch',
  'Bluebird Logistics',
  'Corvid Studio',
  'Dune Analytics',
  'Elmwood Bakery',
  'Foxglove Media',
  'Granite Works',
  'Harbour Lane',
  'Ironbark',
  'Juniper Health',
  'Kestrel Energy',
  'Lindqvist Design'
] as const
const TEAMS = [
  'Accounts',
  'Customer care',
  'Design',
  'Field service',
  'Growth',
  'Operations',
  'Platform',
  'Research'
] as const
const CITIES = [
  'Ghent',
  'Lyon',
  'Porto',
  'Leeds',
  'Bologna',
  'Utrecht',
  'Graz',
  'Aarhus',
  'Valencia',
  'Austin'
] as const
const COUNTRIES = [
  'Belgium',
  'France',
  'Portugal',
  'United Kingdom',
  'Italy',
  'Netherlands',
  'Austria',
  'Denmark'
] as const
const STREETS = ['Mill Lane', 'Station Road', 'Church Street', 'Orchard Way', 'Harbour Street', 'Park Avenue'] as const
const REMARKS = [
  'Arrived damaged',
  'Changed my mind',
  'Delivered too late',
  'Does not fit',
  'Could you have a look at this today?',
  'Looks good to me, thank you!',
  'Ordered twice by mistake',
  'Please call before you come',
  'The colour is different',
  'We need a decision by Friday',
  'Wrong size'
] as const

import type { StepType } from '../../core/enums.js'

type JsonSchema = Record<string, unknown>

interface StepVariablesInput {
  /** The steps before this one, in the workflow's order. */
  earlierSteps: ReadonlyArray<{ stepId: string; type: StepType }>
  /** What the workflow declares of its payload; undefined to infer it. */
  payloadSchema: JsonSchema | undefined
  /** The control values of all steps of the workflow, this one and the later ones too. */
  controlValues: ReadonlyArray<unknown>
}

/**
 * The JSON Schema of the variables that a step's content may use: the subscriber, the results of earlier steps,
 * and the payload. A declared payload schema is passed on as it is, the same object.
 *
 * An undeclared payload is inferred from what Liquid outputs and tags reach through `payload.`, in order of first
 * appearance: a name with names below it is an object, a name with an index or one looped over an array, any
 * other a string. Text that is not well-formed Liquid is no error; it contributes what it can.
 */
export function stepVariables({ earlierSteps, payloadSchema, controlValues }: StepVariablesInput): JsonSchema {
  const results = earlierSteps.map(({ stepId, type }) => [stepId, RESULTS[type]()] as const)
  return strictObject({
    subscriber: subscriber(),
    steps: strictObject(Object.fromEntries(results), [], 'Previous Steps Results'),
    payload: payloadSchema ?? inferredPayload(controlValues)
  })
}

function subscriber(): JsonSchema {
  const properties = {
    firstName: string("The subscriber's given name"),
    lastName: string("The subscriber's family name"),
    email: string('Where emails to the subscriber go'),
    phone: string('Where text messages to the subscriber go'),
    avatar: string("Address of the subscriber's picture"),
    locale: string("The subscriber's language and region, such as `en_US`"),
    timezone: string("The subscriber's time zone, such as `Europe/Paris`"),
    subscriberId: string('The id that your own system has for the subscriber'),
    isOnline: { type: 'boolean', description: 'Whether the subscriber has an Inbox open now' },
    lastOnlineAt: { ...dateTime(), description: 'When the subscriber last had an Inbox open' },
    data: { ...open({}), description: 'Whatever else was stored with the subscriber' }
  }
  const required = ['firstName', 'lastName', 'email', 'subscriberId']
  return strictObject(properties, required, 'Schema representing the subscriber entity')
}

const RESULTS: Record<StepType, () => JsonSchema> = {
  in_app: inAppResult,
  email: noResult,
  sms: noResult,
  chat: noResult,
  push: noResult,
  delay: () => strictObject({ duration: number() }, ['duration']),
  digest: digestResult,
  throttle: throttleResult,
  custom: () => open({}),
  trigger: () => open({})
}

function inAppResult(): JsonSchema {
  const nullableDateTime = () => ({ ...dateTime(), nullable: true })
  const properties = {
    seen: boolean(),
    read: boolean(),
    lastSeenDate: nullableDateTime(),
    lastReadDate: nullableDateTime()
  }
  return strictObject(properties, Object.keys(properties))
}

function noResult(): JsonSchema {
  return strictObject({}, [])
}

function digestResult(): JsonSchema {
  const event = { id: string(), time: string(), payload: { type: 'object' } }
  const events = { type: 'array', items: strictObject(event, Object.keys(event)) }
  return strictObject({ eventCount: number(), events }, ['events'])
}

function throttleResult(): JsonSchema {
  const properties = { throttled: boolean(), executionCount: number(), threshold: number(), windowStart: dateTime() }
  return strictObject(properties, ['throttled'])
}

/** What is known of one place in the payload. It may be used in several ways: an array wins, then an object. */
interface Place {
  /** The first plain use, as it was written. */
  text: string | undefined
  children: Map<string, Place>
  element: Place | undefined
}

const newPlace = (): Place => ({ text: undefined, children: new Map(), element: undefined })

function inferredPayload(controlValues: unknown): JsonSchema {
  const root = newPlace()
  for (const text of textsIn(controlValues)) {
    for (const { groups } of text.matchAll(TAG)) noteUses(root, groups?.output ?? groups?.tag ?? '')
  }
  return schemaOfNames(root)
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner)
}

/** The inside of an output or a tag, without the `-` of `{{-`: it is no part of the name after it. */
const TAG = /\{\{-?(?<output>.*?)\}\}|\{%(?<tag>.*?)%\}/gs

/** A name ends before the `-` of `-}}`. */
const NAME = /[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}_])?/u.source
const QUOTED = /"[^"]*"|'[^']*'/.source

/** `.name`, `['any name']`, or an index: `[0]`, `[i]`, and `.0` too. */
const STEP = `\\.(?<name>${NAME})|\\[(?<quoted>${QUOTED})\\]|\\[[^\\]'"]*\\]`
const EACH_STEP = new RegExp(STEP, 'gu')

const LOOP = /\b(?:for|tablerow)\s+[\w-]+\s+in\s+/.source
/** Whatever goes before `payload` that makes it a part of another name; the two dots of a range do not. */
const WITHIN_NAME = /[\p{L}\p{N}_-]|(?<!\.)\./u.source

/** A quoted text, so that what merely looks like a path is passed over, or a path and the loop it stands in. */
const USE = new RegExp(`${QUOTED}|(?<loop>${LOOP})?(?<!${WITHIN_NAME})payload(?<path>(?:${STEP})+)`, 'gu')

function noteUses(root: Place, expression: string): void {
  for (const { groups } of expression.matchAll(USE)) {
    const path = groups?.path
    if (path === undefined) continue
    const place = placeAt(root, path)
    if (groups?.loop !== undefined) elementOf(place)
    else place.text ??= `{{payload${path}}}`
  }
}

function placeAt(root: Place, path: string): Place {
  let place = root
  for (const { groups } of path.matchAll(EACH_STEP)) {
    const name = groups?.name ?? groups?.quoted?.slice(1, -1)
    place = name === undefined || /^\d+$/.test(name) ? elementOf(place) : childOf(place, name)
  }
  return place
}

function elementOf(place: Place): Place {
  place.element ??= newPlace()
  return place.element
}

function childOf(place: Place, name: string): Place {
  const child = place.children.get(name) ?? newPlace()
  place.children.set(name, child)
  return child
}

function schemaOf(place: Place): JsonSchema {
  if (place.element) return { type: 'array', items: schemaOf(place.element) }
  if (place.children.size > 0) return schemaOfNames(place)
  // A loop says nothing of the elements it goes over.
  return place.text === undefined ? {} : { type: 'string', default: place.text }
}

function schemaOfNames({ children }: Place): JsonSchema {
  return open(Object.fromEntries([...children].map(([name, place]) => [name, schemaOf(place)])))
}

/** An object of these properties and no others. */
function strictObject(properties: JsonSchema, required?: string[], description?: string): JsonSchema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    ...(required && { required }),
    additionalProperties: false
  }
}

/** An object that has at least these properties. */
function open(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: true }
}

const string = (description?: string): JsonSchema => ({
  type: 'string',
  ...(description !== undefined && { description })
})
const boolean = (): JsonSchema => ({ type: 'boolean' })
const number = (): JsonSchema => ({ type: 'number' })
const dateTime = (): JsonSchema => ({ type: 'string', format: 'date-time' })

import type { StepType } from '../../core/enums.js'
import { findingPayloadUses, type PayloadUse } from './payload-variables.js'

type JsonSchema = Record<string, unknown>

/** Returns the JSON Schema of the variables that a step's content may use. */
export function stepVariables(
  earlierSteps: ReadonlyArray<{ stepId: string; type: StepType }>,
  payload: JsonSchema
): JsonSchema {
  const ownResults = structuredClone(RESULTS)
  const results = earlierSteps.map(({ stepId, type }) => [stepId, ownResults[type]] as const)
  const steps = strictObject(Object.fromEntries(results), [], 'Previous Steps Results')
  return strictObject({ subscriber: structuredClone(SUBSCRIBER), steps, payload })
}

/**
 * Returns a schema that all uses of the payload in the control values agree with: a name with names below it is an
 * object, a name with an index or one looped over an array, any other a string. A name that is used in several ways is
 * an array first, then an object. With `loopItems`, the elements of an array also have what its loops use of them. In steps.
 */
export function* inferringPayloadSchema(
  controlValues: unknown,
  { loopItems = false } = {}
): Generator<void, JsonSchema> {
  const uses = yield* findingPayloadUses(controlValues)
  return objectSchema(uses.filter(({ isLoopItem }) => loopItems || !isLoopItem))
}

function objectSchema(uses: readonly PayloadUse[]): JsonSchema {
  const named = new Map<string | null | undefined, PayloadUse[]>()
  for (const use of uses) {
    const [name] = use.path
    const known = named.get(name)
    if (known) known.push(withoutFirst(use))
    else named.set(name, [withoutFirst(use)])
  }
  return openObject(Object.fromEntries([...named].map(([name, each]) => [name, schemaOf(each)])))
}

function schemaOf(uses: readonly PayloadUse[]): JsonSchema {
  const elements = uses.filter(({ path }) => path[0] === null)
  if (elements.length > 0) return { type: 'array', items: schemaOf(elements.map(withoutFirst)) }
  const named = uses.filter(({ path }) => path.length > 0)
  if (named.length > 0) return objectSchema(named)
  const text = uses.find((use) => use.text !== undefined)?.text
  return text === undefined ? {} : { type: 'string', default: `{{${text}}}` }
}

function withoutFirst(use: PayloadUse): PayloadUse {
  return { ...use, path: use.path.slice(1) }
}

/** An object of these properties and no others. */
function strictObject(properties: JsonSchema, required = Object.keys(properties), description?: string): JsonSchema {
  return { type: 'object', ...(description && { description }), properties, required, additionalProperties: false }
}

/** An object that has at least these properties. */
function openObject(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: true }
}

const STRING = { type: 'string' }
const NUMBER = { type: 'number' }
const BOOLEAN = { type: 'boolean' }
const DATE_TIME = { type: 'string', format: 'date-time' }
const NO_RESULT = strictObject({})

const SUBSCRIBER = strictObject(
  {
    firstName: { ...STRING, description: "The subscriber's given name" },
    lastName: { ...STRING, description: "The subscriber's family name" },
    email: { ...STRING, description: 'Where emails to the subscriber go' },
    phone: { ...STRING, description: 'Where text messages to the subscriber go' },
    avatar: { ...STRING, description: "Address of the subscriber's picture" },
    locale: { ...STRING, description: "The subscriber's language and region, such as `en_US`" },
    timezone: { ...STRING, description: "The subscriber's time zone, such as `Europe/Paris`" },
    subscriberId: { ...STRING, description: 'The id that your own system has for the subscriber' },
    isOnline: { ...BOOLEAN, description: 'Whether the subscriber has an Inbox open now' },
    lastOnlineAt: { ...DATE_TIME, description: 'When the subscriber last had an Inbox open' },
    data: { ...openObject({}), description: 'Whatever else was stored with the subscriber' }
  },
  ['firstName', 'lastName', 'email', 'subscriberId'],
  'Schema representing the subscriber entity'
)

const NULLABLE_TIME = { ...DATE_TIME, nullable: true }
const THROTTLE = { throttled: BOOLEAN, executionCount: NUMBER, threshold: NUMBER, windowStart: DATE_TIME }
const DIGEST_EVENT = strictObject({ id: STRING, time: STRING, payload: { type: 'object' } })

/** What later steps can use of a step of each type. */
const RESULTS: Record<StepType, JsonSchema> = {
  in_app: strictObject({ seen: BOOLEAN, read: BOOLEAN, lastSeenDate: NULLABLE_TIME, lastReadDate: NULLABLE_TIME }),
  email: NO_RESULT,
  sms: NO_RESULT,
  chat: NO_RESULT,
  push: NO_RESULT,
  delay: strictObject({ duration: NUMBER }),
  digest: strictObject({ eventCount: NUMBER, events: { type: 'array', items: DIGEST_EVENT } }, ['events']),
  throttle: strictObject(THROTTLE, ['throttled']),
  custom: openObject({}),
  trigger: openObject({})
}

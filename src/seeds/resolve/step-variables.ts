import type { StepType } from '../../core/enums.js'
import { type PayloadUse, payloadUses } from './payload-variables.js'

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
 * Returns the JSON Schema of the variables that a step's content may use: the subscriber, the results of earlier steps,
 * and the payload. A declared payload schema is passed on as it is; an undeclared one is inferred from the content.
 */
export function stepVariables({ earlierSteps, payloadSchema, controlValues }: StepVariablesInput): JsonSchema {
  const results = earlierSteps.map(({ stepId, type }) => [stepId, structuredClone(RESULTS[type])] as const)
  return strictObject({
    subscriber: structuredClone(SUBSCRIBER),
    steps: strictObject(Object.fromEntries(results), [], 'Previous Steps Results'),
    payload: payloadSchema ?? inferPayloadSchema(payloadUses(controlValues).filter(({ isLoopItem }) => !isLoopItem))
  })
}

/**
 * Returns a schema that the uses of a payload agree with: a name with names below it is an object, a name with an index
 * or one looped over an array, any other a string. A name that is used in several ways is an array first, then an object.
 */
export function inferPayloadSchema(uses: readonly PayloadUse[]): JsonSchema {
  const root = newNode()
  for (const { path, text, isLooped } of uses) {
    const node = path.reduce((parent: Node, name) => (name === null ? elementOf(parent) : childOf(parent, name)), root)
    if (isLooped) elementOf(node)
    else node.text ??= `{{${text}}}`
  }
  return schemaOfNames(root)
}

/** What is known of one value in the payload. */
interface Node {
  /** The first plain use, as it was written. */
  text: string | undefined
  children: Map<string, Node>
  element: Node | undefined
}

const newNode = (): Node => ({ text: undefined, children: new Map(), element: undefined })

function elementOf(node: Node): Node {
  node.element ??= newNode()
  return node.element
}

function childOf(node: Node, name: string): Node {
  const child = node.children.get(name) ?? newNode()
  node.children.set(name, child)
  return child
}

function schemaOf(node: Node): JsonSchema {
  if (node.element) return { type: 'array', items: schemaOf(node.element) }
  if (node.children.size > 0) return schemaOfNames(node)
  // A loop says nothing of the elements it goes over.
  return node.text === undefined ? {} : { type: 'string', default: node.text }
}

function schemaOfNames({ children }: Node): JsonSchema {
  return openObject(Object.fromEntries([...children].map(([name, node]) => [name, schemaOf(node)])))
}

/** An object of these properties and no others. */
function strictObject(properties: JsonSchema, required = Object.keys(properties), description?: string): JsonSchema {
  const described = description === undefined ? {} : { description }
  return { type: 'object', ...described, properties, required, additionalProperties: false }
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

const nullableDateTime = { ...DATE_TIME, nullable: true }
const digestEvent = strictObject({ id: STRING, time: STRING, payload: { type: 'object' } })

/** What later steps can use of a step of each type. */
const RESULTS: Record<StepType, JsonSchema> = {
  in_app: strictObject({
    seen: BOOLEAN,
    read: BOOLEAN,
    lastSeenDate: nullableDateTime,
    lastReadDate: nullableDateTime
  }),
  email: NO_RESULT,
  sms: NO_RESULT,
  chat: NO_RESULT,
  push: NO_RESULT,
  delay: strictObject({ duration: NUMBER }),
  digest: strictObject({ eventCount: NUMBER, events: { type: 'array', items: digestEvent } }, ['events']),
  throttle: strictObject({ throttled: BOOLEAN, executionCount: NUMBER, threshold: NUMBER, windowStart: DATE_TIME }, [
    'throttled'
  ]),
  custom: openObject({}),
  trigger: openObject({})
}

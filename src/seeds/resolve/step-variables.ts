import type { StepType } from '../../core/enums.js'
import { findPayloadUses, type PayloadUse } from './payload-variables.js'
// Of the subscriber, and what later steps can use of a step of each type.
import VARIABLES from './step-variables.json' with { type: 'json' }

type JsonSchema = Record<string, unknown>

/** Returns the JSON Schema of the variables that a step's content may use. */
export function stepVariables(
  earlierSteps: ReadonlyArray<{ stepId: string; type: StepType }>,
  payload: JsonSchema
): JsonSchema {
  const { subscriber, results }: typeof VARIABLES = structuredClone(VARIABLES)
  const earlier = earlierSteps.map(({ stepId, type }) => [stepId, results[type]])
  const steps = strictObject(Object.fromEntries(earlier), [], 'Previous Steps Results')
  return strictObject({ subscriber, steps, payload })
}

/**
 * Returns a schema that all uses of the payload in the control values agree with: a name with names below it is an
 * object, a name with an index or one looped over an array, any other a string. A name that is used in several ways is
 * an array first, then an object. With `loopItems`, the elements of an array also have what its loops use of them.
 */
export function inferPayloadSchema(controlValues: unknown, { loopItems = false } = {}): JsonSchema {
  return objectSchema(findPayloadUses(controlValues).filter(({ isLoopItem }) => loopItems || !isLoopItem))
}

function objectSchema(uses: readonly PayloadUse[]): JsonSchema {
  const named = new Map<string | null | undefined, PayloadUse[]>()
  for (const use of uses) {
    const known = named.get(use.path[0]) ?? []
    known.push(withoutFirst(use))
    named.set(use.path[0], known)
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

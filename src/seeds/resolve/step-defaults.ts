import type { StepType } from '../../domain/enums.js'
import { MAX_DEPTH } from '../../schema/validation.js'
import type { ControlsMetadata } from '../../workflow-steps/schemas.js'
// Two things of Novu are left out: `placeholder: null`, because the API reference allows no null,
// and `rendererType: EMAIL_RENDERER_SELECT`, because clients before 3.14.1 reject it.
import CONTROLS from './step-controls.json' with { type: 'json' }
// The variables of the subscriber, and the results that each type of step has for later steps.
import VARIABLES from './step-variables.json' with { type: 'json' }

type JsonSchema = Record<string, unknown>

/** Returns a copy of the controls that Novu declares for a step of the type. */
export function defaultControls(type: StepType): ControlsMetadata {
  return JSON.parse(JSON.stringify(CONTROLS[type]))
}

/** Returns the JSON Schema of the variables that the content of a step can use. */
export function stepVariables(
  earlierSteps: ReadonlyArray<{ stepId: string; type: StepType }>,
  payload: JsonSchema
): JsonSchema {
  const { subscriber, results }: typeof VARIABLES = structuredClone(VARIABLES)
  const earlierResults = earlierSteps.map(({ stepId, type }) => [stepId, results[type]])
  const steps = strictObject(Object.fromEntries(earlierResults), {
    description: 'Previous Steps Results',
    required: []
  })
  return strictObject({ subscriber, steps, payload })
}

function strictObject(
  properties: JsonSchema,
  {
    description,
    required = Object.keys(properties)
  }: { description?: string; required?: string[] } = {}
): JsonSchema {
  return {
    type: 'object',
    ...(description && { description }),
    properties,
    required,
    additionalProperties: false
  }
}

/** How templates use a value of the payload. */
interface Usage {
  depth: number
  /** The fields that are used. A value with fields is an object. */
  fields: Map<string, Usage>
  /** The usage of the items. A value with an index or in a loop is an array. */
  items?: Usage
  /** The first expression, such as `payload.items[0].name`. */
  expression?: string
}

/** The number of characters to read. It keeps the inferred schema smaller than a record. */
const MAX_CHARACTERS = 50_000
/** The nesting of names to infer. A schema is nested twice as deep as its names. */
const MAX_NESTING = 30

/** Matches blocks that are not rendered, outputs and tags. Groups 2 and 3 are their content. */
const LIQUID = /\{%-?\s*(raw|comment)\b.*?\{%-?\s*end\1|\{(?:\{-?([^{}]*?)-?\}|%-?([^{}]*?)-?%)\}/gs
const QUOTED = `'[^']*'|"[^"]*"`
const FIRST_NAME = String.raw`(?<![\p{L}\p{N}_-]|(?<!\.)\.)([\p{L}_][\p{L}\p{N}_?-]*)`
const FURTHER_NAMES = String.raw`((?:\.[\p{L}\p{N}_?-]+|\[(?:${QUOTED}|[^[\]'"]*)\])*)`
/** Matches quoted strings and variables. Group 1 is the variable, group 2 its names and indexes. */
const VARIABLE = new RegExp(`${QUOTED}|${FIRST_NAME}${FURTHER_NAMES}`, 'gu')
/** Matches the names and indexes of a variable. Groups 1 and 2 are a name; an index has none. */
const NAMES = /\.([^.[\]]+)|\[['"]([^'"]*)['"]\]|\[[^\]]*\]/g
/** Matches a quoted name that does not need its quotes. */
const QUOTED_NAME = /\[["']([\p{L}\p{N}_][\p{L}\p{N}_-]*)["']\]/gu
/** Matches the variable of a loop and its list. */
const LOOP = /^\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+(?=(\w[^\s%|]*))/

/**
 * Infers a schema of the payload from the first 50,000 characters of the control values. A value
 * with fields is an object, one with an index or in a loop is an array, and any other is a string.
 * If the usages conflict, an array wins over an object, and an object over a string. `loopItems`
 * also infers the items of arrays from what their loops use.
 */
export function inferPayloadSchema(controlValues: unknown, { loopItems = false } = {}): JsonSchema {
  const payload: Usage = { depth: 0, fields: new Map() }
  let charactersLeft = MAX_CHARACTERS
  for (const text of stringsIn(controlValues, 0)) {
    charactersLeft -= text.length
    if (charactersLeft < 0) break
    // In JSON, as the block editor stores it, the quotes of a template are escaped.
    if (text.includes('payload')) recordUsage(payload, text.replaceAll('\\"', '"'), loopItems)
  }
  return objectSchema(payload)
}

function* stringsIn(value: unknown, depth: number): Generator<string, void> {
  if (depth > MAX_DEPTH) return
  if (typeof value === 'string') yield value
  else for (const item of Object.values(value ?? {})) yield* stringsIn(item, depth + 1)
}

function recordUsage(payload: Usage, text: string, loopItems: boolean): void {
  // A loop variable keeps its meaning until another loop uses the same name.
  const variables = new Map([['payload', payload]])
  for (const [, , output, tag = output ?? ''] of text.matchAll(LIQUID)) {
    usagesIn(tag, variables)
    const [, variable = '', list = ''] = LOOP.exec(tag) ?? []
    const [listUsage] = usagesIn(list, variables)
    if (!listUsage) continue
    const item = usageOfItems(listUsage)
    variables.set(variable, loopItems ? item : { ...item, fields: new Map() })
  }
}

/** Records and returns how an expression uses the variables. */
function usagesIn(expression: string, variables: ReadonlyMap<string, Usage>): Usage[] {
  return [...expression.matchAll(VARIABLE)].flatMap(([source, root = '', names = '']) => {
    const innerUsages = usagesIn(names, variables)
    let usage = variables.get(root)
    if (!usage) return innerUsages
    for (const [, name, quotedName = name] of names.matchAll(NAMES)) {
      const isIndex = quotedName === undefined || /^\d*$/.test(quotedName)
      usage = isIndex ? usageOfItems(usage) : usageOfField(usage, quotedName)
    }
    usage.expression ??= source.replaceAll(QUOTED_NAME, '.$1').replaceAll('"', "'")
    return [usage, ...innerUsages]
  })
}

function usageOfItems(usage: Usage): Usage {
  if (usage.depth === MAX_NESTING) return usage
  usage.items ??= { depth: usage.depth + 1, fields: new Map() }
  return usage.items
}

function usageOfField(usage: Usage, name: string): Usage {
  if (usage.depth === MAX_NESTING) return usage
  const field = usage.fields.get(name) ?? { depth: usage.depth + 1, fields: new Map() }
  usage.fields.set(name, field)
  return field
}

function valueSchema(usage: Usage): JsonSchema {
  const { items, fields, expression } = usage
  if (items) return { type: 'array', items: valueSchema(items) }
  if (fields.size > 0) return objectSchema(usage)
  return expression === undefined ? {} : { type: 'string', default: `{{${expression}}}` }
}

/** Returns the schema of an object that can have more fields than the used ones. */
function objectSchema({ fields }: Usage): JsonSchema {
  const properties = Object.fromEntries(
    [...fields].map(([name, usage]) => [name, valueSchema(usage)])
  )
  return { type: 'object', properties, required: [...fields.keys()], additionalProperties: true }
}

import type { StepType } from '../../domain/enums.js'
import { MAX_DEPTH } from '../../schema/validation.js'
import type { ControlsMetadata } from '../../workflow-steps/schemas.js'
// Novu's controls for each type of step, without two fields: `placeholder: null`, which the API
// reference doesn't allow, and `rendererType: EMAIL_RENDERER_SELECT`, which clients before 3.14.1
// reject.
import CONTROLS from './step-controls.json' with { type: 'json' }
// The schemas of the subscriber and of the results that each type of step provides to later steps.
import VARIABLES from './step-variables.json' with { type: 'json' }

type JsonSchema = Record<string, unknown>

/** Returns a copy of the controls that Novu declares for this type of step. */
export function defaultControls(type: StepType): ControlsMetadata {
  return JSON.parse(JSON.stringify(CONTROLS[type]))
}

/** Returns the JSON Schema of the variables that a step's content can use. */
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
  /** The fields that templates use. A value with fields is an object. */
  fields: Map<string, Usage>
  /** How templates use the items. A value that is indexed or looped over is an array. */
  items?: Usage
  /** The first expression that uses the value, such as `payload.items[0].name`. */
  expression?: string
}

/**
 * The maximum number of characters to read from the control values. This limit keeps the inferred
 * schema below a record's size limit.
 */
const MAX_CHARACTERS = 50_000
/** The maximum nesting of inferred fields. Their schema is nested twice as deep. */
const MAX_NESTING = 30

/**
 * Matches Liquid's raw blocks, comments, outputs and tags. Group 2 is the output, group 3 the tag.
 */
const LIQUID = /\{%-?\s*(raw|comment)\b.*?\{%-?\s*end\1|\{(?:\{-?([^{}]*?)-?\}|%-?([^{}]*?)-?%)\}/gs
const QUOTED = `'[^']*'|"[^"]*"`
const FIRST_NAME = String.raw`(?<![\p{L}\p{N}_-]|(?<!\.)\.)([\p{L}_][\p{L}\p{N}_?-]*)`
const FURTHER_NAMES = String.raw`((?:\.[\p{L}\p{N}_?-]+|\[(?:${QUOTED}|[^[\]'"]*)\])*)`
/** Matches quoted strings and variables. Group 1 is the variable, group 2 the path after it. */
const VARIABLE = new RegExp(`${QUOTED}|${FIRST_NAME}${FURTHER_NAMES}`, 'gu')
/**
 * Matches each part of the path after a variable. Group 1 or 2 is a field name. For an index, both
 * groups are undefined.
 */
const NAMES = /\.([^.[\]]+)|\[['"]([^'"]*)['"]\]|\[[^\]]*\]/g
/** Matches a quoted field name that doesn't need its quotes. */
const QUOTED_NAME = /\[["']([\p{L}\p{N}_][\p{L}\p{N}_-]*)["']\]/gu
/** Matches the start of a loop. Group 1 is the loop's variable, group 2 its list. */
const LOOP = /^\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+(?=(\w[^\s%|]*))/

/**
 * Infers the payload's schema from the first 50,000 characters of the control values. A value is an
 * array if templates index it or loop over it. Otherwise, it is an object if templates use its
 * fields, and a string if they don't. With `loopItems`, also infers the schema of an array's items
 * from the fields that loops use.
 */
export function inferPayloadSchema(controlValues: unknown, { loopItems = false } = {}): JsonSchema {
  const payload: Usage = { depth: 0, fields: new Map() }
  let charactersLeft = MAX_CHARACTERS
  for (const text of stringsIn(controlValues, 0)) {
    charactersLeft -= text.length
    if (charactersLeft < 0) break
    // The block editor stores JSON, which escapes the quotes in a template.
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
  // A loop's variable stays defined after the loop, until another loop uses the same name.
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

/** Returns an object schema that also allows fields that no template uses. */
function objectSchema({ fields }: Usage): JsonSchema {
  const properties = Object.fromEntries(
    [...fields].map(([name, usage]) => [name, valueSchema(usage)])
  )
  return { type: 'object', properties, required: [...fields.keys()], additionalProperties: true }
}

import type { StepType } from '../../domain/enums.js'
import { MAX_DEPTH } from '../../schema/validation.js'
import type { ControlsMetadata } from '../../workflow-steps/schemas.js'
// The deployed service has `placeholder: null` in places, where the contract allows no null, and since 2026
// `rendererType: EMAIL_RENDERER_SELECT` for emails, which its clients before 3.14.1 refuse. Both are left out.
import CONTROLS from './step-controls.json' with { type: 'json' }
// Of the subscriber, and what later steps can use of a step of each type.
import VARIABLES from './step-variables.json' with { type: 'json' }

type JsonSchema = Record<string, unknown>

/** Returns a copy of the controls that the deployed service declares for a step of the type. */
export function defaultControls(type: StepType): ControlsMetadata {
  return JSON.parse(JSON.stringify(CONTROLS[type]))
}

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

/** An object of these properties and no others. */
function strictObject(
  properties: JsonSchema,
  required = Object.keys(properties),
  description?: string
): JsonSchema {
  return {
    type: 'object',
    ...(description && { description }),
    properties,
    required,
    additionalProperties: false
  }
}

/** How the payload, or something in it, is used in templates. */
interface Use {
  depth: number
  /** What has names below it is an object. */
  names: Map<string, Use>
  /** What has an index, or is looped over, is an array. */
  items?: Use
  /** The expression, such as `payload.items[0].name`. */
  text?: string
}

/** How many characters of texts are read in all: what is inferred must not be larger than a record. */
const MAX_CHARACTERS = 50_000
/** How deep names may be nested: a schema is nested twice as deep as the names in it. */
const MAX_NESTING = 30

/** What is not rendered, or else the inside of an output or a tag. */
const LIQUID = /\{%-?\s*(raw|comment)\b.*?\{%-?\s*end\1|\{(?:\{-?([^{}]*?)-?\}|%-?([^{}]*?)-?%)\}/gs
/** A quoted text, or else a variable and its names and indexes. */
const VARIABLE =
  /'[^']*'|"[^"]*"|(?<![\p{L}\p{N}_-]|(?<!\.)\.)([\p{L}_][\p{L}\p{N}_?-]*)((?:\.[\p{L}\p{N}_?-]+|\[(?:'[^']*'|"[^"]*"|[^[\]'"]*)\])*)/gu
/** The names and the indexes of a variable, each in one of the groups. */
const NAMES = /\.([^.[\]]+)|\[['"]([^'"]*)['"]\]|\[[^\]]*\]/g
/** An index that may as well be written as a name. */
const QUOTED_NAME = /\[["']([\p{L}\p{N}_][\p{L}\p{N}_-]*)["']\]/gu
/** The variable of a loop, and the list that it goes over. */
const LOOP = /^\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+(?=(\w[^\s%|]*))/

/**
 * Returns a schema that all uses of the payload in the first 50,000 characters of the control values agree with: a name
 * with names below it is an object, a name with an index or one looped over an array, any other a string. A name that is
 * used in several ways is an array first, then an object. With `loopItems`, the elements of an array also have what its
 * loops use of them.
 */
export function inferPayloadSchema(controlValues: unknown, { loopItems = false } = {}): JsonSchema {
  const payload: Use = { depth: 0, names: new Map() }
  let left = MAX_CHARACTERS
  readAll(controlValues, 0)
  return objectOf(payload)

  function readAll(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH) return
    if (typeof value !== 'string')
      for (const each of Object.values(value ?? {})) readAll(each, depth + 1)
    else {
      left -= value.length
      // The text of the block editor is JSON: the quotes in its Liquid are escaped.
      if (left >= 0 && value.includes('payload')) readText(value.replaceAll('\\"', '"'))
    }
  }

  function readText(text: string): void {
    // Those of the same name are those of the last loop that has it.
    const variables = new Map([['payload', payload]])
    for (const [, , output, tag = output ?? ''] of text.matchAll(LIQUID)) {
      usesIn(tag, variables)
      const [, variable = '', list = ''] = LOOP.exec(tag) ?? []
      const [looped] = usesIn(list, variables)
      if (looped)
        variables.set(variable, loopItems ? below(looped) : { ...below(looped), names: new Map() })
    }
  }
}

/** Notes how an expression uses the variables that stand for the payload or what is in it. */
function usesIn(expression: string, variables: ReadonlyMap<string, Use>): Use[] {
  return [...expression.matchAll(VARIABLE)].flatMap(([as, root = '', names = '']) => {
    const inside = usesIn(names, variables)
    let use = variables.get(root)
    if (!use) return inside
    // What is no name is an index.
    for (const [, name, quoted = name] of names.matchAll(NAMES)) {
      use = below(use, quoted === undefined || /^\d*$/.test(quoted) ? undefined : quoted)
    }
    use.text ??= as.replaceAll(QUOTED_NAME, '.$1').replaceAll('"', "'")
    return [use, ...inside]
  })
}

/** Returns the use of what has this name, or of the elements. */
function below(use: Use, name?: string): Use {
  if (use.depth === MAX_NESTING) return use
  const known = name === undefined ? use.items : use.names.get(name)
  const found = known ?? { depth: use.depth + 1, names: new Map() }
  if (name === undefined) use.items = found
  else use.names.set(name, found)
  return found
}

function schemaOf(use: Use): JsonSchema {
  const { items, names, text } = use
  if (items) return { type: 'array', items: schemaOf(items) }
  if (names.size > 0) return objectOf(use)
  return text === undefined ? {} : { type: 'string', default: `{{${text}}}` }
}

/** An object that has at least what is used of it. */
function objectOf({ names }: Use): JsonSchema {
  const properties = Object.fromEntries([...names].map(([name, use]) => [name, schemaOf(use)]))
  return { type: 'object', properties, required: [...names.keys()], additionalProperties: true }
}

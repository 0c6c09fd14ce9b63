import { MAX_DEPTH } from '../../core/depth.js'
import type { StepType } from '../../core/enums.js'
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

/** A use of the payload in a template. */
interface PayloadUse {
  /** The names below `payload.`; null stands for an element of a list. */
  path: readonly (string | null)[]
  /** The expression, such as `payload.items[0].name`; undefined for the elements a loop goes over. */
  text: string | undefined
  /** Whether it is reached through the variable of a loop, such as `item.name`. */
  isLoopItem: boolean
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
 * Returns the uses of the payload in the texts inside a value, in the first 50,000 characters. Variables of the same name
 * are those of the last loop that has it.
 */
function findPayloadUses(value: unknown): PayloadUse[] {
  let left = MAX_CHARACTERS
  return findIn(value, 0)

  function findIn(value: unknown, depth: number): PayloadUse[] {
    if (depth > MAX_DEPTH) return []
    if (typeof value !== 'string') return Object.values(value ?? {}).flatMap((each) => findIn(each, depth + 1))
    left -= value.length
    // The text of the block editor is JSON: the quotes in its Liquid are escaped.
    return left < 0 || !value.includes('payload') ? [] : usesIn(value.replaceAll('\\"', '"'))
  }
}

function usesIn(text: string): PayloadUse[] {
  const known = new Map<string, PayloadUse['path']>([['payload', []]])
  return [...text.matchAll(LIQUID)].flatMap(([, , output, tag = output ?? '']) => {
    const uses = variablesIn(tag)
    const [, variable = '', list = ''] = LOOP.exec(tag) ?? []
    const [over] = variablesIn(list)
    if (over === undefined) return uses
    const path = [...over.path, null]
    known.set(variable, path)
    return [...uses, { ...over, path, text: undefined }]
  })

  function variablesIn(expression: string): PayloadUse[] {
    return [...expression.matchAll(VARIABLE)].flatMap(([as, root = '', names = '']) => {
      const inside = variablesIn(names)
      const base = known.get(root)
      if (base === undefined) return inside
      // What is no name is an index.
      const own = [...names.matchAll(NAMES)].map(([, name, quoted = name]) =>
        quoted === undefined || /^\d*$/.test(quoted) ? null : quoted
      )
      const path = [...base, ...own].slice(0, MAX_NESTING)
      const text = as.replaceAll(QUOTED_NAME, '.$1').replaceAll('"', "'")
      return [...(path[0] ? [{ path, text, isLoopItem: root !== 'payload' }] : []), ...inside]
    })
  }
}

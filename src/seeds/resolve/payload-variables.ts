import type { Template } from 'liquidjs'
import { MAX_DEPTH } from '../../core/depth.js'
import { attempt } from '../../core/errors.js'
import { liquid } from './liquid.js'

/** A use of the payload in a template. */
export interface PayloadUse {
  /** The names below `payload.`; null stands for an element of a list. */
  path: readonly (string | null)[]
  /** The expression as it was written, such as `payload.items[0].name`; undefined for the elements a loop goes over. */
  text: string | undefined
  /** Whether it is reached through the variable of a loop, such as `item.name`. */
  isLoopItem: boolean
}

/** How many characters of texts are read in all, so that it takes some milliseconds at most. */
const MAX_CHARACTERS = 50_000
/** How deep names may be nested: a schema is nested twice as deep as the names in it. */
const MAX_NESTING = 30
/** Thirty of them, one in the other: to analyse many takes minutes. */
const NESTED_INDEXES = /(?:\[[^[\]]*){30}/
/** The variable of a loop, and the list that it goes over. */
const LOOPS = /\{%-?\s*(?:for|tablerow)\s+([\w-]+)\s+in\s+(\w[^\s%|]*)/g

/**
 * Returns the uses of the payload in the texts inside a value: in the first 50,000 characters, and none of malformed
 * Liquid. Variables of the same name are those of the last loop that has it.
 */
export function findPayloadUses(value: unknown): PayloadUse[] {
  let left = MAX_CHARACTERS
  return findIn(value, 0)

  function findIn(value: unknown, depth: number): PayloadUse[] {
    if (depth > MAX_DEPTH) return []
    if (typeof value === 'string') return findInText(value, depth)
    return Object.values(value ?? {}).flatMap((each) => findIn(each, depth + 1))
  }

  function findInText(text: string, depth: number): PayloadUse[] {
    if (!text.includes('payload') || !/\{[{%]/.test(text) || NESTED_INDEXES.test(text)) return []
    left -= text.length
    if (left < 0) return []
    // The text of the block editor is JSON: the quotes in its Liquid are escaped.
    const blocks = /^\s*\{\s*"/.test(text) ? attempt(() => JSON.parse(text)) : undefined
    return blocks ? findIn(blocks, depth + 1) : (attempt(() => usesIn(text)) ?? [])
  }
}

function usesIn(text: string): PayloadUse[] {
  const variables = variablesIn(liquid().parse(text))
  const known = new Map<unknown, PayloadUse['path']>([['payload', []]])
  const loops = [...text.matchAll(LOOPS)].flatMap(([, variable, collection]) => {
    const [over] = variablesIn(liquid().parse(`{{${collection}}}`))
    const path = over && pathOf(over)
    if (!path?.[0]) return []
    known.set(variable, [...path, null])
    return { path: [...path, null], text: undefined, isLoopItem: over?.segments[0] !== 'payload' }
  })
  const uses = variables.map((each) => {
    const text = String(each).replaceAll(/\['(\d+)'\]/g, '.$1')
    return { path: pathOf(each) ?? [], text, isLoopItem: each.segments[0] !== 'payload' }
  })
  return [...uses, ...loops].filter(({ path }) => typeof path[0] === 'string')

  function pathOf({ segments: [root, ...names] }: ReturnType<typeof variablesIn>[number]) {
    const base = known.get(root)
    // What is no name is an index.
    const own = names.map((name) => (typeof name === 'string' && !/^\d*$/.test(name) ? name : null))
    return base && [...base, ...own].slice(0, MAX_NESTING)
  }
}

const variablesIn = (templates: Template[]) =>
  Object.values(liquid().analyzeSync(templates, { partials: false }).variables).flat()

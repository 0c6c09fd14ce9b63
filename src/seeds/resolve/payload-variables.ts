import { ForTag, Liquid, TablerowTag, type Template, TypeGuards, toValueSync, type Value } from 'liquidjs'
import { attempt } from '../../core/errors.js'
import { MAX_DEPTH } from '../../core/excess.js'

/** Reads templates and renders them, without files, in UTC and English; an object as JSON, as the deployed service does. */
export const liquid = new Liquid({
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  // Characters of a template, and characters and elements that filters and ranges make at one rendering.
  parseLimit: 100_000,
  memoryLimit: 10_000,
  outputEscape: (value: unknown) =>
    (typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value) as string
})

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
/** How many parts of a text that is malformed as a whole are read by themselves. */
const MAX_PARTS = 200
/** How deep blocks and names may be nested: a schema is nested twice as deep as the names in it. */
const MAX_NESTING = 30

/** Values that are looked into, and uses that are found, between two pauses. */
const VALUES = 1000
const USES = 100

/**
 * Returns the uses of the payload in the texts inside a value, in order: in the first 50,000 characters, and of malformed
 * Liquid those that can be read. In steps.
 */
export function* findingPayloadUses(value: unknown): Generator<void, PayloadUse[]> {
  let left = MAX_CHARACTERS
  let count = 0
  const uses: PayloadUse[] = []
  yield* findIn(value, 0)
  return uses

  function* findIn(value: unknown, depth: number): Generator<void, void> {
    if (depth > MAX_DEPTH) return
    if (typeof value !== 'object' || value === null) return yield* findInText(value, depth)
    for (const each of Object.values(value)) {
      if (++count % VALUES === 0) yield
      if (typeof each === 'object' && each !== null) yield* findIn(each, depth + 1)
      else if (typeof each === 'string' && each.includes('payload')) yield* findInText(each, depth + 1)
    }
  }

  function* findInText(text: unknown, depth: number): Generator<void, void> {
    if (typeof text !== 'string' || !text.includes('payload') || !/\{[{%]/.test(text)) return
    left -= text.length
    if (left < 0) return
    yield
    // The text of the block editor is JSON: the quotes in its Liquid are escaped.
    const blocks = /^\s*\{\s*"/.test(text) ? attempt(() => JSON.parse(text)) : undefined
    if (blocks) return yield* findIn(blocks, depth + 1)
    const templates = yield* parsingLeniently(text)
    yield
    for (const use of usesIn(templates, new Map([['payload', []]]))) {
      uses.push(use)
      if (uses.length % USES === 0) yield
    }
  }
}

function* parsingLeniently(text: string): Generator<void, Template[]> {
  const parse = (source: string) => attempt(() => liquid.parse(source))
  const whole = parse(text)
  if (whole) return whole
  const templates: Template[] = []
  for (const part of partsOf(text)) {
    yield
    const tag = /^\{%-?\s*(\w+)/.exec(part)?.[1]
    templates.push(...(parse(part) ?? parse(`${part}{% end${tag} %}`) ?? []))
  }
  return templates
}

const ENDS: Record<string, string> = { '{{': '}}', '{%': '%}' }

/** The first outputs and tags of a text, from their opening braces to the next closing ones. */
function* partsOf(text: string): Generator<string, void> {
  const unclosed = new Set<string>()
  let from = 0
  let count = 0
  for (const { 0: open, index } of text.matchAll(/\{[{%]/g)) {
    if (index < from || unclosed.has(open)) continue
    const end = text.indexOf(ENDS[open] ?? '', index + 2)
    if (end === -1) unclosed.add(open)
    else {
      yield text.slice(index, end + 2)
      from = end + 2
      if (++count === MAX_PARTS) return
    }
  }
}

type Paths = ReadonlyMap<string, PayloadUse['path']>

/** `known` has the paths that variables stand for: `payload`, and those of the loops around. */
function* usesIn(templates: readonly Template[], known: Paths, nesting = 0): Generator<PayloadUse> {
  if (nesting > MAX_NESTING) return
  for (const template of templates) {
    const loop = template instanceof ForTag || template instanceof TablerowTag ? template : undefined
    let inner = known
    for (const token of [...(template.arguments?.() ?? [])].flatMap((each) => accessesIn(each))) {
      const [root, ...names] = token.props.map(nameOf)
      const path = [...(known.get(root ?? '') ?? [null]), ...names].slice(0, MAX_NESTING)
      if (typeof path[0] !== 'string') continue
      const isCollection = loop !== undefined && loop.collection === token
      const use = isCollection ? { path: [...path, null], text: undefined } : { path, text: token.getText() }
      if (isCollection) inner = new Map([...inner, [loop.variable, use.path]])
      yield { ...use, isLoopItem: root !== 'payload' }
    }
    if (template.children) yield* usesIn(toValueSync(template.children(false, true)) as Template[], inner, nesting + 1)
  }
}

type Token = Parameters<typeof TypeGuards.isRangeToken>[0]
type Access = Extract<Token, { props: unknown }>
type Range = Extract<Token, { lhs: unknown }>

/** Lists the accesses to variables in an expression: in its filters' arguments, ranges and indexes too. */
function accessesIn(expression: unknown, nesting = 0): Access[] {
  if (typeof expression !== 'object' || expression === null || nesting > MAX_NESTING) return []
  const { props = [], lhs, rhs, initial, filters = [] } = expression as Partial<Access & Range & Value>
  // An argument that has a name is a pair of the name and the value.
  const options = filters.flatMap(({ args }: Value['filters'][number]) =>
    args.map((argument) => [argument].flat().at(-1))
  )
  const inner = [...props, lhs, rhs, ...(initial?.postfix ?? []), ...options].flatMap((each) =>
    accessesIn(each, nesting + 1)
  )
  return TypeGuards.isPropertyAccessToken(expression) ? [expression, ...inner] : inner
}

function nameOf(prop: Access['props'][number]): string | null {
  const name = 'content' in prop && typeof prop.content === 'string' ? prop.content : ''
  return name === '' || /^\d+$/.test(name) ? null : name
}

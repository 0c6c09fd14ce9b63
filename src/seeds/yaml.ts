import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type YAMLError
} from 'yaml'
import { type Path, pathText } from '../core/validation.js'
import { placeOf, SeedError, type SeedMistake } from './errors.js'

/** A seed as it was written, YAML or JSON, with the means to point into it. */
export interface SeedText {
  value: unknown
  /** What is wrong with it as a text, though it can be read. */
  mistakes: SeedMistake[]
  /**
   * A mistake in the value at the path, or in the name of the field there. What is not in the text is pointed at where
   * it comes from: an alias, a merge, or the innermost thing around it.
   */
  mistakeAt(path: Path, message: string, part?: 'name' | 'value'): SeedMistake
}

/** Far beyond any seed, and well before the parser runs out of stack. */
const DEEPEST = 100
/** How many values aliases may stand for, all together. */
const MAX_ALIASED = 1_000_000

/** Reads YAML of one document. Throws SeedError with everything that keeps it from being read. */
export function readText(text: string, file: string): SeedText {
  const lines = new LineCounter()
  const mistake = (offset: number, message: string, path: Path = []): SeedMistake => {
    const { line, col } = lines.linePos(offset)
    // The counter has not seen a line in an empty text.
    return { file, line: Math.max(line, 1), column: line === 0 ? 1 : col, path: pathText(path), message }
  }
  const tokens = [...new Parser(lines.addNewLine).parse(text.replace(/^\uFEFF/, ''))]
  const deep = placeTooDeep(tokens)
  if (deep !== undefined) throw new SeedError([mistake(deep, `is nested more than ${DEEPEST} deep`)])

  const options = { prettyErrors: false, merge: true, uniqueKeys: false } as const
  const [document, ...others] = new Composer(options).compose(tokens, true, text.length)
  if (!document) throw new Error('the composer makes a document of any text')
  const faults = [
    ...[...document.errors, ...document.warnings].map((error) => ({ offset: error.pos[0], message: syntax(error) })),
    ...others.map(({ range }) => ({ offset: range[0], message: 'a seed is one document: drop this second one' }))
  ].filter(({ message }) => message !== '')
  if (faults.length > 0)
    throw new SeedError(withoutEchoes(faults).map(({ offset, message }) => mistake(offset, message)))

  const twists = [...twistsIn(document)]
  const mistakes = twists.map(({ node, first, message, path }) => {
    const before = first ? `, first at ${placeOf(mistake(startOf(first), ''))}` : ''
    return mistake(startOf(node), message + before, path)
  })
  if (twists.some(({ fatal }) => fatal)) throw new SeedError(mistakes)
  return {
    value: document.toJS({ maxAliasCount: -1 }),
    mistakes,
    mistakeAt: (path, message, part) => mistake(offsetOf(document, path, part), message, path)
  }
}

/** What is not closed is missed again by everything around it, and what is no YAML at all at every turn. */
function withoutEchoes<Fault extends { offset: number }>(faults: readonly Fault[]): Fault[] {
  const places = new Map(faults.toReversed().map((fault) => [fault.offset, fault]))
  return [...places.values()].sort((one, other) => one.offset - other.offset).slice(0, MAX_FAULTS)
}

const MAX_FAULTS = 20

/** Parsing is a loop, but composing calls itself for all that is nested, and dies on what is nested too deep. */
function placeTooDeep(tokens: readonly object[]): number | undefined {
  interface Token {
    offset?: number
    items?: Token[]
    key?: Token | null
    value?: Token | string
  }
  // What is nested is a token within an item of a token.
  const deepest = 2 * (DEEPEST + 1)
  const open = tokens.map((token) => ({ token: token as Token, depth: 0, offset: 0 }))
  for (let next = open.pop(); next; next = open.pop()) {
    const { token, depth } = next
    const offset = token.offset ?? next.offset
    if (depth > deepest) return offset
    for (const inner of [token.key, token.value, ...(token.items ?? [])]) {
      if (typeof inner === 'object' && inner !== null) open.push({ token: inner, depth: depth + 1, offset })
    }
  }
  return undefined
}

/** What the parser complains of, in our words where its own help little. Empty: it is told elsewhere, and better. */
function syntax({ code, message }: YAMLError): string {
  const bracket = /end with a ([\]}])$/.exec(message)?.[1]
  if (bracket) return `the ${bracket === ']' ? '[' : '{'} is not closed here, or what is in it is not indented enough`
  if (code === 'TAG_RESOLVE_FAILED') return ''
  return REWORDED[message] ?? REWORDED[code] ?? message.charAt(0).toLowerCase() + message.slice(1)
}

const REWORDED: Record<string, string> = {
  TAB_AS_INDENT: 'a tab can not indent in YAML: use spaces',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on the line: put a text that has ": " in it in quotes',
  BLOCK_IN_FLOW: 'a comma is missing, or something here is not closed',
  'Missing closing "quote': 'a " is not closed',
  "Missing closing 'quote": "a ' is not closed",
  'Sequence item without - indicator': 'this is indented less than the list that it is in, or lacks its "- "',
  'All mapping items must start at the same column': 'this is not indented like the fields around it',
  'All sequence items must start at the same column': 'this is not indented like the items around it',
  'Implicit map keys need to be followed by map values': 'a field needs a colon and a value'
}

interface Twist {
  node: unknown
  message: string
  path: Path
  /** Where the same was before. */
  first?: unknown
  /** It has no value that could be looked at. */
  fatal?: true
}

/** Those of YAML itself, which are written with two exclamation marks. */
const OWN_TAGS = 'tag:yaml.org,2002:'
const TAGS = ['map', 'seq', 'str', 'int', 'float', 'bool', 'null', 'merge'].map((name) => OWN_TAGS + name)

/** What is well-formed YAML, and would nevertheless lose something, or never end, on its way into JSON. */
function* twistsIn(document: Document): Generator<Twist> {
  const anchors = new Map<string, Node>()
  const open = new Set<Node>()
  const sizes = new Map<Node, number>()
  let aliased = 0
  yield* within(document.contents, [])

  function* within(node: unknown, path: Path): Generator<Twist> {
    if (!isNode(node)) return
    if (isAlias(node)) return yield* ofAlias(node, path)
    if (node.anchor) anchors.set(node.anchor, node)
    if (node.tag && !TAGS.includes(node.tag)) {
      const tag = node.tag.replace(OWN_TAGS, '!!')
      yield { node, path, message: `the tag ${tag} has no meaning here: leave it out` }
    }
    let size = 1
    open.add(node)
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        yield* within(item, [...path, index])
        size += sizeOf(item)
      }
    } else if (isMap(node)) {
      yield* ofNames(node.items, path)
      for (const pair of node.items) {
        yield* isMerge(pair) ? ofMerge(pair.value, path) : within(pair.value, [...path, nameOf(pair) ?? ''])
        size += sizeOf(pair.value)
      }
    } else if (isScalar(node)) {
      yield* ofNumber(node, path)
    }
    open.delete(node)
    sizes.set(node, size)
  }

  function* ofAlias(node: Alias, path: Path): Generator<Twist> {
    const { source } = node
    const meant = anchors.get(source)
    if (!meant) return yield { node, path, message: `there is no anchor &${source} before this`, fatal: true }
    if (open.has(meant)) {
      return yield { node, path, message: `*${source} stands inside of what it stands for`, fatal: true }
    }
    sizes.set(node, sizeOf(meant))
    const before = aliased
    aliased += sizeOf(meant)
    if (before <= MAX_ALIASED && aliased > MAX_ALIASED) {
      yield { node, path, message: `with this, aliases stand for more than ${MAX_ALIASED} values`, fatal: true }
    }
  }

  function* ofMerge(value: unknown, path: Path): Generator<Twist> {
    const sources = isSeq(value) ? value.items : [value]
    for (const source of sources) {
      const meant = isAlias(source) ? anchors.get(source.source) : source
      yield* within(source, path)
      if (meant && !isMap(meant)) {
        yield { node: source, path, message: 'only an object can be merged in with <<', fatal: true }
      }
    }
  }

  function sizeOf(node: unknown): number {
    return sizes.get(node as Node) ?? 1
  }
}

function* ofNames(pairs: readonly Pair[], path: Path): Generator<Twist> {
  const names = new Map<string, unknown>()
  for (const pair of pairs) {
    const { key: node } = pair
    const name = nameOf(pair)
    if (isMerge(pair)) continue
    if (name === undefined) yield { node, path, message: 'the name of a field must be text', fatal: true }
    else if (names.has(name)) yield { node, path: [...path, name], message: 'is given twice', first: names.get(name) }
    else names.set(name, node)
  }
}

function* ofNumber(node: Scalar, path: Path): Generator<Twist> {
  const { value, source } = node
  if (typeof value !== 'number') return
  if (!Number.isFinite(value)) {
    yield { node, path, message: `${source} is no number that JSON can hold; for a text put it in quotes` }
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && String(value) !== source) {
    yield { node, path, message: `${source} has too many digits for a number; for a text put it in quotes` }
  }
}

function offsetOf(document: Document, path: Path, part: 'name' | 'value' = 'value'): number {
  let node: unknown = document.contents
  for (const [place, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step] ?? node
    } else if (isMap(node)) {
      const pairs: readonly Pair[] = node.items
      const pair = pairs.find((each) => !isMerge(each) && nameOf(each) === step)
      if (!pair) return startOf(pairs.find(isMerge)?.value ?? node)
      if (part === 'name' && place === path.length - 1) return startOf(pair.key)
      node = pair.value ?? pair.key
    }
  }
  return startOf(node)
}

function startOf(node: unknown): number {
  return (isNode(node) && node.range?.[0]) || 0
}

/** The name that a field gets in JSON; undefined when it has none that it could be given. */
function nameOf({ key }: Pair): string | undefined {
  if (!isScalar(key) || key.value === null || typeof key.value === 'symbol') return undefined
  return String(key.value)
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

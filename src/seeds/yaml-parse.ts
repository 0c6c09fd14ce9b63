import {
  Composer,
  type CST,
  Lexer,
  type LineCounter,
  type Node,
  type Pair,
  Parser,
  type YAMLError,
  YAMLParseError
} from 'yaml'
import { MAX_DEPTH } from '../core/excess.js'

/** A text as YAML nodes. */
export interface YamlText {
  contents: Node | null
  errors: YAMLError[]
  /** The items of large lists and objects, whose nodes have none: by the `srcToken` of the node. */
  items: ReadonlyMap<unknown, readonly (Node | Pair)[]>
  /** Where it is nested too deeply; there are no contents then. */
  tooDeepAt?: number
}

/** An unknown tag is an issue that is told with its path, and a long name is none. */
export const isSyntaxError = ({ code }: YAMLError): boolean => !/^(TAG_RESOLVE_FAILED|KEY_OVER_1024_CHARS)$/.test(code)

type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection

/** Lexemes between two pauses. */
const LEXEMES = 1000
/** Tags and anchors before a value: those of an object and of its first name may follow each other. */
const MAX_PROPERTIES = 4
/** How many values of a list or an object are made nodes at once. */
const BATCH = 500
/** After so many errors a text is not read on: each character may be one, and to make a million takes seconds. */
const MAX_ERRORS = 1000
const OPTIONS = { prettyErrors: false, merge: true, uniqueKeys: false, keepSourceTokens: true }

/**
 * Parses a YAML text, and pauses after each some milliseconds. The parser of `yaml` can be paused, but its composer, which
 * makes nodes of the tokens, can't. So the items of large lists and objects are composed by themselves.
 */
export function* parseYaml(text: string, lines: LineCounter): Generator<void, YamlText> {
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  let count = 0
  let properties = 0
  let misplaced = 0
  /** How many items of lists in brackets are settled. */
  const settled = new Map<CST.Token, number>()
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') misplaced += 1
    }
    if (misplaced > MAX_ERRORS) break
    // The stack begins with the document, and may end with a scalar.
    if (parser.stack.length > MAX_DEPTH + 2) {
      const { offset } = parser.stack[MAX_DEPTH + 1] ?? parser
      return { contents: null, errors: [], items: new Map(), tooDeepAt: offset }
    }
    if (/^[!&]/.test(lexeme)) properties += 1
    else if (/^[^\s#]/.test(lexeme)) properties = 0
    if (properties > MAX_PROPERTIES) {
      // The composer would make an error of each.
      const position: [number, number] = [parser.offset - lexeme.length, parser.offset]
      const error = new YAMLParseError(position, 'BAD_PROP_ORDER', 'a value has at most one tag and one anchor')
      return { contents: null, errors: [error], items: new Map() }
    }
    if (++count % LEXEMES === 0) {
      for (const token of parser.stack) if (token.type === 'flow-collection') settle(token, settled)
      if (countMisplaced(parser.stack.at(-1)) > MAX_ERRORS) break
      yield
    }
  }
  tokens.push(...parser.end())

  try {
    return yield* composing(tokens, text)
  } catch (error) {
    if (!(error instanceof TooManyErrors)) throw error
    return { contents: null, errors: [...error.first], items: new Map() }
  }
}

function* composing(tokens: CST.Token[], text: string): Generator<void, YamlText> {
  const parts = new Map<Collection, Collection[]>()
  for (const token of tokens) if (token.type === 'document') yield* cut(token.value, parts)
  const { contents, errors } = compose(tokens, text.length)
  const items = new Map<unknown, (Node | Pair)[]>()
  let count = 0
  for (const [whole, each] of parts) {
    const composed: (Node | Pair)[] = []
    for (const value of each) {
      yield
      const part = compose([{ type: 'document', offset: value.offset, start: [], value }], text.length)
      errors.push(...part.errors)
      count += part.errors.filter(isSyntaxError).length
      if (count > MAX_ERRORS) throw new TooManyErrors(errors)
      composed.push(...((part.contents as { items?: (Node | Pair)[] } | null)?.items ?? []))
    }
    items.set(whole, composed)
  }
  return { contents, errors, items }
}

/**
 * Does to the complete items of a list in brackets what the parser does to all at its end, and takes a tenth of a second
 * for: each was taken for a name that a colon may follow, and becomes a value.
 */
function settle(list: CST.FlowCollection, settled: Map<CST.Token, number>): void {
  if (list.start.type !== 'flow-seq-start') return
  const last = Math.max(list.items.length - 1, 0)
  for (let index = settled.get(list) ?? 0; index < last; index++) {
    const { start, key, sep, value } = list.items[index] as CST.CollectionItem
    const isPair = value || start.some(({ type }) => type === 'explicit-key-ind')
    if (!sep || isPair || sep.some(({ type }) => type === 'map-value-ind')) continue
    if (sep.length > 0 && key && !key.type.startsWith('block')) {
      Object.assign(key, { end: [...((key as CST.FlowScalar).end ?? []), ...sep] })
    } else start.push(...sep)
    list.items[index] = { start, ...(key && { value: key }) } as never
  }
  settled.set(list, last)
}

/** Counts what follows a value on its line, where nothing but a comment may. */
function countMisplaced(token: CST.Token | undefined): number {
  const end = token && 'end' in token && Array.isArray(token.end) ? (token.end as CST.SourceToken[]) : []
  return end.filter(({ type }) => !['space', 'comment', 'newline'].includes(type)).length
}

class TooManyErrors extends Error {
  readonly first: readonly YAMLError[]

  constructor(errors: readonly YAMLError[]) {
    super()
    // Without those that the composer makes of this error.
    this.first = errors.filter(({ code }) => code !== 'RESOURCE_EXHAUSTION')
  }
}

/** Throws TooManyErrors. */
function compose(tokens: CST.Token[], end: number): Pick<YamlText, 'contents' | 'errors'> {
  const composer = new Composer(OPTIONS)
  // Both are private, but nothing else tells of an error before all are there.
  const inner = composer as unknown as { errors: YAMLError[]; onError: (...error: unknown[]) => void }
  const { onError } = inner
  let count = 0
  inner.onError = (...error) => {
    const before = inner.errors.length
    onError(...error)
    count += inner.errors.slice(before).filter(isSyntaxError).length
    if (count > MAX_ERRORS) throw new TooManyErrors(inner.errors)
  }
  const documents = composer.compose(tokens, true, end)
  const first = documents.next().value
  const second = documents.next().value
  const errors: YAMLError[] = first ? [...first.errors, ...first.warnings] : []
  if (second) errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', ''))
  return { contents: first?.contents ?? null, errors }
}

/** Takes the items out of each large list and object in a token, into parts that are composed alike. Returns how many values are left. */
function* cut(token: CST.Token | null | undefined, parts: Map<Collection, Collection[]>): Generator<void, number> {
  if (!token || !('items' in token)) return 0
  const batches: Collection['items'][] = [[]]
  let size = 0
  for (const item of token.items as CST.CollectionItem[]) {
    const { key, value } = item
    const added =
      2 +
      (key && 'items' in key ? yield* cut(key, parts) : 0) +
      (value && 'items' in value ? yield* cut(value, parts) : 0)
    const canBegin = token.type !== 'flow-collection' || item.start[0]?.type === 'comma'
    if (size + added > BATCH && canBegin) {
      yield
      batches.push([])
      size = 0
    }
    size += added
    batches.at(-1)?.push(item as never)
  }
  if (batches.length === 1) return size
  parts.set(
    token,
    batches.map((items, index) => partOf(token, items as CST.CollectionItem[], index, batches.length))
  )
  Object.assign(token, partOf(token, [], 0, 2))
  return 0
}

/** Returns a list or object of these items. In flow style only the last part ends as the whole does. */
function partOf(token: Collection, items: CST.CollectionItem[], index: number, count: number): Collection {
  if (token.type !== 'flow-collection') return { ...token, items } as Collection
  const [first, ...others] = items
  const [, ...start] = first?.start ?? []
  const { offset, indent } = token
  const isMap = token.start.source === '{'
  const end: CST.SourceToken = {
    type: isMap ? 'flow-map-end' : 'flow-seq-end',
    offset,
    indent,
    source: isMap ? '}' : ']'
  }
  return {
    ...token,
    // The first part begins without a comma, and so do the others then.
    items: first && index > 0 ? [{ ...first, start }, ...others] : items,
    end: index < count - 1 ? [end] : token.end
  }
}

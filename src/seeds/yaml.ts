import { createRequire } from 'node:module'
import type { CST, Document, LineCounter, Node, Scalar, YAMLMap } from 'yaml'
import { lazily } from '../domain/lazily.js'
import { formatPath, MAX_DEPTH, type Path, TOO_DEEP } from '../schema/validation.js'
import { createIssue, SeedError, type SeedIssue } from './errors.js'
import { formatLimit, type SeedLimits } from './limits.js'

/**
 * Loads the `yaml` package when the first YAML text is read, because loading it takes a tenth of
 * the startup time. Uses `require`, because `import()` would make reading seeds asynchronous. In
 * the bundle, `require` finds the bundled copy of the package. Modules in src/ have no `require`,
 * so one is created for them.
 */
const yaml = lazily((): typeof import('yaml') =>
  typeof require === 'undefined' ? createRequire(import.meta.url)('yaml') : require('yaml')
)

/**
 * Creates an issue at the value with this path, or at the field's name if `part` is `name`. If the
 * value comes from an alias or a merge, the issue is at the alias or the merge. If the value is
 * missing, the issue is at its closest parent.
 */
export type IssueAt = (path: Path, message: string, part?: 'name' | 'value') => SeedIssue

/** The maximum number of errors to list. Later errors are often caused by the first ones. */
const MAX_ERRORS = 20
/** Parsing stops after this many misplaced tokens. */
const MAX_MISPLACED = 100
/** `uniqueKeys` is off because it takes quadratic time. `#readMap` finds repeated names instead. */
const OPTIONS = { prettyErrors: false, merge: true, uniqueKeys: false, resolveKnownTags: false }

const SECOND_NAME = 'has a second field name on this line: quote a value that contains a colon'
const NOT_IN_JSON = 'is not a number that JSON supports; quote it to make it a string'
const NOT_AN_OBJECT = "is not an object, so << can't merge it"
const NOT_A_NAME = 'has a field name that is not a string; quote a value that starts with { or ['

/** Creates an issue at an offset in the text. */
type IssueAtOffset = (offset: number, message: string, path?: Path) => SeedIssue

interface ParsedYaml {
  contents: unknown
  issueAtOffset: IssueAtOffset
}

/** Parses YAML into nodes. Throws `SeedError` for syntax errors. */
function parseYaml(text: string, file: string): ParsedYaml {
  const lines = new (yaml().LineCounter)()
  lines.addNewLine(0)
  const issueAtOffset: IssueAtOffset = (offset, message, path = []) => {
    const { line, col: column } = lines.linePos(offset)
    return createIssue({ file, line, column, path: formatPath(path), message })
  }
  const tokens = readTokens(text, lines, issueAtOffset)
  const [document, secondDocument] = composeDocuments(tokens, text)
  const issues = document ? syntaxIssues(document, text, issueAtOffset) : []
  if (secondDocument) {
    const message = 'is a second document, but a seed has only one: remove it'
    issues.push(issueAtOffset(secondDocument.range[0], message))
  }
  if (issues.length > 0) throw new SeedError(issues)
  return { contents: document?.contents, issueAtOffset }
}

/**
 * Returns the tokens of a text. Stops after a hundred misplaced tokens. Throws `SeedError` if the
 * text is nested too deeply.
 */
function readTokens(text: string, lines: LineCounter, issueAtOffset: IssueAtOffset): CST.Token[] {
  const parser = new (yaml().Parser)(lines.addNewLine)
  const tokens: CST.Token[] = []
  let misplacedCount = 0
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    for (const token of parser.next(lexeme)) {
      tokens.push(token)
      if (token.type === 'error') misplacedCount += 1
    }
    if (misplacedCount > MAX_MISPLACED) break
    // The stack has an entry for the document, one for each level, and sometimes one for a scalar.
    // With more than `MAX_DEPTH + 2` entries, the text has too many levels.
    const deepest = parser.stack[MAX_DEPTH + 1]
    if (deepest && parser.stack[MAX_DEPTH + 2]) {
      throw new SeedError([issueAtOffset(deepest.offset, TOO_DEEP)])
    }
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/** Returns at most two documents, because a second document is already an issue. */
function composeDocuments(tokens: CST.Token[], text: string): (Document.Parsed | undefined)[] {
  const { stackTraceLimit } = Error
  // Don't record stack traces, because a text can have a million errors, and their traces would
  // take most of the time and memory.
  Error.stackTraceLimit = 0
  try {
    const [first, second] = new (yaml().Composer)(OPTIONS).compose(tokens, true, text.length)
    return [first, second] as (Document.Parsed | undefined)[]
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

function syntaxIssues(
  { errors, warnings }: Document.Parsed,
  text: string,
  issueAtOffset: IssueAtOffset
): SeedIssue[] {
  const issues = new Map<number, SeedIssue>()
  for (const { pos, code, message } of [...errors, ...warnings]) {
    if (issues.size === MAX_ERRORS) break
    // Accept long names, because JSON allows names of any length.
    if (code === 'KEY_OVER_1024_CHARS') continue
    const isUnclosed = / end with a [\]}]$|^Missing closing/.test(message)
    // Report an unclosed bracket or quote where its content ends, not on the line after it.
    const offset = isUnclosed ? text.slice(0, pos[0]).trimEnd().length : pos[0]
    // Skip further errors at the same offset, because they follow from the first one.
    if (issues.has(offset)) continue
    const description = code === 'BLOCK_AS_IMPLICIT_KEY' ? SECOND_NAME : message
    issues.set(offset, issueAtOffset(offset, description))
  }
  return [...issues.values()]
}

/**
 * Converts YAML to a JSON value. Throws `SeedError` if the text has syntax errors or can't be
 * converted, for example because a name is repeated, an alias is unknown, or the aliases expand to
 * more than `limits.json`. Doesn't use the package's own `toJS`, which takes quadratic time for
 * aliases and never ends for nested merges.
 */
export function readYaml(text: string, file: string, limits: SeedLimits): unknown {
  return new YamlReader(parseYaml(text, file), limits).read()
}

class YamlReader {
  readonly #document: ParsedYaml
  readonly #limits: SeedLimits
  readonly #issues: SeedIssue[] = []
  /** The approximate length, as JSON, of the values read so far. */
  #size = 0
  /** The values of anchors, by anchor name. Contains only values that have been read completely. */
  readonly #anchors = new Map<string, { value: unknown; size: number }>()

  constructor(document: ParsedYaml, limits: SeedLimits) {
    this.#document = document
    this.#limits = limits
  }

  read(): unknown {
    const value = this.#readNode(this.#document.contents, [])
    if (this.#issues.length > 0) throw new SeedError(this.#issues)
    return value
  }

  /** Adds an issue. Throws all issues if there are too many, or if the value is too large. */
  #report(node: unknown, path: Path, message: string): void {
    this.#issues.push(this.#document.issueAtOffset(startOf(node), message, path))
    if (this.#size > this.#limits.json || this.#issues.length === MAX_ERRORS) {
      throw new SeedError(this.#issues)
    }
  }

  #readNode(node: unknown, path: Path): unknown {
    if (yaml().isAlias(node)) return this.#readAlias(node, node.source, path)
    if (!yaml().isNode(node)) return null
    const sizeBefore = this.#size
    // An alias inside the value must not refer to an earlier anchor with the same name.
    if (node.anchor) this.#anchors.delete(node.anchor)
    const value = this.#readContent(node, path)
    if (node.anchor) this.#anchors.set(node.anchor, { value, size: this.#size - sizeBefore })
    return value
  }

  #readAlias(node: unknown, name: string, path: Path): unknown {
    const anchor = this.#anchors.get(name)
    if (!anchor) {
      this.#report(node, path, `refers to &${name}, but no earlier value has this anchor`)
      return null
    }
    this.#size += anchor.size
    if (this.#size <= this.#limits.json) return anchor.value
    const limit = `${formatLimit(this.#limits.json)} of JSON, the limit ${this.#limits.where}`
    this.#report(node, path, `makes the aliases expand to more than ${limit}: use fewer aliases`)
    return null
  }

  #readContent(node: Node, path: Path): unknown {
    this.#size += 2
    if (yaml().isSeq(node)) {
      return node.items.map((item, index) => this.#readNode(item, [...path, index]))
    }
    if (yaml().isMap(node)) return this.#readMap(node, path)
    const { value } = node as Scalar
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.#report(node, path, NOT_IN_JSON)
      return null
    }
    this.#size += String(value).length
    return value
  }

  #readMap({ items }: YAMLMap, path: Path): unknown {
    const fields = new Map<string, unknown>()
    const firstKeys = new Map<string, unknown>()
    for (const { key, value } of items) {
      if (isMergeKey(key)) {
        // A merge never replaces a field that is already set.
        for (const [name, field] of this.#readMerge(value, path)) {
          if (!fields.has(name)) fields.set(name, field)
        }
        continue
      }
      const name = fieldName(key)
      if (name === undefined) {
        this.#report(key, path, NOT_A_NAME)
        continue
      }
      if (firstKeys.has(name)) this.#reportRepeated(key, firstKeys.get(name), [...path, name])
      firstKeys.set(name, key)
      this.#size += name.length + 4
      fields.set(name, this.#readNode(value, [...path, name]))
    }
    // Unlike an assignment, `fromEntries` can create a field named `__proto__`.
    return Object.fromEntries(fields)
  }

  #reportRepeated(key: unknown, firstKey: unknown, path: Path): void {
    const { location } = this.#document.issueAtOffset(startOf(firstKey), '')
    this.#report(key, path, `appears twice, first at ${location}`)
  }

  /** Returns the fields to merge. The value of `<<` can be an object or a list of objects. */
  #readMerge(value: unknown, path: Path): [name: string, field: unknown][] {
    const sources = yaml().isSeq(value) ? value.items : [value]
    return sources.flatMap((source) => {
      const merged = this.#readNode(source, path)
      if (typeof merged === 'object' && !Array.isArray(merged)) return Object.entries(merged ?? {})
      this.#report(source, path, NOT_AN_OBJECT)
      return []
    })
  }
}

/**
 * Returns a function that creates issues with line numbers for a YAML or JSON text. The text is
 * parsed again, but only for the first issue. Issues have no line numbers if the seed was passed as
 * an object, or if the text is longer than `limits.yaml`.
 */
export function createIssueLocator(
  text: string | undefined,
  file: string,
  limits: SeedLimits
): IssueAt {
  if (text === undefined || text.length > limits.yaml) {
    return (path, message) => createIssue({ file, path: formatPath(path), message })
  }
  const parsed = lazily(() => parseYaml(text, file))
  return (path, message, part = 'value') => {
    const { contents, issueAtOffset } = parsed()
    return issueAtOffset(startOf(findNode(contents, path, part)), message, path)
  }
}

/** Returns the node at the path, or its closest parent if there is no such node. */
function findNode(contents: unknown, path: Path, part: 'name' | 'value'): unknown {
  let node = contents
  for (const [index, step] of path.entries()) {
    const isName = part === 'name' && index === path.length - 1
    if (yaml().isMap(node)) {
      const field = findField(node, String(step))
      if (isName) return field?.key ?? node
      if (!field) return mergedValue(node)
      node = field.value ?? field.key
    } else if (yaml().isSeq(node)) {
      node = node.items[Number(step)] ?? node
    }
  }
  return node
}

/** Returns the last field with the name. If a JSON object repeats a name, the last field wins. */
function findField(map: YAMLMap, name: string) {
  return map.items.findLast(({ key }) => fieldName(key) === name)
}

/** Returns the value of `<<`, or the map itself if it has no merge. */
function mergedValue(map: YAMLMap): unknown {
  const merge = map.items.find(({ key }) => isMergeKey(key))
  return merge?.value ?? merge?.key ?? map
}

function startOf(node: unknown): number {
  return (yaml().isNode(node) && node.range?.[0]) || 0
}

/** Returns the name that the field has in JSON, or undefined if the key can't be a name. */
function fieldName(key: unknown): string | undefined {
  if (!yaml().isScalar(key) || key.value === null || isMergeKey(key)) return undefined
  return String(key.value)
}

/** Returns whether the key is `<<`. */
function isMergeKey(key: unknown): boolean {
  return yaml().isScalar(key) && typeof key.value === 'symbol'
}

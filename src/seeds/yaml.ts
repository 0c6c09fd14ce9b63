import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq
} from 'yaml'
import { type Path, pathText } from '../core/validation.js'
import { byPosition, createIssue, SeedError, type SeedIssue } from './errors.js'

/** A seed that was given as text, YAML or JSON. */
export interface SeedText {
  value: unknown
  /** What is wrong with the text itself, though it has a value. */
  issues: SeedIssue[]
  /**
   * An issue with the value at the path, or with the name of the field there. What an alias or a merge brings in is
   * located at the alias, and what is missing at the innermost value around it.
   */
  issueAt(path: Path, message: string, part?: 'name' | 'value'): SeedIssue
}

/** More than any seed needs, and few enough for every recursive function that reads a seed. */
const MAX_DEPTH = 100
const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep`
/** Aliases in all, those within aliased values included. */
const MAX_ALIASES = 1_000_000
/** After the first syntax errors the parser has lost track. */
const MAX_SYNTAX_ERRORS = 20

/** Reads YAML or JSON. Throws SeedError with everything that keeps the text from having a value. */
export function readText(text: string, file: string): SeedText {
  const source = text.replace(/^\uFEFF/, '')
  const value = plainJson(source)
  if (value === undefined) return readYaml(source, file)
  // The YAML parser takes a hundred times as long: it runs only if there is an issue to locate.
  let yaml: SeedText | undefined
  return {
    value,
    issues: [],
    issueAt(...issue) {
      yaml ??= readYaml(source, file)
      return yaml.issueAt(...issue)
    }
  }
}

/** The value of JSON that `JSON.parse` reads without loss; undefined for all else, where YAML has the issues. */
function plainJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined
  const open: Set<string>[] = []
  let start = -1
  let name = ''
  // Token by token: a pattern for whole strings runs out of stack in one of 20 MB.
  for (const { 0: token, index } of text.matchAll(/\\.|[":{}[\]]|-?\d[\d.eE+-]{0,400}/g)) {
    const names = open.at(-1)
    if (start >= 0) {
      if (token !== '"') continue
      name = text.slice(start, index)
      start = -1
    } else if (token === '"') start = index + 1
    else if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token !== ':' ? numberProblem(Number(token), token) : names?.has(name)) return undefined
    else if (token === ':') names?.add(name)
    if (open.length > MAX_DEPTH) return undefined
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readYaml(text: string, file: string): SeedText {
  const lines = new LineCounter()
  const createAt: IssueAtOffset = (offset, message, path = []) => {
    const { line, col } = lines.linePos(offset)
    // The counter has no line for an empty text.
    return createIssue({ file, line: line || 1, column: line === 0 ? 1 : col, path: pathText(path), message })
  }
  const document = parse(text, lines, createAt)
  const { issues, hasValue } = check(document, createAt)
  if (!hasValue) throw new SeedError(issues)
  return {
    value: document.toJS({ maxAliasCount: -1 }),
    issues,
    issueAt: (path, message, part) => createAt(offsetOf(document, path, part), message, path)
  }
}

type IssueAtOffset = (offset: number, message: string, path?: Path) => SeedIssue

function parse(text: string, lines: LineCounter, createAt: IssueAtOffset): Document {
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true, uniqueKeys: false })
  // An unknown tag is reported later, with its path.
  const errors = [...document.errors, ...document.warnings].filter(({ code }) => code !== 'TAG_RESOLVE_FAILED')
  const tooDeep = errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  const issues = new Map<number, SeedIssue>()
  for (const { code, pos, message } of tooDeep ? [tooDeep] : errors) {
    if (!issues.has(pos[0])) issues.set(pos[0], createAt(pos[0], SYNTAX_MESSAGES[code] ?? message))
  }
  if (issues.size > 0) throw new SeedError([...issues.values()].sort(byPosition).slice(0, MAX_SYNTAX_ERRORS))
  return document
}

const SYNTAX_MESSAGES: Record<string, string> = {
  MULTIPLE_DOCS: 'a seed is one document: drop this second one',
  RESOURCE_EXHAUSTION: TOO_DEEP
}

/** The tags of YAML that have a meaning in JSON. */
const TAGS = ['map', 'seq', 'str', 'int', 'float', 'bool', 'null', 'merge'].map((name) => `tag:yaml.org,2002:${name}`)

/** Finds what is well-formed YAML but is lost, or has no end, when it becomes JSON. */
function check(document: Document, createAt: IssueAtOffset): { issues: SeedIssue[]; hasValue: boolean } {
  const issues: SeedIssue[] = []
  let hasValue = true
  const anchors = new Map<string, Node>()
  const open: Node[] = []
  /** How many aliases each node stands for, those within aliased values included. */
  const weights = new Map<Node, number>()
  let aliases = 0
  checkNode(document.contents, [])
  return { issues, hasValue }

  function report(node: unknown, path: Path, message: string): void {
    issues.push(createAt(startOf(node), message, path))
  }

  function reportFatal(node: unknown, path: Path, message: string): void {
    hasValue = false
    report(node, path, message)
  }

  function checkNode(node: unknown, path: Path): void {
    if (isAlias(node)) checkAlias(node, path)
    else if (open.length > MAX_DEPTH) reportFatal(node, path, TOO_DEEP)
    else if (isScalar(node) || isCollection(node)) checkValue(node, path)
  }

  function checkValue(node: Scalar | YAMLMap | YAMLSeq, path: Path): void {
    if (node.anchor) anchors.set(node.anchor, node)
    if (node.tag && !TAGS.includes(node.tag)) {
      const tag = node.tag.replace('tag:yaml.org,2002:', '!!')
      report(node, path, `the tag ${tag} has no meaning here: leave it out`)
    }
    open.push(node)
    if (isSeq(node)) for (const [index, item] of node.items.entries()) checkNode(item, [...path, index])
    if (isMap(node)) checkFields(node, path)
    const message = isScalar(node) && typeof node.value === 'number' && numberProblem(node.value, node.source)
    if (message) report(node, path, message)
    open.pop()
  }

  function checkFields({ items }: YAMLMap, path: Path): void {
    const keys = new Map<string, unknown>()
    for (const pair of items) {
      const { key, value } = pair
      const name = nameOf(pair)
      if (isMerge(pair)) {
        for (const source of isSeq(value) ? value.items : [value]) checkMerged(source, path)
      } else if (name === undefined) {
        reportFatal(key, path, 'the name of a field must be text')
      } else {
        const first = keys.get(name)
        if (!first) keys.set(name, key)
        else report(key, [...path, name], `is given twice, first at ${createAt(startOf(first), '').location}`)
        checkNode(value, [...path, name])
      }
    }
  }

  function checkMerged(source: unknown, path: Path): void {
    checkNode(source, path)
    const merged = isAlias(source) ? anchors.get(source.source) : source
    if (merged && !isMap(merged)) reportFatal(source, path, 'only an object can be merged in with <<')
  }

  function checkAlias(alias: Alias, path: Path): void {
    const { source } = alias
    const anchored = anchors.get(source)
    const weight = 1 + (anchored ? (weights.get(anchored) ?? 0) : 0)
    for (const outer of open) weights.set(outer, (weights.get(outer) ?? 0) + weight)
    if (!anchored) reportFatal(alias, path, `there is no anchor &${source} before this`)
    else if (open.includes(anchored)) reportFatal(alias, path, `*${source} is inside the value that it stands for`)
    else if (aliases <= MAX_ALIASES && aliases + weight > MAX_ALIASES) {
      reportFatal(alias, path, `with this there are more than ${MAX_ALIASES} aliases`)
    }
    aliases += weight
  }
}

function numberProblem(value: number, source = ''): string | undefined {
  if (!Number.isFinite(value)) return `${source} is no number that JSON can hold; for a text put it in quotes`
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value) || String(value) === source
  return isExact ? undefined : `${source} has too many digits for a number; for a text put it in quotes`
}

function offsetOf(document: Document, path: Path, part: 'name' | 'value' = 'value'): number {
  let node: unknown = document.contents
  for (const [index, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step] ?? node
    } else if (isMap(node)) {
      const pairs: readonly Pair[] = node.items
      const pair = pairs.find((each) => !isMerge(each) && nameOf(each) === step)
      if (!pair) return startOf(pairs.find(isMerge)?.value ?? node)
      if (part === 'name' && index === path.length - 1) return startOf(pair.key)
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

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { attempt } from '../core/errors.js'
import { type Path, pathText } from '../core/validation.js'
import { byLocation, createIssue, SeedError, type SeedIssue } from './errors.js'

/** A seed that was given as text, YAML or JSON. */
export interface SeedText {
  value: unknown
  /** What is wrong with the text itself, though it has a value. */
  issues: SeedIssue[]
  /**
   * Returns an issue with the value at the path, or with the name of the field there. What an alias or a merge brings
   * in is located at the alias, and what is missing at the innermost value around it.
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
/** Up to so many characters the YAML parser reads JSON too, in half a second: it finds fields that are given twice. */
const SMALL_JSON = 50_000

/** Reads YAML or JSON; `known` is its value, if known. Throws SeedError with all that keeps it from having one. */
export function readText(text: string, file: string, known?: unknown): SeedText {
  const source = text.replace(/^\uFEFF/, '')
  const value = known ?? (source.length > SMALL_JSON ? attempt(() => JSON.parse(source)) : undefined)
  if (!isExact(value)) return readYaml(source, file)
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

/** Whether it is an object in which every number is exact and which is not nested too deeply. */
function isExact(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return depth > 0 && !numberProblem(value, '')
  return depth < MAX_DEPTH && Object.values(value).every((each) => isExact(each, depth + 1))
}

function readYaml(text: string, file: string): SeedText {
  const lineCounter = new LineCounter()
  const createAt: IssueAtOffset = (offset, message, path = []) => {
    const { line, col } = lineCounter.linePos(offset)
    // The counter has no line for an empty text.
    return createIssue({ file, line: line || 1, column: line === 0 ? 1 : col, path: pathText(path), message })
  }
  const document = parseDocument(text, { lineCounter, prettyErrors: false, merge: true, uniqueKeys: false })
  throwSyntaxErrors(document, createAt)
  const issues = lossesIn(document, createAt)
  return {
    value: document.toJS({ maxAliasCount: -1 }),
    issues,
    issueAt: (path, message, part) => createAt(offsetOf(document, path, part), message, path)
  }
}

type IssueAtOffset = (offset: number, message: string, path?: Path) => SeedIssue

function throwSyntaxErrors({ errors, warnings }: Document, createAt: IssueAtOffset): void {
  // An unknown tag is reported later, with its path; a long name is no issue.
  const all = [...errors, ...warnings].filter(({ code }) => !/^(TAG_RESOLVE_FAILED|KEY_OVER_1024_CHARS)$/.test(code))
  const tooDeep = all.find(({ code }) => code === 'RESOURCE_EXHAUSTION')
  const issues = new Map<number, SeedIssue>()
  for (const { code, pos, message } of tooDeep ? [tooDeep] : all) {
    if (!issues.has(pos[0])) issues.set(pos[0], createAt(pos[0], SYNTAX_MESSAGES[code] ?? message))
  }
  if (issues.size > 0) throw new SeedError([...issues.values()].sort(byLocation).slice(0, MAX_SYNTAX_ERRORS))
}

const SYNTAX_MESSAGES: Record<string, string> = {
  MULTIPLE_DOCS: 'a seed is one document: drop this second one',
  RESOURCE_EXHAUSTION: TOO_DEEP
}

/** The tags of YAML that have a meaning in JSON. */
const TAGS = ['map', 'seq', 'str', 'int', 'float', 'bool', 'null', 'merge'].map((name) => `tag:yaml.org,2002:${name}`)

/** Returns what is well-formed YAML but is lost when it becomes JSON. Throws SeedError if it can't become JSON. */
function lossesIn(document: Document, createAt: IssueAtOffset): SeedIssue[] {
  const issues: SeedIssue[] = []
  let hasValue = true
  const anchors = new Map<string, Node>()
  const open: Node[] = []
  /** How many aliases each node stands for, those within aliased values included. */
  const weights = new Map<Node, number>()
  let aliases = 0
  check(document.contents, [])
  if (!hasValue) throw new SeedError(issues)
  return issues

  function report(node: unknown, path: Path, message: string, isFatal = false): void {
    if (isFatal) hasValue = false
    issues.push(createAt(startOf(node), message, path))
  }

  function check(node: unknown, path: Path): void {
    if (isAlias(node)) checkAlias(node, node.source, path)
    else if (open.length > MAX_DEPTH) report(node, path, TOO_DEEP, true)
    else if (isNode(node)) checkValue(node, path)
  }

  function checkValue(node: Node, path: Path): void {
    if (node.anchor) anchors.set(node.anchor, node)
    if (node.tag && !TAGS.includes(node.tag)) {
      const tag = node.tag.replace('tag:yaml.org,2002:', '!!')
      report(node, path, `the tag ${tag} has no meaning here: leave it out`)
    }
    const problem = isScalar(node) && numberProblem(node.value, node.source)
    if (problem) report(node, path, problem)
    open.push(node)
    if (isSeq(node)) for (const [index, item] of node.items.entries()) check(item, [...path, index])
    if (isMap(node)) checkFields(node.items, path)
    open.pop()
  }

  function checkFields(pairs: readonly Field[], path: Path): void {
    const keys = new Map<string, unknown>()
    for (const { key, value } of pairs) {
      const name = nameOf(key)
      if (isMerge(key)) for (const source of isSeq(value) ? value.items : [value]) checkMerged(source, path)
      else if (name === undefined) report(key, path, 'the name of a field must be text', true)
      else {
        const first = keys.get(name)
        if (!first) keys.set(name, key)
        else report(key, [...path, name], `is given twice, first at ${createAt(startOf(first), '').location}`)
        check(value, [...path, name])
      }
    }
  }

  function checkMerged(source: unknown, path: Path): void {
    check(source, path)
    const merged = isAlias(source) ? anchors.get(source.source) : source
    if (merged && !isMap(merged)) report(source, path, 'only an object can be merged in with <<', true)
  }

  function checkAlias(alias: Node, name: string, path: Path): void {
    const anchored = anchors.get(name)
    const weight = 1 + ((anchored && weights.get(anchored)) ?? 0)
    for (const outer of open) weights.set(outer, (weights.get(outer) ?? 0) + weight)
    const hadTooMany = aliases > MAX_ALIASES
    aliases += weight
    if (!anchored) report(alias, path, `there is no anchor &${name} before this`, true)
    else if (open.includes(anchored)) report(alias, path, `*${name} is inside the value that it stands for`, true)
    else if (aliases > MAX_ALIASES && !hadTooMany)
      report(alias, path, `with this there are more than ${MAX_ALIASES} aliases`, true)
  }
}

function numberProblem(value: unknown, source = ''): string | undefined {
  if (typeof value !== 'number') return undefined
  if (!Number.isFinite(value)) return `${source} is no number that JSON can hold; for a text put it in quotes`
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value) || String(value) === source
  return isExact ? undefined : `${source} has too many digits for a number; for a text put it in quotes`
}

function offsetOf(document: Document, path: Path, part: 'name' | 'value' = 'value'): number {
  let node: unknown = document.contents
  for (const [index, step] of path.entries()) {
    if (isSeq(node) && typeof step === 'number') node = node.items[step] ?? node
    else if (isMap(node)) {
      const pairs: readonly Field[] = node.items
      const pair = pairs.find(({ key }) => nameOf(key) === step)
      if (!pair) return startOf(pairs.find(({ key }) => isMerge(key))?.value ?? node)
      node = part === 'name' && index === path.length - 1 ? pair.key : (pair.value ?? pair.key)
    }
  }
  return startOf(node)
}

interface Field {
  key: unknown
  value?: unknown
}

function startOf(node: unknown): number {
  return (isNode(node) && node.range?.[0]) || 0
}

/** Returns the name that a field gets in JSON; undefined when it has none that it could be given. */
function nameOf(key: unknown): string | undefined {
  return isScalar(key) && key.value !== null && !isMerge(key) ? String(key.value) : undefined
}

function isMerge(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}

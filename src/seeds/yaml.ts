import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type Scalar } from 'yaml'
import { MAX_DEPTH, TOO_DEEP } from '../core/excess.js'
import { type Path, pathText } from '../core/validation.js'
import { addIssue, byLocation, createIssue, type IssueList, SeedError, type SeedIssue } from './errors.js'
import { numberProblem, setField } from './json.js'
import { formatLimit, type SeedLimits } from './limits.js'
import { isSyntaxError, parseYaml, type YamlText } from './yaml-parse.js'

/** After the first syntax errors the parser has lost track. */
const MAX_SYNTAX_ERRORS = 20
/** Values between two pauses. */
const VALUES = 1000

/** A seed that was given as text, YAML or JSON. */
export interface SeedText {
  value: unknown
  /** What is wrong with the text itself, though it has a value. */
  issues: IssueList
  /**
   * Returns an issue with the value at the path, or with the name of the field there. What an alias or a merge brings
   * in is located at the alias, and what is missing at the innermost value around it.
   */
  issueAt(path: Path, message: string, part?: 'name' | 'value'): SeedIssue
}

export type IssueAtOffset = (offset: number, message: string, path?: Path) => SeedIssue

/** Reads YAML. Throws SeedError with all that keeps it from having a value. */
export function* readYaml(text: string, file: string, limits: SeedLimits): Generator<void, SeedText> {
  const lines = new LineCounter()
  const createAt: IssueAtOffset = (offset, message, path = []) => {
    const { line, col } = lines.linePos(offset)
    // The counter has no line for an empty text.
    return createIssue({ file, line: line || 1, column: line === 0 ? 1 : col, path: pathText(path), message })
  }
  const parsed = yield* parseYaml(text, lines)
  throwSyntaxErrors(parsed, createAt)
  const issues: IssueList = { issues: [], more: 0 }
  const reader = valueReader(parsed, { issues, createAt, limits })
  const { value } = yield* reader.read(parsed.contents, [])
  if (!reader.hasValue()) throw new SeedError(issues.issues.sort(byLocation), issues.more)
  const offsetOf = createLocator(parsed.contents)
  return {
    value,
    issues,
    issueAt: (path, message, part) => createAt(offsetOf(path, part), message, path)
  }
}

function throwSyntaxErrors({ errors, tooDeepAt }: YamlText, createAt: IssueAtOffset): void {
  if (tooDeepAt !== undefined) throw new SeedError([createAt(tooDeepAt, TOO_DEEP)])
  const all = errors.filter(isSyntaxError)
  const issues = new Map<number, SeedIssue>()
  for (const { code, pos, message } of all.sort((one, other) => one.pos[0] - other.pos[0])) {
    if (issues.size === MAX_SYNTAX_ERRORS) break
    if (!issues.has(pos[0])) issues.set(pos[0], createAt(pos[0], SYNTAX_MESSAGES[code] ?? message))
  }
  if (issues.size > 0) throw new SeedError([...issues.values()])
}

const SYNTAX_MESSAGES: Record<string, string> = {
  BLOCK_AS_IMPLICIT_KEY: 'a second name on this line: put a value that has a colon in it in quotes',
  MULTIPLE_DOCS: 'a seed is one document: drop this second one'
}

/** The tags of YAML that have a meaning in JSON. */
const TAGS = ['map', 'seq', 'str', 'int', 'float', 'bool', 'null', 'merge'].map((name) => `tag:yaml.org,2002:${name}`)

/** The value of a node. */
interface Valued {
  value: unknown
  /** Its characters in JSON, about. */
  size: number
  /** How deep it is nested: not at all if it is a scalar. */
  depth: number
}

const NOTHING: Valued = { value: null, size: 4, depth: 0 }

interface Context {
  issues: IssueList
  createAt: IssueAtOffset
  limits: SeedLimits
}

/** Reads nodes into the values that they have in JSON, and reports what is well-formed YAML but is lost there. */
function valueReader({ items }: YamlText, { issues, createAt, limits }: Context) {
  let hasValue = true
  let count = 0
  /** Characters that aliases and merges stand for. */
  let repeated = 0
  const anchors = new Map<string, Node>()
  const anchored = new Map<Node, Valued>()
  const open: Node[] = []
  return { read, hasValue: () => hasValue }

  function report(node: unknown, path: Path, message: string, isFatal = false): void {
    if (isFatal) hasValue = false
    addIssue(issues, () => createAt(startOf(node), message, path))
  }

  function* read(node: unknown, path: Path): Generator<void, Valued> {
    if (++count % VALUES === 0) yield
    if (isAlias(node)) return readAlias(node, path)
    if (!isNode(node)) return NOTHING
    if (node.anchor) anchors.set(node.anchor, node)
    if (node.tag && !TAGS.includes(node.tag)) {
      const tag = node.tag.replace('tag:yaml.org,2002:', '!!')
      report(node, path, `the tag ${tag} has no meaning here: leave it out`)
    }
    const valued = isScalar(node) ? readScalar(node, path) : yield* readCollection(node, path)
    if (node.anchor) anchored.set(node, valued)
    return valued
  }

  function readScalar(node: Scalar, path: Path): Valued {
    const { value, source } = node
    const problem = numberProblem(value, source)
    if (problem) report(node, path, problem)
    return { value, size: typeof value === 'string' ? value.length + 2 : String(value).length, depth: 0 }
  }

  function* readCollection(node: Node, path: Path): Generator<void, Valued> {
    if (open.length >= MAX_DEPTH) {
      report(node, path, TOO_DEEP, true)
      return NOTHING
    }
    // What was composed apart is put in, for issues to be located there.
    if (isSeq(node) || isMap(node)) node.items = (items.get(node.srcToken) as never) ?? node.items
    delete node.srcToken
    open.push(node)
    const valued = isSeq(node) ? yield* readList(node.items, path) : yield* readObject(fieldsOf(node), path)
    open.pop()
    return { ...valued, depth: valued.depth + 1 }
  }

  function* readList(elements: readonly unknown[], path: Path): Generator<void, Valued> {
    const value: unknown[] = []
    let [size, depth] = [2, 0]
    for (const [index, element] of elements.entries()) {
      const item = yield* read(element, [...path, index])
      value.push(item.value)
      size += item.size + 1
      depth = Math.max(depth, item.depth)
    }
    return { value, size, depth }
  }

  function* readObject(fields: readonly Field[], path: Path): Generator<void, Valued> {
    const object: Record<string, unknown> = {}
    const keys = new Map<string, unknown>()
    let [size, depth] = [2, 0]
    for (const { key, value } of fields) {
      const name = nameOf(key)
      const sources = isMerge(key) ? (isSeq(value) ? value.items : [value]) : []
      for (const source of sources) {
        const merged = yield* readMerged(source, path)
        for (const [each, inner] of Object.entries(merged.value as object)) {
          if (!Object.hasOwn(object, each)) setField(object, each, inner)
        }
        size += merged.size
        depth = Math.max(depth, merged.depth - 1)
      }
      if (isMerge(key)) continue
      if (name === undefined) {
        const remedy = isMap(key) || isSeq(key) ? '; put a value that begins with a bracket in quotes' : ''
        report(key, path, `the name of a field must be text${remedy}`, true)
        continue
      }
      const first = keys.get(name)
      if (!first) keys.set(name, key)
      else report(key, [...path, name], `is given twice, first at ${createAt(startOf(first), '').location}`)
      const field = yield* read(value, [...path, name])
      setField(object, name, field.value)
      size += name.length + field.size + 4
      depth = Math.max(depth, field.depth)
    }
    return { value: object, size, depth }
  }

  function* readMerged(source: unknown, path: Path): Generator<void, Valued> {
    const merged = yield* read(source, path)
    const isObject = typeof merged.value === 'object' && merged.value !== null && !Array.isArray(merged.value)
    if (isObject) return merged
    if (hasValue) report(source, path, 'only an object can be merged in with <<', true)
    return { ...NOTHING, value: {} }
  }

  function readAlias(alias: Node & { source: string }, path: Path): Valued {
    const node = anchors.get(alias.source)
    if (!node) report(alias, path, `there is no anchor &${alias.source} before this`, true)
    else if (open.includes(node)) {
      report(alias, path, `*${alias.source} is inside the value that it stands for`, true)
    }
    const valued = node && anchored.get(node)
    if (!valued) return NOTHING
    if (open.length + valued.depth > MAX_DEPTH) report(alias, path, TOO_DEEP, true)
    repeated += valued.size
    if (repeated > limits.aliases) {
      const { aliases, where } = limits
      const most = `the most that aliases may stand for ${where}`
      const message = `with this the aliases stand for more than ${formatLimit(aliases)} of JSON, ${most}: use fewer`
      throw new SeedError([...issues.issues, createAt(startOf(alias), message, path)].sort(byLocation), issues.more)
    }
    return valued
  }
}

function fieldsOf(node: Node): readonly Field[] {
  return isMap(node) ? node.items : []
}

/** Finds offsets of values; the fields of an object that it has looked into it knows the next time. */
function createLocator(contents: Node | null): (path: Path, part?: 'name' | 'value') => number {
  const fields = new Map<Node, Map<string | undefined, Field>>()
  return (path, part = 'value') => {
    let node: unknown = contents
    for (const [index, step] of path.entries()) {
      if (isSeq(node) && typeof step === 'number') node = node.items[step] ?? node
      else if (isMap(node)) {
        const field = fieldsByName(node).get(String(step))
        if (!field) return startOf(fieldsOf(node).find(({ key }) => isMerge(key))?.value ?? node)
        node = part === 'name' && index === path.length - 1 ? field.key : (field.value ?? field.key)
      }
    }
    return startOf(node)
  }

  function fieldsByName(node: Node): Map<string | undefined, Field> {
    const known = fields.get(node) ?? new Map()
    if (!fields.has(node)) {
      fields.set(node, known)
      // The first one counts, if there are several.
      for (const field of [...fieldsOf(node)].reverse()) known.set(nameOf(field.key), field)
    }
    return known
  }
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

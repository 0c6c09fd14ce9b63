import { createRequire } from 'node:module'
import type { CST, Node, Scalar, YAMLMap } from 'yaml'
import { lazily } from '../domain/lazily.js'
import { formatPath, MAX_DEPTH, type Path, TOO_DEEP } from '../schema/validation.js'
import { createIssue, SeedError, type SeedIssue } from './errors.js'
import { formatLimit, type SeedLimits } from './limits.js'

/** The package, loaded when there is YAML to read, which takes a tenth of a start. */
const yaml = lazily((): typeof import('yaml') =>
  // The bundle has a `require`, and what is required in it; a module that runs from src/ has none.
  typeof require === 'undefined' ? createRequire(import.meta.url)('yaml') : require('yaml')
)

/**
 * Returns an issue with the value at the path, or with the name of the field there. What an alias or a merge brings in is
 * located at the alias, and what is missing at the innermost value around it.
 */
export type IssueAt = (path: Path, message: string, part?: 'name' | 'value') => SeedIssue

/** Errors that are listed: after the first ones the parser has lost track. */
const MAX_ERRORS = 20
/** What is out of place in a text before it is read no further. */
const MAX_MISPLACED = 100
/** It does not look for names that are given twice, which takes the square of their number. */
const OPTIONS = { prettyErrors: false, merge: true, uniqueKeys: false, resolveKnownTags: false }

/** Returns the nodes of a text, and what makes issues in it. Throws SeedError for errors of syntax, soon. */
function parseYaml(text: string, file: string) {
  const lines = new (yaml().LineCounter)()
  lines.addNewLine(0)
  const createAt = (offset: number, message: string, path: Path = []): SeedIssue => {
    const { line, col: column } = lines.linePos(offset)
    return createIssue({ file, line, column, path: formatPath(path), message })
  }
  const parser = new (yaml().Parser)(lines.addNewLine)
  const tokens: CST.Token[] = []
  let misplaced = 0
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    for (const token of parser.next(lexeme))
      misplaced += Number(tokens[tokens.push(token) - 1]?.type === 'error')
    if (misplaced > MAX_MISPLACED) break
    // It begins with the document, and may end with a scalar.
    const deepest = parser.stack[MAX_DEPTH + 2] && parser.stack[MAX_DEPTH + 1]
    if (deepest) throw new SeedError([createAt(deepest.offset, TOO_DEEP)])
  }
  tokens.push(...parser.end())
  const { stackTraceLimit } = Error
  // A text may have a million errors, and to note the stack of each takes most of the time and memory.
  Error.stackTraceLimit = 0
  const [first, second] = new (yaml().Composer)(OPTIONS).compose(tokens, true, text.length)
  Error.stackTraceLimit = stackTraceLimit
  const issues = new Map<number, SeedIssue>()
  for (const { pos, code, message } of [...(first?.errors ?? []), ...(first?.warnings ?? [])]) {
    // A bracket or quote that is not closed is told where its content ends, not on the line after.
    const at = / end with a [\]}]$|^Missing closing/.test(message)
      ? text.slice(0, pos[0]).trimEnd().length
      : pos[0]
    if (issues.size === MAX_ERRORS) break
    // The others at one place follow from the first. JSON may have names of any length.
    if (code === 'KEY_OVER_1024_CHARS' || issues.has(at)) continue
    issues.set(at, createAt(at, code === 'BLOCK_AS_IMPLICIT_KEY' ? SECOND_NAME : message))
  }
  if (second)
    issues.set(
      second.range[0],
      createAt(second.range[0], 'a seed is one document: drop this second one')
    )
  if (issues.size > 0) throw new SeedError([...issues.values()])
  return { contents: first?.contents, createAt }
}

const SECOND_NAME = 'a second name on this line: put a value that has a colon in it in quotes'

/**
 * Returns the value that YAML has in JSON. Throws SeedError with all that keeps it from having one: errors of syntax, names
 * that are given twice, and aliases that stand for nothing or for more than the limit. The package's own `toJS` takes the
 * square of the number of aliases, and for merges of merges it never ends.
 */
export function readYaml(text: string, file: string, limits: SeedLimits): unknown {
  const { contents, createAt } = parseYaml(text, file)
  const issues: SeedIssue[] = []
  /** About how many characters of JSON the values so far are. */
  let size = 0
  /** What each anchor stands for, from the end of that. */
  const anchors = new Map<string, { value: unknown; size: number }>()
  const value = read(contents, [])
  if (issues.length > 0) throw new SeedError(issues)
  return value

  function report(node: unknown, path: Path, message: string): null {
    issues.push(createAt(startOf(node), message, path))
    if (size > limits.json || issues.length === MAX_ERRORS) throw new SeedError(issues)
    return null
  }

  function read(node: unknown, path: Path): unknown {
    const before = size
    if (yaml().isAlias(node)) {
      const anchored = anchors.get(node.source)
      if (!anchored)
        return report(node, path, `no value of an anchor &${node.source} ends before this`)
      size += anchored.size
      if (size <= limits.json) return anchored.value
      const most = `${formatLimit(limits.json)} of JSON, the most ${limits.where}`
      return report(node, path, `with this the aliases stand for more than ${most}: use fewer`)
    }
    if (!yaml().isNode(node)) return null
    if (node.anchor) anchors.delete(node.anchor)
    const value = readContent(node, path)
    if (node.anchor) anchors.set(node.anchor, { value, size: size - before })
    return value
  }

  function readContent(node: Node, path: Path): unknown {
    size += 2
    if (yaml().isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]))
    if (yaml().isMap(node)) return readMap(node, path)
    const { value } = node as Scalar
    if (value === Infinity || value === -Infinity || Number.isNaN(value))
      return report(node, path, NOT_IN_JSON)
    size += String(value).length
    return value
  }

  function readMap({ items }: YAMLMap, path: Path): unknown {
    const fields = new Map<string, unknown>()
    const keys = new Map<string, unknown>()
    for (const { key, value } of items) {
      const name = nameOf(key)
      if (isMerge(key)) {
        for (const source of yaml().isSeq(value) ? value.items : [value]) {
          const merged = read(source, path)
          if (typeof merged !== 'object' || Array.isArray(merged)) report(source, path, NOT_MERGED)
          else
            for (const [name, value] of Object.entries(merged ?? {}))
              if (!fields.has(name)) fields.set(name, value)
        }
      } else if (name === undefined) {
        report(
          key,
          path,
          'the name of a field must be text; put a value that begins with a bracket in quotes'
        )
      } else {
        const first = keys.get(name)
        if (first)
          report(
            key,
            [...path, name],
            `is given twice, first at ${createAt(startOf(first), '').location}`
          )
        keys.set(name, key)
        size += name.length + 4
        fields.set(name, read(value, [...path, name]))
      }
    }
    // Also of a field `__proto__`, which an assignment would not make.
    return Object.fromEntries(fields)
  }
}

const NOT_IN_JSON = 'is no number that JSON has; put a text in quotes'
const NOT_MERGED = 'only an object can be merged in with <<'

/**
 * Returns what makes issues at the values of a text, YAML or JSON, which for that is read a second time. Those of what is no
 * text, or is too long to be read as YAML, have no lines.
 */
export function yamlLocator(text: string | undefined, file: string, limits: SeedLimits): IssueAt {
  if (text === undefined || text.length > limits.yaml) {
    return (path, message) => createIssue({ file, path: formatPath(path), message })
  }
  // Only when there is an issue.
  const parsed = lazily(() => parseYaml(text, file))
  return (path, message, part) => {
    const { contents, createAt } = parsed()
    let node: unknown = contents
    for (const [index, step] of path.entries()) {
      if (yaml().isSeq(node)) node = node.items[Number(step)] ?? node
      else if (yaml().isMap(node)) {
        // Of a name that is given twice in JSON the last one counts.
        const field = node.items.findLast(({ key }) => nameOf(key) === String(step))
        const source = field ?? node.items.find(({ key }) => isMerge(key))
        node =
          (part === 'name' && index === path.length - 1
            ? field?.key
            : (source?.value ?? source?.key)) ?? node
        if (!field) break
      }
    }
    return createAt(startOf(node), message, path)
  }
}

function startOf(node: unknown): number {
  return (yaml().isNode(node) && node.range?.[0]) || 0
}

/** Returns the name that a field gets in JSON; undefined when it has none that it could be given. */
function nameOf(key: unknown): string | undefined {
  return yaml().isScalar(key) && key.value !== null && !isMerge(key) ? String(key.value) : undefined
}

function isMerge(key: unknown): boolean {
  return yaml().isScalar(key) && typeof key.value === 'symbol'
}

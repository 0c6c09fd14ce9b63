import type { RE2JS } from 're2js'
import { attempt, invalidFields, noFieldErrors } from '../../core/errors.js'
import type { RequestPattern } from './schemas.js'

let engine: typeof RE2JS | undefined
const compiled = new Map<string, RE2JS>()

const MAX_COMPILED = 1000
/** How many expressions one body can have. */
const MAX_EXPRESSIONS = 20
/** As `sizeOf` counts. A text takes about as many times its length at most. */
const MAX_SIZE = 200

/**
 * Makes ready what `isPatternMatch` takes: all `matches` of request patterns, each given with its path in the body. It
 * loads an engine that takes linear time, which Node's own does not; most servers never need it. Rejects with `invalid`
 * a regular expression that the engine does not have, or that repeats too much.
 */
export async function preparePatterns(patterns: readonly (readonly [path: string, RequestPattern])[]): Promise<void> {
  const found = patterns.flatMap(([path, pattern]) => expressionsIn(path, pattern))
  if (found.length === 0) return
  engine ??= (await import('re2js')).RE2JS
  const errors = noFieldErrors()
  for (const [index, [field, value]] of found.entries()) {
    const problem =
      index < MAX_EXPRESSIONS ? problemOf(value) : `is one of more than ${MAX_EXPRESSIONS} patterns: use fewer`
    if (problem) errors[field] = { messages: [`${field} ${problem}`], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

/** Whether an expression matches anywhere in a text. Throws for one that was not prepared and can not be compiled. */
export function isPatternMatch(expression: string, text: string): boolean {
  return compile(expression).test(text)
}

function expressionsIn(at: string, { path, query = {}, headers = {}, body }: RequestPattern): [string, string][] {
  const fields = [
    ...Object.entries({ path, body }),
    ...Object.entries(query).map(([name, value]) => [`query.${name}`, value] as const),
    ...Object.entries(headers).map(([name, value]) => [`headers.${name}`, value] as const)
  ]
  return fields.flatMap(([field, value]): [string, string][] =>
    typeof value === 'object' && !Array.isArray(value) ? [[`${at}${field}.matches`, value.matches]] : []
  )
}

function problemOf(expression: string): string | undefined {
  if (QUOTED.test(expression)) return 'must do without \\Q: put a backslash before each character that is meant as such'
  if (sizeOf(expression) > MAX_SIZE) {
    return `must be simpler: with its repeats written out, it has more than ${MAX_SIZE} characters`
  }
  return attempt(() => compile(expression)) ? undefined : 'must do without lookarounds and backreferences'
}

/** The engine takes it for the text up to `\E`, JavaScript for a Q: so `sizeOf` would count something else. */
const QUOTED = /^(?:[^\\]|\\[^Q])*\\Q/s

/** An escape, a class, a repeat with its bounds, or any other character. */
const PARTS = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs

/** Characters, escapes, classes and groups, each as many times as it is repeated. Known without compiling it. */
function sizeOf(expression: string): number {
  const outside: number[] = []
  let size = 0
  let last = 0
  for (const [token, from, to] of expression.matchAll(PARTS)) {
    if (token === '(') {
      outside.push(size)
      size = 0
    } else if (from !== undefined) {
      const times = Math.max(1, Number(from), Number(to ?? 0))
      size += last * (times - 1)
      last *= times
    } else {
      last = token === ')' ? size + 1 : 1
      size = token === ')' ? (outside.pop() ?? 0) + last : size + 1
    }
  }
  return size
}

function compile(expression: string): RE2JS {
  if (!engine) throw new Error('preparePatterns() must be awaited before patterns are matched')
  let program = compiled.get(expression)
  if (!program) {
    program = engine.compile(engine.translateRegExp(expression))
    // Those of fault rules that are still there are compiled again.
    if (compiled.size >= MAX_COMPILED) compiled.clear()
    compiled.set(expression, program)
  }
  return program
}

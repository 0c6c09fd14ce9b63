import type { RE2JS } from 're2js'
import { attempt, invalidFields, noFieldErrors } from '../../core/errors.js'
import type { RequestPattern } from './schemas.js'

let engine: typeof RE2JS | undefined
const compiled = new Map<string, RE2JS>()

const MAX_COMPILED = 1000
/** Steps that an expression may have once it is compiled; a text takes as many times its length at most. */
const MAX_PROGRAM = 1000

/**
 * Makes ready what `isPatternMatch` takes: all `matches` of request patterns, each given with its path in the body. It
 * loads an engine that takes linear time, which Node's own does not; most servers never need it. Rejects with `invalid`
 * a regular expression that the engine does not have, or that repeats too much.
 */
export async function preparePatterns(...patterns: (readonly [path: string, RequestPattern])[]): Promise<void> {
  const found = patterns.flatMap(([path, pattern]) => expressionsIn(path, pattern))
  if (found.length === 0) return
  engine ??= (await import('re2js')).RE2JS
  const errors = noFieldErrors()
  for (const [field, value] of found) {
    const problem = problemOf(value)
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
  const program = attempt(() => compile(expression))
  if (!program) return 'must do without lookarounds and backreferences, and repeat nothing more than 1000 times'
  return program.programSize() > MAX_PROGRAM ? 'must be simpler: it repeats too much' : undefined
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

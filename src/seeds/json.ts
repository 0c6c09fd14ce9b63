import { attempt } from '../core/errors.js'
import { endOfString, MAX_DEPTH, MAX_FIELDS, TOO_DEEP, TOO_WIDE } from '../core/excess.js'
import type { Path } from '../core/validation.js'
import { type SeedLimits, tooMuch } from './limits.js'

/** A text that is JSON. */
export interface JsonText {
  value: unknown
  /** Returns where the value at the path begins, or the name of the field there; of what is missing, the value around. */
  offsetOf(path: Path, part?: 'name' | 'value'): number
}

/** Why a text is not read as JSON. `isLimit`: it would not be read as YAML either. */
export interface JsonProblem {
  offset: number
  message: string
  isLimit?: boolean
}

/** Characters between two pauses. */
const CHUNK = 1 << 16
/** Down to which depth it is noted where values begin: that of a list of records. */
const INDEXED_DEPTH = 4

/** Where the values of a list begin, or the fields of an object. */
type Starts = number[] | Map<string, { name: number; value: number }>

const SPACE = /[ \t\n\r]*/y
const WORD = /[\w.+-]*/y

/**
 * Reads a JSON text, with a pause after every some ten thousand characters. What JSON.parse would silently drop is a
 * problem: a field that is given twice, and a number that has more digits than can be kept.
 */
export function* readJson(source: string, limits: SeedLimits): Generator<void, JsonText | JsonProblem> {
  const start = endOf(SPACE, source, 0)
  if (!isOpening(source[start])) return { offset: start, message: 'it begins with no bracket' }
  const starts = new Map<number, Starts>()
  try {
    const { value, end } = yield* readCollection(source, start, starts, limits)
    if (end < source.length) return { offset: end, message: 'there is more after its end' }
    return { value, offsetOf }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }

  function offsetOf(path: Path, part: 'name' | 'value' = 'value'): number {
    let offset = start
    for (const [index, step] of path.entries()) {
      if (isOpening(source[offset]) && !starts.has(offset)) starts.set(offset, startsIn(source, offset))
      const noted = starts.get(offset)
      const field = noted instanceof Map ? noted.get(String(step)) : undefined
      const found = Array.isArray(noted) ? noted[Number(step)] : field?.[index === path.length - 1 ? part : 'value']
      if (found === undefined) return offset
      offset = found
    }
    return offset
  }
}

/** Returns where the values begin in the list or object that begins there, which has been read before. */
function startsIn(source: string, start: number): Starts {
  const starts: Starts = source[start] === '[' ? [] : new Map()
  let at = endOf(SPACE, source, start + 1)
  while (source[at] !== ']' && source[at] !== '}') {
    if (source[at] === ',') at = endOf(SPACE, source, at + 1)
    if (Array.isArray(starts)) starts.push(at)
    else {
      const name = at
      const end = endOfString(source, name) + 1
      at = endOf(SPACE, source, endOf(SPACE, source, end) + 1)
      starts.set(JSON.parse(source.slice(name, end)), { name, value: at })
    }
    at = endOf(SPACE, source, endOfValue(source, at))
  }
  return starts
}

/** Returns where that ends which begins there. Of a list or object it looks at the brackets and quotes alone. */
function endOfValue(source: string, start: number): number {
  if (source[start] !== '"' && !isOpening(source[start])) return endOf(WORD, source, start)
  let depth = 0
  let at = start
  do {
    const character = source[at]
    if (character === '"') at = endOfString(source, at)
    else if (isOpening(character)) depth += 1
    else if (character === ']' || character === '}') depth -= 1
    at += 1
  } while (depth > 0)
  return at
}

/** Reads the list or object that begins there, and notes where its values begin. Throws Problem. */
function* readCollection(source: string, start: number, starts: Map<number, Starts>, limits: SeedLimits) {
  let at = start
  let [depth, values, pause] = [0, 0, at + CHUNK]
  return { value: yield* read(), end: at }

  function* read(): Generator<void, unknown> {
    const close = source[at] === '[' ? ']' : '}'
    const value: unknown[] | Record<string, unknown> = close === ']' ? [] : {}
    const noted: Starts | undefined = depth < INDEXED_DEPTH ? (close === ']' ? [] : new Map()) : undefined
    if (noted) starts.set(at, noted)
    if (++depth > MAX_DEPTH) fail(TOO_DEEP, at, true)
    at = endOf(SPACE, source, at + 1)
    let count = 0
    while (!take(close)) {
      if (count++ > 0 && !take(',')) fail(`there is no comma or ${close}`)
      const name = at
      const key = Array.isArray(value) ? '' : readName(value, count)
      const begin = at
      const item = isOpening(source[at]) ? yield* read() : readScalar()
      if (Array.isArray(noted)) noted.push(begin)
      else noted?.set(key, { name, value: begin })
      if (Array.isArray(value)) value.push(item)
      else setField(value, key, item)
      if (++values > limits.jsonValues) {
        fail(tooMuch('values', limits.jsonValues, limits.where, limits.remedy), begin, true)
      }
      if (at > pause) {
        pause = at + CHUNK
        yield
      }
    }
    depth -= 1
    return value
  }

  function readName(object: object, count: number): string {
    const begin = at
    const name = source[at] === '"' ? String(readScalar()) : fail('there is no name of a field')
    if (Object.hasOwn(object, name)) fail(`the field ${name} is given twice`, begin)
    if (count > MAX_FIELDS) fail(`is ${TOO_WIDE}`, begin, true)
    return take(':') ? name : fail('there is no colon')
  }

  /** Finds where a text, number or word ends, and lets JSON.parse read it. */
  function readScalar(): unknown {
    const begin = at
    const end = source[at] === '"' ? endOfString(source, at) + 1 : endOf(WORD, source, at)
    const text = source.slice(begin, end)
    const value: unknown = attempt(() => JSON.parse(text))
    if (value === undefined) fail('there is no value, or a malformed one')
    if (numberProblem(value, text)) fail('the number has too many digits')
    at = endOf(SPACE, source, end)
    return value
  }

  function take(character: string): boolean {
    if (source[at] !== character) return false
    at = endOf(SPACE, source, at + 1)
    return true
  }

  function fail(message: string, offset = at, isLimit = false): never {
    const problem = new Problem(offset < source.length ? message : 'it is not closed')
    throw Object.assign(problem, { offset, isLimit })
  }
}

class Problem extends Error implements JsonProblem {
  offset = 0
  isLimit = false
}

function isOpening(character: string | undefined): boolean {
  return character === '[' || character === '{'
}

/** Returns where that ends which matches the pattern from there on. */
function endOf(pattern: RegExp, source: string, start: number): number {
  pattern.lastIndex = start
  pattern.test(source)
  return pattern.lastIndex
}

/** Returns what is wrong with a number, if its text is not exactly this number. */
export function numberProblem(value: unknown, source = ''): string | undefined {
  if (typeof value !== 'number') return undefined
  if (!Number.isFinite(value)) return `${source} is no number that JSON can hold; for a text put it in quotes`
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value) || String(value) === source
  return isExact ? undefined : `${source} has too many digits for a number; for a text put it in quotes`
}

/** Sets a field, also one of the name `__proto__`, which an assignment would not make. */
export function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

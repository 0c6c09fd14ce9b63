import { randomUUID } from 'node:crypto'
import { MAX_DEPTH } from '../core/depth.js'
import { attempt } from '../core/errors.js'
import type { Path } from '../core/validation.js'
import { formatLimit, MAX_FIELDS, type SeedLimits, TOO_DEEP, tooMuch } from './limits.js'

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

/** How much is given to `JSON.parse` at once, in characters. */
const CHUNK = 1 << 16
/** Down to which depth it is noted where values begin: that of a list of records. */
const INDEXED_DEPTH = 4

/** A list or object that is not closed yet. */
interface Open {
  isList: boolean
  start: number
  /** Up to here it has been read into `value` and `pending`. */
  from: number
  /** Text to be read, with a placeholder for each of `holes`. */
  pending: string
  holes: unknown[]
  value?: unknown[] | Record<string, unknown>
  /** How many fields there are in the text to be read, those of inner objects too. */
  fields: number
  commas: number
  /** Where its values begin, or the names of its fields. */
  starts?: number[]
}

const TOO_WIDE = `is an object of more than ${formatLimit(MAX_FIELDS)} fields, the most that one may have: make it a list`

interface Reading {
  source: string
  open: Open[]
  values: number
  /** Begins a placeholder. Nobody can know it, so no text has it. */
  placeholder: string
  starts: Map<number, number[]>
}

/**
 * Reads a JSON text in parts of some ten thousand characters, and pauses between them. What JSON.parse would silently drop
 * is a problem: a field that is given twice, and a number that has more digits than can be kept.
 */
export function* readJson(
  source: string,
  { jsonValues, where, remedy }: SeedLimits
): Generator<void, JsonText | JsonProblem> {
  const reading: Reading = { source, open: [], values: 0, placeholder: randomUUID(), starts: new Map() }
  const start = skipSpace(source, 0)
  if (!/[[{]/.test(source[start] ?? '')) return { offset: start, message: 'it begins with no bracket' }
  let offset = start
  try {
    while (true) {
      const end = offset + CHUNK
      while (offset < end && offset < source.length) {
        const closed = readCharacter(reading, offset)
        if (closed) return wholeText(reading, start, closed, offset + 1)
        offset = source[offset] === '"' ? endOfString(source, offset) + 1 : offset + 1
      }
      if (reading.values > jsonValues)
        return { offset, message: tooMuch('values', jsonValues, where, remedy), isLimit: true }
      if (offset >= source.length) return { offset: source.length, message: 'it is not closed' }
      yield
    }
  } catch (error) {
    if (error instanceof Problem) return { offset, ...error.problem }
    throw error
  }
}

class Problem extends Error {
  readonly problem: Partial<JsonProblem> & { message: string }

  constructor(problem: Partial<JsonProblem> & { message: string }) {
    super(problem.message)
    this.problem = problem
  }
}

function wholeText({ source, starts }: Reading, start: number, { value }: Open, end: number): JsonText | JsonProblem {
  const rest = skipSpace(source, end)
  if (rest < source.length) return { offset: rest, message: 'there is more after its end' }
  return { value, offsetOf: createLocator(source, starts, start) }
}

/** Returns the outermost value when the character closes it. */
function readCharacter(reading: Reading, offset: number): Open | undefined {
  const { source, open } = reading
  const top = open.at(-1)
  switch (source[offset]) {
    case '[':
    case '{':
      reading.values += 1
      if (open.length >= MAX_DEPTH) throw new Problem({ message: TOO_DEEP, isLimit: true })
      begin(reading, offset)
      return undefined
    case ':':
      if (top) top.fields += 1
      return undefined
    case ',':
      reading.values += 1
      if (!top) return undefined
      if (++top.commas >= MAX_FIELDS && !top.isList) throw new Problem({ message: TOO_WIDE, isLimit: true })
      top.starts?.push(offset + 1)
      if (offset - top.from + top.pending.length > CHUNK) take(reading, top, offset)
      return undefined
    case ']':
    case '}':
      if (!top || top.isList !== (source[offset] === ']')) throw new Problem({ message: 'no bracket opens here' })
      open.pop()
      return close(reading, top, offset)
    default:
      return undefined
  }
}

function begin({ source, open, starts }: Reading, offset: number): void {
  const begun: Open = {
    isList: source[offset] === '[',
    start: offset,
    from: offset + 1,
    pending: '',
    holes: [],
    fields: 0,
    commas: 0
  }
  if (open.length < INDEXED_DEPTH) {
    begun.starts = [offset + 1]
    starts.set(offset, begun.starts)
  }
  open.push(begun)
}

function close(reading: Reading, closed: Open, offset: number): Open | undefined {
  const outer = reading.open.at(-1)
  if (outer && !closed.value && closed.holes.length === 0 && offset - closed.from <= CHUNK) {
    // It is small: it is read with what is around it.
    outer.fields += closed.fields
    return undefined
  }
  take(reading, closed, offset)
  if (!outer) return closed
  outer.pending += `${reading.source.slice(outer.from, closed.start)}"${reading.placeholder}${outer.holes.length}"`
  outer.from = offset + 1
  outer.holes.push(closed.value)
  return undefined
}

/** Reads what has not been read of a list or object up to the offset. */
function take({ source, placeholder }: Reading, open: Open, offset: number): void {
  const text = open.pending + source.slice(open.from, offset)
  // Only what has no value yet may be empty, at its end; a comma stands between two values.
  const isEmpty = text.trim() === ''
  const where = { offset: skipSpace(source, open.from) }
  if (isEmpty && (open.value || source[offset] === ',')) throw new Problem({ ...where, message: 'a value is missing' })
  const parsed = parse(open.isList ? `[${text}]` : `{${text}}`, where)
  let isRounded = false
  const names = countNames(parsed, () => {
    isRounded = true
  })
  if (isRounded && !hasExactNumbers(text)) {
    throw new Problem({ ...where, message: 'a number from here on has too many digits' })
  }
  if (names !== open.fields) throw new Problem({ ...where, message: 'a field from here on is given twice' })
  fillHoles(parsed, open.holes, placeholder)
  if (!open.value) open.value = parsed
  else if (Array.isArray(open.value)) for (const item of parsed as unknown[]) open.value.push(item)
  else addFields(open.value, parsed as Record<string, unknown>, where)
  Object.assign(open, { from: offset + 1, pending: '', holes: [], fields: 0 })
}

function parse(text: string, where: { offset: number }): unknown[] | Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem({ ...where, message: (error as Error).message })
  }
}

function addFields(value: Record<string, unknown>, more: Record<string, unknown>, where: { offset: number }): void {
  for (const [name, each] of Object.entries(more)) {
    if (Object.hasOwn(value, name)) throw new Problem({ ...where, message: `the field ${name} is given twice` })
    // An assignment would not make a field of the name __proto__.
    Object.defineProperty(value, name, { value: each, writable: true, enumerable: true, configurable: true })
  }
}

function fillHoles(value: unknown[] | Record<string, unknown>, holes: readonly unknown[], placeholder: string): void {
  if (holes.length === 0) return
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== 'string' || !item.startsWith(placeholder)) continue
    const hole = holes[Number(item.slice(placeholder.length))]
    Object.defineProperty(value, name, { value: hole, writable: true, enumerable: true, configurable: true })
  }
}

/** Returns how many fields there are in a value in all. Calls back for a number that may not be the one in the text. */
function countNames(value: unknown, onRounded: () => void): number {
  if (typeof value === 'number' && !Number.isSafeInteger(value) && numberProblem(value)) onRounded()
  if (typeof value !== 'object' || value === null) return 0
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  for (const each of Object.values(value)) count += countNames(each, onRounded)
  return count
}

function hasExactNumbers(json: string): boolean {
  const numbers = json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []
  return !numbers.some((source) => numberProblem(Number(source), source))
}

/** Returns what is wrong with a number, if its text is not exactly this number. */
export function numberProblem(value: unknown, source = ''): string | undefined {
  if (typeof value !== 'number') return undefined
  if (!Number.isFinite(value)) return `${source} is no number that JSON can hold; for a text put it in quotes`
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value) || String(value) === source
  return isExact ? undefined : `${source} has too many digits for a number; for a text put it in quotes`
}

function skipSpace(source: string, start: number): number {
  let offset = start
  while (offset < source.length && source.charCodeAt(offset) <= 32) offset += 1
  return offset
}

/** Returns the offset of the quote that ends the string, or that of the end of the text. */
function endOfString(source: string, start: number): number {
  let end = source.indexOf('"', start + 1)
  while (end !== -1) {
    let first = end
    while (source[first - 1] === '\\') first -= 1
    if ((end - first) % 2 === 0) return end
    end = source.indexOf('"', end + 1)
  }
  return source.length
}

/** Finds offsets of values; what it has found of an object or a list it knows the next time. */
function createLocator(source: string, starts: Map<number, number[]>, start: number): JsonText['offsetOf'] {
  const names = new Map<number, Map<unknown, number>>()
  return (path, part = 'value') => {
    let offset = start
    for (const [index, step] of path.entries()) {
      if (!/[[{]/.test(source[offset] ?? '')) return offset
      const found = typeof step === 'number' ? startsOf(offset)[step] : namesOf(offset).get(step)
      if (found === undefined) return offset
      offset = skipSpace(source, found)
      if (typeof step === 'number' || (index === path.length - 1 && part === 'name')) continue
      offset = skipSpace(source, source.indexOf(':', endOfString(source, offset)) + 1)
    }
    return offset
  }

  function startsOf(outer: number): number[] {
    const known = starts.get(outer) ?? startsIn(source, outer)
    starts.set(outer, known)
    return known
  }

  function namesOf(outer: number): Map<unknown, number> {
    const known =
      names.get(outer) ?? new Map(startsOf(outer).map((each) => [nameAt(source, skipSpace(source, each)), each]))
    names.set(outer, known)
    return known
  }
}

function nameAt(source: string, start: number): unknown {
  return attempt(() => JSON.parse(source.slice(start, endOfString(source, start) + 1)))
}

/** Returns where the values of a list begin, or the names of the fields of an object. */
function startsIn(source: string, start: number): number[] {
  const starts = [start + 1]
  let depth = 0
  for (let offset = start; offset < source.length; offset++) {
    const character = source[offset]
    if (character === '"') offset = endOfString(source, offset)
    else if (character === ',' && depth === 1) starts.push(offset + 1)
    else if (character === '[' || character === '{') depth += 1
    else if ((character === ']' || character === '}') && --depth === 0) break
  }
  return starts
}

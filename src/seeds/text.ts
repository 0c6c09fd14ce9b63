import { pathText } from '../core/validation.js'
import { createIssue, SeedError } from './errors.js'
import { type JsonProblem, readJson } from './json.js'
import { formatLimit, type SeedLimits, tooMuch } from './limits.js'
import { type IssueAtOffset, readYaml, type SeedText } from './yaml.js'

/** Reads YAML or JSON in steps. Throws SeedError with all that keeps it from having a value. */
export function* readText(text: string, file: string, limits: SeedLimits): Generator<void, SeedText> {
  const source = text.replace(/^\uFEFF/, '')
  const createAt = locator(source, file)
  if (source.length > limits.json) {
    throw new SeedError([createAt(limits.json, tooMuch('characters', limits.json, limits.where, limits.remedy))])
  }
  const json = yield* readJson(source, limits)
  if ('value' in json) {
    return {
      value: json.value,
      issues: { issues: [], more: 0 },
      issueAt: (path, message, part) => createAt(json.offsetOf(path, part), message, path)
    }
  }
  if (json.isLimit) throw new SeedError([createAt(json.offset, json.message)])
  rejectLargeYaml(source, json, createAt, limits)
  return yield* readYaml(source, file, limits)
}

/** Whoever writes JSON and gets it wrong is told where, however large it is. */
function rejectLargeYaml(source: string, json: JsonProblem, createAt: IssueAtOffset, limits: SeedLimits): void {
  const { yaml, yamlValues, where, json: maxJson } = limits
  const isLong = source.length > yaml
  const offset = isLong ? yaml : valuesEnd(source, yamlValues)
  if (offset === undefined) return
  const remedy = `write it as JSON, which may have ${formatLimit(maxJson)} ${where}, or ${limits.remedy}`
  const message = isLong
    ? tooMuch('characters of YAML', yaml, where, remedy)
    : tooMuch('values of YAML', yamlValues, where, remedy)
  const isJson = /^\s*[[{]\s*["[\]{}]/.test(source)
  throw new SeedError([
    isJson ? createAt(json.offset, `is no JSON here: ${json.message}; and it ${message}`) : createAt(offset, message)
  ])
}

/** Returns where there are more values than that, counted by what can end one: a comma, the end of a line, a bracket. */
function valuesEnd(source: string, values: number): number | undefined {
  let count = 0
  for (let offset = 0; offset < source.length; offset++) {
    const character = source[offset]
    const isEnd = character === ',' || character === '\n' || character === '[' || character === '{'
    if (isEnd && ++count > values) return offset
  }
  return undefined
}

/** Returns what makes issues at offsets of a text. Its lines are counted when there is one. */
function locator(source: string, file: string): IssueAtOffset {
  let find: ReturnType<typeof lineFinder> | undefined
  return (offset, message, path = []) => {
    find ??= lineFinder(source)
    return createIssue({ file, ...find(offset), path: pathText(path), message })
  }
}

/** Characters after which the number of the line is noted. To note where each line begins takes seconds for 16 MB of them. */
const PART = 1 << 16

/** Returns what finds the line and the column of an offset, which count from 1. */
function lineFinder(source: string): (offset: number) => { line: number; column: number } {
  const parts: LineStart[] = []
  let last: LineStart = { line: 1, start: 0 }
  for (let from = 0; from <= source.length; from += PART) {
    parts.push(last)
    last = lastLine(source, from, from + PART, last)
  }
  return (offset) => {
    const part = Math.floor(offset / PART)
    const { line, start } = lastLine(source, part * PART, offset, parts[part] ?? last)
    return { line, column: offset - start + 1 }
  }
}

interface LineStart {
  line: number
  start: number
}

/** Returns the last line that begins between the offsets, counted from one before them, or that one. */
function lastLine(source: string, from: number, to: number, { line, start }: LineStart): LineStart {
  const end = Math.min(to, source.length)
  for (let offset = from; offset < end; offset++) {
    if (source.charCodeAt(offset) !== LINE_END) continue
    line += 1
    start = offset + 1
  }
  return { line, start }
}

const LINE_END = 10

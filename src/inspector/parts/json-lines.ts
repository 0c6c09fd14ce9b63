/** What is wrong with a JSON, and at which line, from 1. */
export interface JsonIssue {
  line: number
  message: string
}

const TOKEN = /\s*("(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+|"|$)/y
const SCALAR = /^(?:"|-?\d|true$|false$|null$)/

/** Returns the line of each value by its path, such as `steps[0].type`, and what keeps the text from being a JSON object. */
export function linesOfJson(text: string): { lines: Map<string, number>; problem?: JsonIssue } {
  const lines = new Map<string, number>()
  const token = new RegExp(TOKEN)
  let taken = ''
  const line = () => text.slice(0, token.lastIndex).split('\n').length
  const take = () => {
    taken = token.exec(text)?.[1] ?? ''
    return taken
  }
  const expect = (wanted: readonly string[], words = wanted.join(' or ')) => {
    const isAsWanted = wanted.includes(taken)
    if (!isAsWanted) throw { line: line(), message: `${taken || 'The end'} stands where ${words} is to be` }
    return taken
  }
  /** Reads the value that begins with the token taken last. */
  const value = (path: string): void => {
    lines.set(path, line())
    if (taken === '{') {
      if (take() === '}') return
      for (;;) {
        if (!/^".*"$/s.test(taken)) expect([], 'a name in quotes')
        const name = path === '' ? JSON.parse(taken) : `${path}.${JSON.parse(taken)}`
        take()
        expect([':'])
        take()
        value(name)
        take()
        if (expect([',', '}']) === '}') return
        take()
      }
    }
    if (taken === '[') {
      if (take() === ']') return
      for (let index = 0; ; index++) {
        value(`${path}[${index}]`)
        take()
        if (expect([',', ']']) === ']') return
        take()
      }
    }
    if (!SCALAR.test(taken) || taken === '"') expect([], 'a value')
    JSON.parse(taken)
  }
  try {
    take()
    expect(['{'], '{')
    value('')
    take()
    expect([''], 'the end')
    return { lines }
  } catch (error) {
    const problem = error instanceof Error ? { line: line(), message: error.message } : (error as JsonIssue)
    return { lines, problem }
  }
}

/** Returns the line of a path, or of the next one above it that is there. */
export function placeOf(lines: Map<string, number>, path: string): number {
  let known = path
  while (known !== '' && !lines.has(known)) {
    known = known.slice(0, Math.max(0, known.lastIndexOf('.'), known.lastIndexOf('[')))
  }
  return lines.get(known) ?? 1
}

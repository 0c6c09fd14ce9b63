/** Parses JSON. Returns the text itself if it isn't valid JSON. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/**
 * Parses truncated JSON up to its last complete value. Returns the text itself if the result is
 * neither an object nor an array.
 */
export function parseTruncatedJson(text: string): unknown {
  const value = parseJsonOrText(completeJson(text))
  return typeof value === 'object' ? value : text
}

/** Cuts a truncated JSON text after its last complete value and closes the open brackets. */
function completeJson(text: string): string {
  const openBrackets: string[] = []
  let end = 0
  let closing = ''
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === '{') openBrackets.unshift('}')
    if (token === '[') openBrackets.unshift(']')
    if (token === '}' || token === ']') openBrackets.shift()
    if (/^[\]},]/.test(token)) {
      end = token === ',' ? index : index + 1
      closing = openBrackets.join('')
    }
  }
  return text.slice(0, end) + closing
}

/** Formats a value as JSON with one field per line. */
export const formatJson = (value: unknown) => JSON.stringify(value, null, 2)

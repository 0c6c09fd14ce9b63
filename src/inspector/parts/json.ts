/** Returns the value of a JSON text, or the text itself if it isn't JSON. */
export function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/**
 * Returns the part of an object or array that a truncated JSON text still holds, or the text itself
 * if there is none.
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

/** Returns a value as JSON with one field per line. */
export const formatJson = (value: unknown) => JSON.stringify(value, null, 2)

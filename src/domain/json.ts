/** Returns the value of a JSON text, or undefined if the text is not valid JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns the object or array in a JSON text, or undefined for any other text. */
export function parseJsonObjectOrArray(text: string): unknown {
  return /^\s*[[{]/.test(text) ? parseJsonOrUndefined(text) : undefined
}

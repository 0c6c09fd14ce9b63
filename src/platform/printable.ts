/** Matches characters that control a terminal or change the direction of its text. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Returns the JSON escape of a character, such as `\u001b`. */
export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Escapes control characters as JSON does (`\u001b`), except for the characters in `allowed`. */
export function printable(text: string, allowed = '\t'): string {
  return text.replace(CONTROLS, (character) =>
    allowed.includes(character) ? character : escaped(character)
  )
}

/**
 * Returns a copy of a JSON value with control characters escaped. Keeps tabs, and keeps line breaks
 * in fields named `stack`.
 */
export function printableTexts<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value, printableValue))
}

function printableValue(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return printable(value, name === 'stack' ? '\t\n' : '\t')
}

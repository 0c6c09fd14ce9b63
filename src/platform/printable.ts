/** What a terminal obeys, or shows in another order: control characters, line separators, controls of direction. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Returns a character as JSON has it by its number: `\u001b`. */
export const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns a text with control characters escaped as in JSON (`\u001b`), but for those that are spared. */
export function printable(text: string, spared = '\t'): string {
  return text.replace(CONTROLS, (each) => (spared.includes(each) ? each : escaped(each)))
}

/** Returns a copy of a value of JSON in which each text is printable and in one line, but for the stacks of errors. */
export function printableTexts<Value>(value: Value): Value {
  const copy = (name: string, each: unknown) =>
    typeof each === 'string' ? printable(each, name === 'stack' ? '\t\n' : '\t') : each
  return JSON.parse(JSON.stringify(value, copy))
}

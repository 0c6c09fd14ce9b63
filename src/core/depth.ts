/** How deep a document may be nested: more than any needs, and few enough for every recursive function that reads one. */
export const MAX_DEPTH = 100

export const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep: make it flatter`

/**
 * Returns the offset of the first bracket in a JSON text that is nested more than `MAX_DEPTH` deep, or undefined. To be
 * asked before the text is parsed, as what is parsed of a megabyte of brackets takes a hundred times the memory.
 */
export function findTooDeep(json: string): number | undefined {
  let depth = 0
  for (let offset = 0; offset < json.length; offset++) {
    const character = json[offset]
    if (character === '"') offset = endOfString(json, offset)
    else if (character === ']' || character === '}') depth -= 1
    else if ((character === '[' || character === '{') && ++depth > MAX_DEPTH) return offset
  }
  return undefined
}

/** Returns the offset of the quote that ends the string which begins there, or that of the end of the text. */
export function endOfString(json: string, start: number): number {
  let offset = start + 1
  while (offset < json.length && json[offset] !== '"') offset += json[offset] === '\\' ? 2 : 1
  return offset
}

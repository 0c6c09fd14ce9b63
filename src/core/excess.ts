/** How deep a document may be nested: more than any needs, and few enough for every recursive function that reads one. */
export const MAX_DEPTH = 100

export const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep: make it flatter`

/** How many fields one object may have: to list, copy or write those of one can't be paused. */
export const MAX_FIELDS = 20_000

export const TOO_WIDE = `an object of more than ${MAX_FIELDS.toLocaleString('en')} fields, the most that one may have: make it a list`

/** Where a text has more than it may have, and what to do, in words that follow the name of the text. */
export interface Excess {
  offset: number
  message: string
}

/**
 * Returns the first place in a JSON text that is nested more than `MAX_DEPTH` deep, is in an object of more than
 * `MAX_FIELDS` fields, or has more than `maxValues` values before it, counted by commas and opening brackets; undefined if
 * there is none. To be asked before the text is parsed, as what is parsed of a megabyte of brackets takes a hundred times
 * the memory.
 */
export function findExcess(json: string, maxValues: number): Excess | undefined {
  let values = 0
  /** How many commas there are in each of the objects around; of a list none is counted. */
  const commas: number[] = []
  for (let offset = 0; offset < json.length; offset++) {
    const character = json[offset]
    if (character === '"') offset = endOfString(json, offset)
    else if (character === ']' || character === '}') commas.pop()
    else if (character === ',' || character === '[' || character === '{') {
      if (character !== ',' && commas.push(character === '{' ? 0 : Number.NaN) > MAX_DEPTH) {
        return { offset, message: TOO_DEEP }
      }
      if (character === ',' && ++(commas[commas.length - 1] as number) === MAX_FIELDS)
        return { offset, message: `has ${TOO_WIDE}` }
      if (++values > maxValues) {
        return { offset, message: `has more than ${maxValues.toLocaleString('en')} values: divide it into parts` }
      }
    }
  }
  return undefined
}

/** Returns the offset of the quote that ends the string which begins there, or that of the end of the text. */
export function endOfString(json: string, start: number): number {
  let offset = start + 1
  while (offset < json.length && json[offset] !== '"') offset += json[offset] === '\\' ? 2 : 1
  return offset
}

/** How deep a document may be nested: more than any needs, and few enough for every recursive function that reads one. */
export const MAX_DEPTH = 100

export const TOO_DEEP = `is nested more than ${MAX_DEPTH} deep: make it flatter`

/** Whether a JSON value is nested more than `MAX_DEPTH` lists and objects deep. It may be nested as deep as it likes. */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((each) => isTooDeep(each, left - 1))
}

/** Longer ones are no typos of a name, and take long to compare letter by letter. */
const MAX_LENGTH = 100

/** Returns the word that was probably meant: the one with the fewest typos, if these are few for its length. */
export function suggest(word: string, words: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const near = words.flatMap((candidate) => {
    const allowed = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))
    const typos = edits(word.toLowerCase(), candidate.toLowerCase(), allowed)
    return typos <= allowed ? { candidate, typos } : []
  })
  return near.sort((one, two) => one.typos - two.typos)[0]?.candidate
}

/** Among how many names of records that which was probably meant is looked for: it takes some milliseconds. */
export const MAX_CANDIDATES = 200

/** Returns `; did you mean X?` to end a sentence with; empty when no word is near. */
export function didYouMean(word: string, words: readonly string[]): string {
  const meant = suggest(word, words)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** Returns how many letters to add, drop, replace or swap with the next one (Damerau-Levenshtein), or more than allowed. */
function edits(from: string, to: string, allowed: number): number {
  // Each letter too many is one.
  if (Math.abs(from.length - to.length) > allowed) return Number.POSITIVE_INFINITY
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    rows.push(current)
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      const dropped = Math.min(at(row - 1, column), at(row, column - 1)) + 1
      const replaced = at(row - 1, column - 1) + (same ? 0 : 1)
      current.push(Math.min(dropped, replaced, swapped ? at(row - 2, column - 2) + 1 : replaced))
    }
    // No later row has less.
    if (Math.min(...current) > allowed) return Number.POSITIVE_INFINITY
  }
  return at(from.length, to.length)
}

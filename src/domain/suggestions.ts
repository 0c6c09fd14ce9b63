/** Longer words get no suggestion: they are unlikely to be typos, and comparing them is slow. */
const MAX_LENGTH = 100

/**
 * The maximum number of record names to compare for a suggestion. Comparing that many takes a few
 * milliseconds.
 */
export const MAX_CANDIDATES = 200

/**
 * Returns the candidate that differs from the word by the fewest typos, or undefined if none is
 * similar. A similar candidate has at most one typo, or typos in at most a third of its letters.
 */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  let closest: { candidate: string; typos: number } | undefined
  for (const candidate of candidates) {
    const limit = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))
    const typos = editDistance(word.toLowerCase(), candidate.toLowerCase(), limit)
    if (typos <= limit && typos < (closest?.typos ?? Number.POSITIVE_INFINITY)) {
      closest = { candidate, typos }
    }
  }
  return closest?.candidate
}

/** Returns `; did you mean X?` to append to a message, or an empty string if nothing is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const suggestion = suggest(word, candidates)
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`
}

/**
 * Returns the Damerau-Levenshtein distance: the minimum number of letters to insert, delete,
 * replace or swap with a neighbor. Stops early and returns infinity if the distance exceeds the
 * limit.
 */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return Number.POSITIVE_INFINITY
  let twoRowsUp: number[] = []
  let rowAbove = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current.push(
        Math.min(
          at(rowAbove, column) + 1,
          at(current, column - 1) + 1,
          at(rowAbove, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(twoRowsUp, column - 2) + 1 : Number.POSITIVE_INFINITY
        )
      )
    }
    // Stop early, because later rows never have a smaller minimum.
    if (Math.min(...current) > limit) return Number.POSITIVE_INFINITY
    twoRowsUp = rowAbove
    rowAbove = current
  }
  return at(rowAbove, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}

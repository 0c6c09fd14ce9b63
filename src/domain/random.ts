export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** Returns a version 4 UUID. */
  uuid(): string
}

/** Returns a source of random values. The same seed always produces the same values. */
export function createRandom(seed: number): Random {
  const next = mulberry32(seed)
  return { next, uuid: () => createUuid(next) }
}

function createUuid(next: () => number): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[x4y]/g, (placeholder) => {
    const digit = Math.floor(next() * 16)
    if (placeholder === '4') return '4'
    // The variant digit of a UUID is 8, 9, a or b.
    return (placeholder === 'y' ? 8 + (digit % 4) : digit).toString(16)
  })
}

/**
 * The Mulberry32 generator. Its 32 bits of state are enough for repeatable values, but not for
 * secrets.
 */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

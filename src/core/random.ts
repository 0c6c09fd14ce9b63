/** Where everything that is left to chance comes from; made from a seed, it is the same again each time. */
export interface Random {
  /** From 0 up to, but not, 1. */
  next(): number
  /** In the form of a UUID of version 4. */
  uuid(): string
}

/** Random that nobody can foresee, or, with a seed, that comes the same each time. */
export function createRandom(seed: number | null): Random {
  const next = seed === null ? Math.random : mulberry32(seed)
  return {
    next,
    uuid: () => {
      const digits = Array.from({ length: 32 }, () => Math.floor(next() * 16))
      digits[12] = 4
      digits[16] = 8 + ((digits[16] ?? 0) % 4)
      const hex = digits.map((digit) => digit.toString(16)).join('')
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
    }
  }
}

/** A small generator of 32 bits of state: good enough for chance that has to repeat itself, not for secrets. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

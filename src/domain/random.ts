export type Random = ReturnType<typeof createRandom>

/** Returns an unpredictable source, or with a seed one whose values are the same in every run. */
export function createRandom(seed: number | null) {
  const next = seed === null ? Math.random : mulberry32(seed)
  return {
    /** Returns a number from 0 to less than 1. */
    next,
    uuid: (): string =>
      'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[x4y]/g, (place) => {
        const digit = Math.floor(next() * 16)
        return place === '4' ? place : (place === 'y' ? 8 + (digit % 4) : digit).toString(16)
      })
  }
}

/** A small generator with 32 bits of state: good enough to be repeatable, not for secrets. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Generator = typeof import('./generation.js')

let loaded: Generator | undefined

/** Loads what generating takes, people and words in ten languages; most servers never need it. */
export async function loadGenerator(): Promise<Generator> {
  loaded ??= await import('./generation.js')
  return loaded
}

/** Returns the generator for synchronous code. Throws unless `loadGenerator` has been awaited. */
export function loadedGenerator(): Generator {
  if (!loaded) throw new Error('loadGenerator() must be awaited before messages are generated')
  return loaded
}

/** Whether a seed, parsed or as text, may ask for generated messages. A text that only mentions the word counts too. */
export function needsGenerator(seed: unknown): boolean {
  if (typeof seed === 'string') return seed.includes('generate')
  const { environments } = (seed ?? {}) as { environments?: unknown }
  return Array.isArray(environments) && environments.some((environment) => environment?.generate !== undefined)
}

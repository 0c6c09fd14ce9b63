import { CHANNELS } from '../../core/enums.js'
import type { EnvironmentData } from '../environment-data.js'

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

/** Whether seeds, parsed or as text, may ask for generated messages. A text that only mentions the word counts too. */
export function needsGenerator(seeds: unknown): boolean {
  return (typeof seeds === 'string' ? seeds : JSON.stringify(seeds ?? '')).includes('generate')
}

/** Whether there is a step that sends messages. */
export function canGenerate({ steps }: Pick<EnvironmentData, 'steps'>): boolean {
  return steps.some(({ type }) => (CHANNELS as readonly string[]).includes(type))
}

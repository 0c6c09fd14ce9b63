import { SeedError } from '../../src/seeds/errors.js'
import type { EnvironmentData, SeedEnvironment } from '../../src/seeds/format.js'
import { readSeeds, type SeedValue } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { seedOf } from './shop.js'

export const NOW = Date.UTC(2026, 1, 18, 12)

/**
 * Indents YAML and puts it into an environment. In the returned text, the YAML starts at line 3,
 * column 5.
 */
export function inShop(text: string): string {
  return `environments:\n  - name: Shop\n${text.replace(/^/gm, '    ')}`
}

/** Resolves seeds. Each seed is the path of a file, or a `SeedValue`. */
export function resolveEnvironments(...seeds: (string | SeedValue)[]): EnvironmentData[] {
  return resolveSeeds(readSeeds(seeds), NOW)
}

/** Resolves a seed of one environment named Shop, and returns the environment. */
export function resolveShop(fields: Omit<SeedEnvironment, 'name'>, now = NOW): EnvironmentData {
  const [environment] = resolveSeeds(readSeeds([{ name: 'shop.yaml', seed: seedOf(fields) }]), now)
  if (!environment) throw new Error('no environment')
  return environment
}

/** Calls the function and returns the `SeedError` that it throws. */
export function seedErrorOf(read: () => unknown): SeedError {
  try {
    read()
  } catch (error) {
    if (error instanceof SeedError) return error
    throw error
  }
  throw new Error('no SeedError was thrown')
}

/** Resolves invalid seeds and returns the lines of the error message, one line per issue. */
export const issuesOf = (...seeds: (string | SeedValue)[]): string[] =>
  seedErrorOf(() => resolveEnvironments(...seeds)).message.split('\n')

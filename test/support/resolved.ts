import { SeedError } from '../../src/seeds/errors.js'
import type { EnvironmentData, SeedEnvironment } from '../../src/seeds/format.js'
import { readSeeds, type SeedValue } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'
import { seedOf } from './shop.js'

export const NOW = Date.UTC(2026, 1, 18, 12)

/** The text within an environment; its first line is the third, and its first column the fifth. */
export function inShop(text: string): string {
  return `environments:\n  - name: Shop\n${text.replace(/^/gm, '    ')}`
}

/** The environments that seeds describe: files by their path, or texts and values with a name. */
export function resolveEnvironments(...seeds: (string | SeedValue)[]): EnvironmentData[] {
  return resolveSeeds(readSeeds(seeds), NOW)
}

/** The data of an environment, named Shop, that a seed describes at this time. */
export function resolveShop(fields: Omit<SeedEnvironment, 'name'>, now = NOW): EnvironmentData {
  const [environment] = resolveSeeds(readSeeds([{ name: 'shop.yaml', seed: seedOf(fields) }]), now)
  if (!environment) throw new Error('no environment')
  return environment
}

/** The error of seeds that can't be read. */
export function seedErrorOf(read: () => unknown): SeedError {
  try {
    read()
  } catch (error) {
    if (error instanceof SeedError) return error
    throw error
  }
  throw new Error('it was read')
}

/** The issues of seeds, one a line. */
export const issuesOf = (...seeds: (string | SeedValue)[]): string[] =>
  seedErrorOf(() => resolveEnvironments(...seeds)).message.split('\n')

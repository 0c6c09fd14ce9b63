import { expect } from 'vitest'
import { SeedError } from '../../src/seeds/errors.js'
import { readSeed, readSeeds } from '../../src/seeds/read.js'
import { resolveSeeds } from '../../src/seeds/resolve/resolve.js'

/** Far more than any of these takes, and far less than it would without limits. */
const SOON = 40_000

/** Returns the issues of a text that is read as a file, unless that has none, and as a request, one a line. */
export function issuesOf(text: string, inFile = true): { file: string[]; request: string[] } {
  const started = performance.now()
  const file = inFile ? linesOf(() => resolveSeeds(readSeeds([{ name: 'seed', seed: text }]), 0)) : []
  const request = linesOf(() => resolveSeeds([readSeed(text)], 0))
  expect(performance.now() - started).toBeLessThan(SOON)
  return { file, request }
}

export function linesOf(read: () => unknown): string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof SeedError) return error.message.split('\n')
    throw error
  }
  throw new Error('it was read')
}

export const shop = (text: string) => `environments:\n- name: Shop\n${text}`
export const shopJson = (fields: object) => JSON.stringify({ environments: [{ name: 'Shop', ...fields }] })

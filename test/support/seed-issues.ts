import { expect } from 'vitest'
import { SeedError } from '../../src/seeds/errors.js'
import { readSeed, readSeeds } from '../../src/seeds/read.js'

/** Far more than any of these takes, and far less than it would without limits. */
const SOON = 20_000

/** Returns the issues of a text that is read as a file and as a request, one a line. */
export async function issuesOf(text: string): Promise<{ file: string[]; request: string[] }> {
  const started = performance.now()
  const issues = { file: linesOf(() => readSeeds([{ name: 'seed', seed: text }])), request: await readInRequest() }
  expect(performance.now() - started).toBeLessThan(SOON)
  return issues

  async function readInRequest() {
    const outcome = await readSeed(text).catch((error: unknown) => error)
    return linesOf(() => {
      throw outcome
    })
  }
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

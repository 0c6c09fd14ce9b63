import type { CoverageItem } from './schemas.js'

/**
 * Returns whether requests cover an item. An injected 500 covers the status 500, because only a bug
 * would make the server itself return a 500.
 */
export function isCovered({
  count,
  injected,
  byFault
}: Pick<CoverageItem, 'count' | 'injected' | 'byFault'>): boolean {
  return count > 0 || (byFault && injected > 0)
}

export function totalsOf(items: readonly CoverageItem[]): { covered: number; total: number } {
  return { covered: items.filter(({ covered }) => covered).length, total: items.length }
}

/** Returns the percentage of covered items, rounded down to one decimal. */
export function percentageOf({ covered, total }: ReturnType<typeof totalsOf>): number {
  return Math.floor((covered / total) * 1000) / 10
}

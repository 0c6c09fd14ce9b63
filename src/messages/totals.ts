/** In characters of filters: a filter by many transactions is long. */
const MAX_SIZE = 1_000_000

/** Counts of messages, remembered per dataset until `forget`. Counting a million takes 20 ms, and each page has a total. */
export function rememberedTotals() {
  const totals = new Map<number, Map<string, number>>()
  /** The size of all that is remembered. */
  let size = 0

  return {
    /** Returns the total of these filters, from `count` if it is not remembered. */
    get(dataset: number, filters: string, count: () => number): number {
      const known = totals.get(dataset)?.get(filters)
      if (known !== undefined) return known
      const total = count()
      if (size > MAX_SIZE) {
        totals.clear()
        size = 0
      }
      size += sizeOf(filters)
      totals.set(dataset, (totals.get(dataset) ?? new Map<string, number>()).set(filters, total))
      return total
    },

    forget(dataset: number): void {
      for (const filters of totals.get(dataset)?.keys() ?? []) size -= sizeOf(filters)
      totals.delete(dataset)
    }
  }
}

/** The total itself takes about as much as 50 characters. */
const sizeOf = (filters: string): number => filters.length + 50

export type Key = string | number

/** The vertical positions of all rows in a list, computed without rendering the rows. */
export interface ListLayout {
  /** The key of each row, or undefined for rows that can't be focused. */
  keys: readonly (Key | undefined)[]
  /** The indexes of the rows that can be focused. */
  focusable: readonly number[]
  /** The distance of each row from the top of the list in pixels, followed by the list's height. */
  tops: readonly number[]
}

/** Computes the layout of a list with one row per item. */
export function layoutRows<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key | undefined,
  heightOf: (item: Item) => number
): ListLayout {
  const tops = [0]
  for (const item of items) tops.push((tops.at(-1) ?? 0) + heightOf(item))
  const keys = items.map(keyOf)
  const focusable = [...keys.keys()].filter((index) => keys[index] !== undefined)
  return { keys, focusable, tops }
}

/** Returns a row's distance in pixels from the top of the list. */
export const topOf = ({ tops }: ListLayout, index: number) => tops[index] ?? 0

/**
 * Returns the index of the row at this distance in pixels from the top of the list, or -1 if the
 * distance is negative.
 */
export const rowAt = ({ tops }: ListLayout, offset: number) =>
  tops.findLastIndex((top) => top <= offset)

export type Key = string | number

/** Where each row of a list is, computed without rendering it. */
export interface ListLayout {
  /** The key of each row; undefined for rows that can't be focused. */
  keys: readonly (Key | undefined)[]
  /** The indexes of the rows that can be focused. */
  focusable: readonly number[]
  /** The top of each row in pixels, followed by the height of the list. */
  tops: readonly number[]
}

/** Returns the layout of rows with the given keys and heights. */
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

/** Returns the top of a row in pixels. */
export const topOf = ({ tops }: ListLayout, index: number) => tops[index] ?? 0

/** Returns the index of the row at an offset in pixels, or -1 above the first one. */
export const rowAt = ({ tops }: ListLayout, offset: number) =>
  tops.findLastIndex((top) => top <= offset)

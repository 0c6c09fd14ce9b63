import type { Random } from '../../core/random.js'

/** From 0 up to, but not, `count`. */
export function below(chance: Random, count: number): number {
  return Math.floor(chance.next() * count)
}

/** One of a list that is not empty. */
export function pick<Item>(chance: Random, items: readonly Item[]): Item {
  return items[below(chance, items.length)] as Item
}

/** One of so many, the first ones most often: the second half as often as the first but for one, and so on. */
export function weighted(count: number): (chance: Random) => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let place = 0; place < count; place++) {
    sum += 1 / (place + 2)
    sums[place] = sum
  }
  return (chance) => {
    const aim = chance.next() * sum
    let low = 0
    let high = count - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sums[middle] as number) > aim) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** So many decimal digits, the first of them not 0. */
export function digits(chance: Random, length: number): string {
  let text = String(1 + below(chance, 9))
  while (text.length < length) text += below(chance, 10)
  return text
}

/** So many small letters and digits, none that is mistaken for another. */
export function letters(chance: Random, length: number): string {
  let text = ''
  while (text.length < length) text += 'abcdefghijkmnpqrstuvwxyz23456789'.charAt(below(chance, 32))
  return text
}

/** `7` as `07`. */
export function digitPair(number: number): string {
  return String(number).padStart(2, '0')
}

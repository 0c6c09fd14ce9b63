import { base, en, Faker, type LocaleDefinition } from '@faker-js/faker'
import type { Random } from '../../core/random.js'

// In milliseconds.
export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Returns a whole number from 0 up to, but not including, `count`. */
export function randomInt(random: Random, count: number): number {
  return Math.floor(random.next() * count)
}

/** Returns one item of a list that is not empty. */
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[randomInt(random, items.length)] as Item
}

/** Returns a faker that draws from this source; what a language lacks is English. */
export function createFaker(random: Random, language: LocaleDefinition = en): Faker {
  return new Faker({ locale: [language, en, base], randomizer: { next: random.next, seed: () => {} } })
}

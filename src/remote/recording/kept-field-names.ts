import type { SeedMessage, SeedSubscriber } from '../../seeds/format.js'

export const PLAIN_WORD = /^[A-Za-z]{1,30}$/

/**
 * Collects the field names that may stay in payloads. A name may stay if all of these are true:
 *
 * 1. it is a plain word
 * 2. it occurs in at least two records or in the schemas of a step
 * 3. it is not the name or id of a subscriber
 */
export class KeptFieldNames {
  readonly #seenOnce = new Set<string>()
  readonly #common = new Set<string>()
  readonly #personal = new Set<string>()

  addMessage({ subscriber: _addedOnce, ...message }: SeedMessage): void {
    this.#addRecord(message)
  }

  addSubscriber(subscriber: SeedSubscriber): void {
    const { firstName, lastName, subscriberId } = subscriber
    for (const value of [firstName, lastName, subscriberId])
      if (value) this.#personal.add(value.toLowerCase())
    this.#addRecord(subscriber)
  }

  addSchema(schema: unknown): void {
    for (const name of fieldNamesIn(schema)) this.#common.add(name)
  }

  keeps(name: string): boolean {
    return (
      this.#common.has(name) && PLAIN_WORD.test(name) && !this.#personal.has(name.toLowerCase())
    )
  }

  #addRecord(record: object): void {
    for (const name of fieldNamesIn(record)) {
      if (this.#seenOnce.has(name)) this.#common.add(name)
      this.#seenOnce.add(name)
    }
  }
}

/** Returns all field names in a value, at any depth. */
export function fieldNamesIn(value: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  collect(value)
  return names

  function collect(current: unknown): void {
    if (typeof current !== 'object' || current === null) return
    for (const [name, inner] of Object.entries(current)) {
      if (!Array.isArray(current)) names.add(name)
      collect(inner)
    }
  }
}

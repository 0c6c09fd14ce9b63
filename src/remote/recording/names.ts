import type { SeedMessage, SeedSubscriber } from '../../seeds/format.js'

export type Names = ReturnType<typeof createNames>

export const WORD = /^[A-Za-z]{1,30}$/

/**
 * Collects the names of fields that may stay in payloads: words that occur in two records, or in the schema of a
 * workflow, and that are no value of a subscriber.
 */
export function createNames() {
  const seen = new Map<string, 'once' | 'known'>()
  const personal = new Set<string>()
  return {
    addMessage: ({ subscriber: _counted, ...message }: SeedMessage) => add(message),
    addSubscriber(subscriber: SeedSubscriber): void {
      const { firstName, lastName, subscriberId } = subscriber
      for (const value of [firstName, lastName, subscriberId])
        if (value) personal.add(value.toLowerCase())
      add(subscriber)
    },
    addSchema(schema: unknown): void {
      for (const name of namesIn(schema)) seen.set(name, 'known')
    },
    keeps: (name: string) =>
      seen.get(name) === 'known' && WORD.test(name) && !personal.has(name.toLowerCase())
  }

  function add(record: object): void {
    for (const name of namesIn(record)) seen.set(name, seen.has(name) ? 'known' : 'once')
  }
}

/** Returns the names of all fields of a value, each once. */
export function namesIn(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return names
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(name)
    namesIn(inner, names)
  }
  return names
}

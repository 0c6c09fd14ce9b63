import type { EnvironmentRepository } from './repository.js'

/** The names of environments, which are unique, also among the ids. */
export function environmentNames(repository: EnvironmentRepository) {
  /** The number up to which a name is taken: to try all of them each time would take long. */
  const lastNumbers = new Map<string, number>()

  return {
    isTaken,

    /** Returns the name, or the first of `<name> 2`, `<name> 3`, ... that no environment has. */
    unusedName(base: string): string {
      let name = base
      for (let number = (lastNumbers.get(base) ?? 1) + 1; isTaken(name); number++) {
        name = `${base} ${number}`
        lastNumbers.set(base, number)
      }
      return name
    },

    /** To be called when no environment has the name any more. */
    release(name: string): void {
      const [, base = '', number] = /^(.*) (\d+)$/s.exec(name) ?? []
      const last = Math.min(lastNumbers.get(base) ?? 1, Number(number) - 1)
      if (last > 1) lastNumbers.set(base, last)
      else lastNumbers.delete(base)
    }
  }

  function isTaken(name: string): boolean {
    return repository.hasName(name) || repository.findById(name) !== undefined
  }
}

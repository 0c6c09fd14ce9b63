/** What a target does is not what a rule says. */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** A case can't be judged on this target, and why. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
}

/** Throws `Failure` with what is wrong unless the condition holds. */
export function check(condition: boolean, problem: string | (() => string)): asserts condition {
  if (!condition) throw new Failure(typeof problem === 'string' ? problem : problem())
}

/** Throws `Skipped` with the reason unless the condition holds. */
export function needed(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Skipped(reason)
}

/** Throws `Failure` unless two JSON values are the same, the order of fields apart. */
export function checkSame(actual: unknown, expected: unknown, what: string): void {
  const path = differenceOf(actual, expected, '')
  check(path === undefined, () => `${what}${path ? `: ${path} differs` : ' differ'}`)
}

/** Returns the path of the first difference; undefined when there is none. No value is repeated: it may be private. */
function differenceOf(one: unknown, two: unknown, path: string): string | undefined {
  if (typeof one !== 'object' || typeof two !== 'object' || one === null || two === null) {
    return one === two ? undefined : path
  }
  if (Array.isArray(one) !== Array.isArray(two)) return path
  const names = new Set([...Object.keys(one), ...Object.keys(two)])
  for (const name of names) {
    const [first, second] = [one, two].map((each) => (each as Record<string, unknown>)[name])
    const found = differenceOf(first, second, path === '' ? name : `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

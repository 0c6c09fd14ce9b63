/** A request as it was sent, so that it can be sent again. */
export interface Sent {
  path: string
  ask: SentAs
}

/** How a request is sent: by GET and with the key, if nothing else is said. */
export interface SentAs {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** The `Authorization` header in place of the key's; null sends none. */
  authorization?: string | null
  /** The scheme before the key, if not `ApiKey`. */
  scheme?: string
}

/** What a target does is not what a rule says. */
export class Failure extends Error {
  override readonly name = 'Failure'
  /** The one whose answer is wrong; the last one that was sent, if it is left out. */
  readonly request: Sent | undefined

  constructor(message: string, request?: Sent) {
    super(message)
    this.request = request
  }
}

/** A request got no whole answer in time. */
export class NoAnswer extends Failure {}

/** What is wrong whatever the contract leaves open: something was done or shown that nobody asked for. */
export class Breach extends Failure {}

/** A case can't be judged on this target, and why. */
export class Skipped extends Error {
  override readonly name = 'Skipped'
  /** What may let it be judged. */
  readonly flags: string

  constructor(message: string, flags = '') {
    super(message)
    this.flags = flags
  }
}

/** Throws `Failure` with what is wrong unless the condition holds. */
export function check(condition: boolean, problem: string, request?: Sent): asserts condition {
  if (!condition) throw new Failure(problem, request)
}

/** Throws `Skipped` with the reason unless the condition holds. */
export function needed(condition: boolean, reason: string, flags?: string): asserts condition {
  if (!condition) throw new Skipped(reason, flags)
}

/** Throws `Failure` unless two JSON values are the same, the order of fields apart. */
export function checkSame(actual: unknown, expected: unknown, what: string, request?: Sent): void {
  const path = differenceOf(actual, expected, '')
  if (path !== undefined) throw new Failure(`${what}${path ? `: ${path} differs` : ' differ'}`, request)
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

import { DomainError } from '../core/errors.js'
import type { Db } from '../db/open.js'

/** How often work on an environment begins again because others have changed it meanwhile. */
const MAX_ATTEMPTS = 5

/**
 * Does work beside other requests, in one transaction, again and again until it returns something: when it finds that what
 * it began with has changed, it returns undefined, having changed nothing. Rejects with `taken` when that is so each time,
 * and with what `check` throws.
 */
export async function retryWhileChanged<Result>(
  db: Db,
  work: () => Generator<unknown, Result | undefined>,
  check: () => void
): Promise<Result> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const result = await db.transactionPerSlice(work(), check)
    if (result !== undefined) return result
  }
  throw new DomainError('taken', 'The environment was changed meanwhile', {
    reason: `other requests have changed it ${MAX_ATTEMPTS} times while so much was copied: send this again when they are done`
  })
}

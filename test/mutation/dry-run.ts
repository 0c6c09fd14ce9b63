import { inject } from 'vitest'

/**
 * Stryker's dry run records which code each test covers. In this run, every test starts its own
 * server. So the code that runs at the start, such as preparing SQL, counts as covered by each
 * test.
 */
if (inject('mode' as never) === 'dry-run') process.env.FRESH_MOCKS = 'true'

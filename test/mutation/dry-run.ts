import { inject } from 'vitest'

/**
 * Stryker's dry run records which code each test covers. In this run, every test gets its own
 * server, so that the code that runs when a server starts, such as preparing SQL, counts as covered
 * by each test.
 */
if (inject('mode' as never) === 'dry-run') process.env.FRESH_MOCKS = 'true'

import { inject } from 'vitest'

/**
 * In Stryker's dry run, which records the code that each test covers, every test gets its own
 * server. Code that runs at start, such as preparing SQL, then counts as covered by that test.
 */
if (inject('mode' as never) === 'dry-run') process.env.FRESH_MOCKS = 'true'

import { inject } from 'vitest'

/**
 * In its first run Stryker sees which code each test runs. Then each test has a server of its own, so that what one does
 * when it starts, such as preparing SQL, counts as done by that test.
 */
if (inject('mode' as never) === 'dry-run') process.env.FRESH_MOCKS = 'true'

import { inject } from 'vitest'

/**
 * In a dry run, Stryker records which code each test covers. Every test must then start its own
 * server. If tests shared one, only the first would cover startup code, such as preparing SQL.
 */
if (inject('mode' as never) === 'dry-run') process.env.FRESH_MOCKS = 'true'

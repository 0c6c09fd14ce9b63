import { createRequire } from 'node:module'

/** The version of this package. */
export const VERSION: string = createRequire(import.meta.filename)('notification-mock/package.json').version

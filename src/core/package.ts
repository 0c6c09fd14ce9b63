import { createRequire } from 'node:module'
import { dirname } from 'node:path'

// Node 18, which is told that it is too old, has no filename.
const load = createRequire(import.meta.filename ?? import.meta.url)

export const packageFile: { version: string; engines: { node: string } } = load('notification-mock/package.json')

export const VERSION = packageFile.version

/** Returns the folder of this package, which holds migrations and seeds, wherever it is installed. */
export const packageRoot = (): string => dirname(load.resolve('notification-mock/package.json'))

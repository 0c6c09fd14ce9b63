import { createRequire } from 'node:module'
import { dirname } from 'node:path'

// Node 18, which is told that it is too old, has no filename.
const load = createRequire(import.meta.filename ?? import.meta.url)

/** The version of this package. */
export const VERSION: string = load('notification-mock/package.json').version

/** The Nodes that package.json names. */
export const ENGINES: { node: string } = load('notification-mock/package.json').engines

/** Returns the folder of this package, which holds migrations and seeds, wherever it is installed. */
export function packageRoot(): string {
  return dirname(load.resolve('notification-mock/package.json'))
}

import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const load = createRequire(import.meta.filename)

/** The version of this package. */
export const VERSION: string = load('notification-mock/package.json').version

/** Returns the folder of this package, which holds migrations and seeds, wherever it is installed. */
export function packageRoot(): string {
  return dirname(load.resolve('notification-mock/package.json'))
}

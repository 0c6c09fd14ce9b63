import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** Returns the folder of this package, which holds migrations and seeds, wherever it is installed. */
export function packageRoot(): string {
  return dirname(createRequire(import.meta.filename).resolve('notification-mock/package.json'))
}

import { installLockedPackages } from '../../scripts/installed.js'

/**
 * Installs the packages from this folder's lock file. Takes about 30 s the first time. Returns the
 * folder that contains their `node_modules`.
 */
export function installTools(): Promise<string> {
  return installLockedPackages(import.meta.dirname)
}

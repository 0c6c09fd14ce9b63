import { installLockedPackages } from '../../scripts/installed.js'

/**
 * Installs the packages of this folder's lock file and returns their folder. Takes about 30 s the
 * first time.
 */
export function installTools(): Promise<string> {
  return installLockedPackages(import.meta.dirname)
}

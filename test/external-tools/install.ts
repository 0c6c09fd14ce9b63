import { installLockedPackages } from '../../scripts/installed.js'

/**
 * Installs the packages in this folder's lock file, and returns the folder that they are in. Takes
 * about 30 s the first time.
 */
export function installTools(): Promise<string> {
  return installLockedPackages(import.meta.dirname)
}

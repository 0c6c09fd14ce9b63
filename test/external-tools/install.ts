import { installLockedPackages } from '../../scripts/installed.js'

/** Returns the folder in which the packages of this folder's lock are installed, in about half a minute the first time. */
export function givenJudges(): Promise<string> {
  return installLockedPackages(import.meta.dirname)
}

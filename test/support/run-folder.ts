import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates the folder for built packages, which all test files share. Vitest calls this function
 * once, and calls the returned function after the last test.
 */
export default function makeRunFolder(): () => void {
  // Resolve symbolic links, because npm prints paths without them.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-run-')))
  // Some tests run a built package as another user, who must be able to read the folder.
  chmodSync(folder, 0o755)
  process.env.TEST_RUN_FOLDER = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Vitest's global setup: creates a folder that all test files share, for the built command. */
export default function makeRunFolder(): () => void {
  // npm prints paths without symbolic links.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-run-')))
  // Some tests run the command as another user, who must be able to read it.
  chmodSync(folder, 0o755)
  process.env.TEST_RUN_FOLDER = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

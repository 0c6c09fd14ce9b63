import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** For vitest: a folder for what test files share in a run, such as the built command; deleted when the run ends. */
export default function makeRunFolder(): () => void {
  // npm shows paths without symbolic links.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-run-')))
  // Some tests run the command as another user.
  chmodSync(folder, 0o755)
  process.env.TEST_RUN_FOLDER = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Milliseconds without a write after which a temporary file counts as abandoned. */
const ABANDONED_AFTER = 3_600_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Returns the path of a temporary file beside the file, to write and then to rename, so that the file is always whole,
 * even after a crash. Deletes temporary files of it that a crash has left behind.
 */
export function tempFileFor(file: string): string {
  const prefix = `.${basename(file)}.`
  const namesUuid = (path: string) =>
    basename(path).startsWith(prefix) && UUID.test(basename(path).slice(prefix.length))
  for (const path of pathsIn(dirname(file)).filter(namesUuid)) {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER) rmSync(path, { force: true })
  }
  return join(dirname(file), prefix + randomUUID())
}

/** None when the folder is missing or can't be read: writing the file then fails with the reason. */
function pathsIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

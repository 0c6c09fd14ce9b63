import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Milliseconds without a write after which a temporary file counts as abandoned. */
const ABANDONED_AFTER = 3_600_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Has `write` make a temporary file beside the file, which then replaces it. If that rejects, or the process is killed,
 * the file is as it was. Deletes temporary files of it that a killed process has left behind. Resolves to what `write` does.
 */
export async function replaceFile<Result>(file: string, write: (tempFile: string) => Promise<Result>): Promise<Result> {
  await deleteAbandoned(file)
  const tempFile = tempFileBeside(file)
  try {
    const result = await write(tempFile)
    const handle = await open(tempFile, 'r+')
    await handle.sync().finally(() => handle.close())
    await rename(tempFile, file)
    return result
  } finally {
    await unlink(tempFile).catch(() => {})
  }
}

/** Returns the path of a new temporary file for what is to replace the file. */
export function tempFileBeside(file: string): string {
  return prefixOf(file) + randomUUID()
}

/** Deletes the temporary files of the file that a killed process has left behind: those of other processes are written to. */
export async function deleteAbandoned(file: string): Promise<void> {
  const prefix = prefixOf(file)
  // When the folder can't be read, writing the file fails with the reason.
  const names = await readdir(dirname(prefix)).catch(() => [])
  const paths = names.map((name) => join(dirname(prefix), name))
  for (const path of paths.filter((each) => each.startsWith(prefix) && UUID.test(each.slice(prefix.length)))) {
    const found = await stat(path).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER) await rm(path, { force: true })
  }
}

function prefixOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.`)
}

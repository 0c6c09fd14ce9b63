import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file with a temporary file that `write` creates. If `write` rejects or the process is
 * killed, the old file stays unchanged. Rejects if the path exists but isn't a regular file, for
 * example if it is a link.
 */
export async function replaceFile<Result>(
  file: string,
  write: (tempFile: string) => Promise<Result>
): Promise<Result> {
  requireRegularFile(file)
  const tempFile = createTempPath(file)
  try {
    const result = await write(tempFile)
    await flushToDisk(tempFile)
    await rename(tempFile, file)
    return result
  } finally {
    await rm(tempFile, { force: true })
  }
}

async function flushToDisk(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Like `replaceFile`, but writes this content synchronously. Doesn't flush the file to disk. */
export function replaceFileSync(file: string, content: string | Buffer, mode = 0o666): void {
  requireRegularFile(file)
  const tempFile = createTempPath(file)
  try {
    writeFileSync(tempFile, content, { flag: 'wx', mode })
    renameSync(tempFile, file)
  } finally {
    rmSync(tempFile, { force: true })
  }
}

/**
 * Throws if the path exists but isn't a regular file. The error's `code` is `EISDIR` for a folder,
 * and `ELOOP` for a link or anything else.
 */
export function requireRegularFile(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (!stats || stats.isFile()) return
  const code = stats.isDirectory() ? 'EISDIR' : 'ELOOP'
  throw Object.assign(new Error(`${file} is not a regular file`), { code, syscall: 'open' })
}

/**
 * Returns an unused path for a temporary file. The path is in the same folder as `file`, because a
 * file can't be renamed across file systems.
 */
function createTempPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomUUID()}`)
}

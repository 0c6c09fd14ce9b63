import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Has `write` make a file that then replaces this one, which stays as it was if that rejects or the process is killed.
 * Rejects when there is anything but a regular file: a link is not followed.
 */
export async function replaceFile<Result>(
  file: string,
  write: (tempFile: string) => Promise<Result>
): Promise<Result> {
  requireRegularFile(file)
  const tempFile = tempFileBeside(file)
  try {
    const result = await write(tempFile)
    const handle = await open(tempFile, 'r+')
    await handle.sync().finally(() => handle.close())
    await rename(tempFile, file)
    return result
  } finally {
    await rm(tempFile, { force: true })
  }
}

/** Replaces a file at once, in the same way. */
export function replaceFileSync(file: string, content: string | Buffer, mode = 0o666): void {
  requireRegularFile(file)
  const tempFile = tempFileBeside(file)
  try {
    writeFileSync(tempFile, content, { flag: 'wx', mode })
    renameSync(tempFile, file)
  } finally {
    rmSync(tempFile, { force: true })
  }
}

/** Throws as `open` does that follows no link, if there is anything but a regular file; there may be nothing. */
export function requireRegularFile(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  const code = found.isDirectory() ? 'EISDIR' : 'ELOOP'
  throw Object.assign(new Error(`${file} is no regular file`), { code, syscall: 'open' })
}

/** Returns the path of a new temporary file for what is to replace the file. */
export const tempFileBeside = (file: string): string =>
  join(dirname(file), `.${basename(file)}.${randomUUID()}`)

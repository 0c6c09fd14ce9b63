import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../domain/errors.js'
import { requireRegularFile } from './replace-file.js'

/**
 * Throws `StartError` if the file can't be replaced or appended to, depending on `mode`. Commands
 * call this function first, so that they don't do work that they can't save.
 */
export function requireWritable(file: string, mode: 'replace' | 'append' = 'replace'): void {
  const folder = file.endsWith('/') ? file : dirname(file)
  const isAppended = mode === 'append' && existsSync(file)
  try {
    requireRegularFile(file)
    // The `/.` makes the check fail if `folder` is a file.
    accessSync(isAppended ? file : `${folder}/.`, constants.W_OK)
  } catch (error) {
    rethrowWriteError(file)(error)
  }
}

/**
 * Returns an error handler for writing `file`. The handler throws a `StartError` for a system
 * error, and rethrows any other error unchanged.
 */
export const rethrowWriteError =
  (file: string) =>
  (error: unknown): never => {
    const { syscall, code = '' } = error as NodeJS.ErrnoException
    throw syscall === undefined
      ? error
      : new StartError(`can't write ${file}: ${WRITE_ERRORS[code] ?? code}`)
  }

const WRITE_ERRORS: Record<string, string> = {
  EEXIST: 'it already exists; choose another file',
  ENOENT: 'its folder does not exist; create it first',
  ENOTDIR: 'part of its path is a file, not a folder; choose another path',
  EISDIR: 'it is a folder; choose a file in it',
  ELOOP: 'it is a link or not a regular file; choose another file',
  EACCES: 'permission denied; check the permissions, or choose another file',
  EROFS: 'the file system is read-only; choose another file',
  ENOSPC: 'the disk is full; free some space, or choose another file'
}

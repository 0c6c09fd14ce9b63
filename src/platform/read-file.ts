import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'

const MIB = 1024 * 1024
const CHUNK_SIZE = 64 * 1024

/**
 * Reads a regular file. Throws for anything else, such as a pipe or a device, without opening it.
 * Throws if the file contains more than `limit` bytes, even if the system reports a smaller size.
 */
export function readRegularFile(file: string, limit = 256 * MIB): Buffer {
  const stats = statSync(file)
  // A folder passes this check, because the EISDIR error from reading it is clear enough.
  if (!stats.isFile() && !stats.isDirectory()) {
    throw new Error('it is not a regular file: save its content to a file, and use that file')
  }
  // A pipe may have replaced the file after `statSync`. O_NONBLOCK opens the pipe without waiting
  // for a writer.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    return readUpTo(descriptor, limit)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads standard input to its end. Throws if it contains more than `limit` bytes. */
export const readStandardInput = (limit = 256 * MIB): Buffer => readUpTo(0, limit)

function readUpTo(descriptor: number, limit: number): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  while (size <= limit) {
    const chunk = Buffer.allocUnsafe(CHUNK_SIZE)
    const length = readSync(descriptor, chunk)
    if (length === 0) return Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, length))
    size += length
  }
  throw new Error(`it is larger than the limit of ${limit / MIB} MiB`)
}

import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'

const MIB = 1024 * 1024
const CHUNK_SIZE = 64 * 1024

/**
 * Reads a regular file. Throws for anything else, such as a pipe or a device, without opening it,
 * and for a file with more than `limit` bytes, even if its reported size is smaller.
 */
export function readRegularFile(file: string, limit = 256 * MIB): Buffer {
  const stats = statSync(file)
  // Reading a folder throws EISDIR, which is clear enough.
  if (!stats.isFile() && !stats.isDirectory()) {
    throw new Error('it is not a regular file: save its content as a file, and use that')
  }
  // O_NONBLOCK: if a pipe has replaced the file since `statSync`, don't wait for a writer.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    return readUpTo(descriptor, limit)
  } finally {
    closeSync(descriptor)
  }
}

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

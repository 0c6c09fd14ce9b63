import { closeSync, constants, openSync, readSync, statSync } from 'node:fs'

const MIB = 1024 * 1024

/**
 * Returns the bytes of a regular file. Throws for anything else, such as a pipe or a device, which it does not open, and
 * when there is more to read than `limit` bytes, whatever size the system tells.
 */
export function readRegularFile(file: string, limit = 256 * MIB): Buffer {
  const found = statSync(file)
  // To read a folder is an error of the system, which says so.
  if (!found.isFile() && !found.isDirectory())
    throw new Error('it is no regular file: save it as one, and name that')
  // Should a pipe have taken its place meanwhile, it is not waited for.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const chunks: Buffer[] = []
    for (let read = 0; read <= limit; ) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const length = readSync(descriptor, chunk)
      if (length === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, length))
      read += length
    }
  } finally {
    closeSync(descriptor)
  }
  throw new Error(`it has more than ${limit / MIB} MiB, the most that is read`)
}

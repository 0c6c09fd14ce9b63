import { fstatSync, type Stats, writeSync } from 'node:fs'

const STDERR = 2
const MAX_BUFFERED = 1024 * 1024

let write: ((text: string) => void) | undefined

/**
 * Writes to stderr without blocking or throwing. Drops the text if it can't be written, for example
 * because the disk is full or nothing reads the pipe.
 */
export function writeToStderr(text: string): void {
  write ??= chooseWriter()
  write(text)
}

function chooseWriter(): (text: string) => void {
  // If stderr is a file, Node writes synchronously, and `stderr.write` throws when the disk is
  // full.
  if (!isStream()) return writeToFile
  // Without a listener for errors, an error such as EPIPE would end the process.
  process.stderr.on('error', () => {})
  return writeToStream
}

/** Returns whether stderr is a terminal, a pipe or a socket. */
function isStream(): boolean {
  if (process.stderr.isTTY) return true
  const stats = statStderr()
  return stats !== undefined && (stats.isFIFO() || stats.isSocket())
}

function statStderr(): Stats | undefined {
  try {
    return fstatSync(STDERR)
  } catch {
    // Any error means that stderr is closed. Don't check the error's code, because it depends on
    // the platform.
    return undefined
  }
}

function writeToFile(text: string): void {
  try {
    writeSync(STDERR, text)
  } catch {
    // There is no other place to report this error.
  }
}

function writeToStream(text: string): void {
  const { stderr } = process
  if (stderr.writableLength + text.length < MAX_BUFFERED) stderr.write(text)
}

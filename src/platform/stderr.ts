import { fstatSync, type Stats, writeSync } from 'node:fs'

const STDERR = 2
const MAX_BUFFERED = 1024 * 1024

let write: ((text: string) => void) | undefined

/**
 * Writes to stderr without waiting and without throwing. Drops the text if it can't be written, for
 * example because the disk is full or nobody reads the pipe.
 */
export function writeToStderr(text: string): void {
  write ??= chooseWriter()
  write(text)
}

function chooseWriter(): (text: string) => void {
  // Node writes synchronously to a file, so `stderr.write` would throw when the disk is full.
  if (!isStream()) return writeToFile
  // Without a listener, an error such as EPIPE ends the process.
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
    // Stderr is closed, whatever the platform calls that error.
    return undefined
  }
}

function writeToFile(text: string): void {
  try {
    writeSync(STDERR, text)
  } catch {
    // There is nowhere left to report that stderr can't be written.
  }
}

function writeToStream(text: string): void {
  const { stderr } = process
  if (stderr.writableLength + text.length < MAX_BUFFERED) stderr.write(text)
}

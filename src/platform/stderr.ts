import { fstatSync, writeSync } from 'node:fs'
import { attempt } from '../domain/errors.js'

let write: ((text: string) => void) | undefined

/** Writes to stderr, and neither waits nor throws, whoever reads it or not: what can't be written is dropped. */
export function writeToStderr(text: string): void {
  write ??= chooseWrite()
  write(text)
}

function chooseWrite(): (text: string) => void {
  const { stderr } = process
  const found = stderr.isTTY ? undefined : attempt(() => fstatSync(2))
  // Node writes to a file at once, and so would wait for it and throw.
  if (!stderr.isTTY && !found?.isFIFO() && !found?.isSocket())
    return (text) => void attempt(() => writeSync(2, text))
  // Its reader may go.
  stderr.on('error', () => {})
  return (text) => void (stderr.writableLength + text.length < 1024 * 1024 && stderr.write(text))
}

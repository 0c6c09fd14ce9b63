import { fstatSync, writeSync } from 'node:fs'
import { attempt } from './errors.js'

/** How much may wait for a reader, in characters. */
const MAX_UNREAD = 1024 * 1024

const NOTICE = { level: 40, msg: 'stderr is not read: lines of this log are dropped until it is' }

let isDropping = false
let write: ((text: string) => void) | undefined

/**
 * Writes to stderr, and neither waits nor throws: somebody who does not read it, or a full disk behind it, must not stop
 * the server or keep it from ending. What can't be written is dropped.
 */
export function writeToStderr(text: string): void {
  write ??= chooseWrite()
  write(text)
}

function chooseWrite(): (text: string) => void {
  const { isTTY } = process.stderr
  const found = isTTY ? undefined : attempt(() => fstatSync(2))
  // Node writes to a file at once, and so would wait for it and throw.
  if (!isTTY && !found?.isFIFO() && !found?.isSocket()) return (text) => void attempt(() => writeSync(2, text))
  // Its reader may go.
  process.stderr.on('error', () => {})
  return writeToStream
}

function writeToStream(text: string): void {
  const { stderr } = process
  if (stderr.writableLength === 0 || stderr.writableLength + text.length < MAX_UNREAD) {
    isDropping = false
    stderr.write(text)
  } else if (!isDropping) {
    isDropping = true
    stderr.write(`${JSON.stringify({ ...NOTICE, time: Date.now() })}\n`)
  }
}

import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import type Database from 'better-sqlite3'

// SQLite applies every intact write-ahead log that it finds next to a database, even if someone has
// replaced the database. To detect this, each database stores the lineage of its log, a number that
// `readLogHeader` computes from the log's header. The lineage is stored as SQLite's user version.
// https://www.sqlite.org/fileformat2.html describes the headers of databases and logs.

const LOG_HEADER_SIZE = 32
const FRAME_HEADER_SIZE = 24

/** The first 4 bytes of a log, without the lowest bit: the byte order of the checksums. */
const LOG_MAGIC = 0x377f0682

/** The position of the user version in page 1 of a database. */
const USER_VERSION_OFFSET = 60

export const logOf = (file: string) => `${file}-wal`

/**
 * Stores the lineage of the database's log in the database. Does nothing if the database has no
 * log. Must be called before any data is written, so that `isStartOfLog` recognizes the log if the
 * process is killed during the call.
 */
export function storeLogLineage(client: Database.Database, file: string): void {
  const lineage = readLogHeader(file)?.lineage
  if (lineage === undefined) return
  client.pragma(`user_version = ${lineage}`)
  // Copies the lineage into the data file and empties the log.
  client.pragma('wal_checkpoint(TRUNCATE)')
}

/**
 * Returns whether the log next to the file was written for another database, or for another state
 * of this database, for example because a backup was restored. Must not be called while the process
 * relies on a lock on the file, because closing a file releases all of the process's locks on it.
 */
export function isForeignLog(file: string): boolean {
  const header = readLogHeader(file)
  const lineage = readBytes(file, USER_VERSION_OFFSET, 4)?.readInt32BE()
  // A lineage of 0 means that an older version or another program wrote the data file.
  if (!header || !lineage || header.lineage === lineage) return false
  return !isStartOfLog(file, header.pageSize, lineage)
}

/**
 * Returns whether the log was left by a process that was killed in `storeLogLineage`. Such a log
 * only has one or two frames of page 1, and the first frame still contains the lineage of the
 * database's previous log.
 */
function isStartOfLog(file: string, pageSize: number, lineage: number): boolean {
  const frameSize = FRAME_HEADER_SIZE + pageSize
  const frameCount = (statSync(logOf(file)).size - LOG_HEADER_SIZE) / frameSize
  if (frameCount > 2) return false
  const frames = [0, 1].map((index) =>
    readBytes(logOf(file), LOG_HEADER_SIZE + index * frameSize, frameSize)
  )
  const [first] = frames
  return (
    frames.every((frame) => frame === undefined || frame.readUInt32BE(0) === 1) &&
    first?.readInt32BE(FRAME_HEADER_SIZE + USER_VERSION_OFFSET) === lineage
  )
}

/**
 * Returns the log's page size and lineage, or undefined if there is no log that SQLite would apply.
 *
 * The lineage is the first salt, a random number, minus the checkpoint number. It stays the same
 * until SQLite deletes the log, because SQLite increments both numbers whenever it reuses the log.
 */
function readLogHeader(file: string): { pageSize: number; lineage: number } | undefined {
  const header = readBytes(logOf(file), 0, LOG_HEADER_SIZE)
  if (!header || (header.readUInt32BE(0) & ~1) !== LOG_MAGIC) return undefined
  const checkpointNumber = header.readUInt32BE(12)
  const salt = header.readUInt32BE(16)
  return { pageSize: header.readUInt32BE(8), lineage: (salt - checkpointNumber) | 0 }
}

/** Returns `length` bytes of a file, or undefined if the file is missing or too short. */
function readBytes(file: string, position: number, length: number): Buffer | undefined {
  if (!statSync(file, { throwIfNoEntry: false })) return undefined
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(length)
    return readSync(descriptor, bytes, 0, length, position) === length ? bytes : undefined
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Returns a function that deletes the log that is next to the file now. The function does nothing
 * if that log was replaced in the meantime.
 */
export function createLogRemover(file: string): () => void {
  const findInode = () => statSync(logOf(file), { throwIfNoEntry: false })?.ino
  const inode = findInode()
  return () => {
    if (inode !== undefined && findInode() === inode) rmSync(logOf(file), { force: true })
  }
}

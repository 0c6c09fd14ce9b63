import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shiftRecordTimes } from './db/record-times.js'
import { type Clock, wallClock } from './domain/clock.js'
import { isBuilt, packageRoot, VERSION } from './platform/package.js'
import { replaceFileSync } from './platform/replace-file.js'

/** A serialized database that contains the default seed. */
export interface DefaultImage {
  database: Buffer
  /** When the seed was applied, in milliseconds since 1970. */
  seededAt: number
  /** The seed's API keys. They are kept here because the database only stores their hashes. */
  apiKeys: readonly string[]
}

let cachedImage: DefaultImage | undefined

/**
 * Returns the image of the default seed, or undefined if there is no intact image for the current
 * seed and schema. The timestamps in the image are as old as the image. For current timestamps, use
 * `readDefaultImageNow`.
 */
export function readDefaultImage(): DefaultImage | undefined {
  if (isBuilt) cachedImage ??= readImageFile(imageFile())
  return cachedImage
}

/**
 * Returns the image with the timestamps of a database that is seeded now. Without `clock`, the
 * timestamps may be off by up to a second, so that servers started within a second can share an
 * image.
 */
export function readDefaultImageNow(clock?: Clock): DefaultImage | undefined {
  return clock ? readDefaultImageAt(clock(), 0) : readDefaultImageAt(wallClock(), 1000)
}

/**
 * Returns the image with the timestamps of a database that is seeded at `time`, in milliseconds
 * since 1970. The timestamps may be off by up to `tolerance` milliseconds.
 *
 * All timestamps in the default seed are relative to the time at which it is applied. Shifting them
 * takes a third of the startup time, so the shifted image is kept for the next start in this
 * process.
 */
export function readDefaultImageAt(time: number, tolerance: number): DefaultImage | undefined {
  const image = readDefaultImage()
  if (!image) return undefined
  const distance = Math.floor(time) - Math.floor(image.seededAt)
  if (Math.abs(distance) <= tolerance) return image
  const database = shiftRecordTimes(image.database, distance)
  cachedImage = { ...image, database, seededAt: time }
  return cachedImage
}

/**
 * Keeps an image for later starts in this process. A built server also saves the image in dist/,
 * for other processes, if it can write there. This is rarely needed, because `npm run build`
 * already saves the image. A server that runs from its source doesn't save the image, because a
 * change to the source can change the image.
 */
export function keepDefaultImage(image: DefaultImage): void {
  cachedImage = image
  if (!isBuilt) return
  try {
    writeImageFile(imageFile(), image)
  } catch (error) {
    // If the package's folder is read-only, later processes load the seed again.
    if (!isFileError(error)) throw error
  }
}

/**
 * Writes the image to a file: first a line of JSON with the checksum of the database, then the
 * database.
 */
export function writeImageFile(file: string, { database, ...fields }: DefaultImage): void {
  const header = JSON.stringify({ ...fields, checksum: checksumOf(database) })
  // Replace the file as a whole, because several processes may write it at the same time.
  replaceFileSync(file, Buffer.concat([Buffer.from(`${header}\n`), database]))
}

/** Returns the image in the file, or undefined if the file is missing, unreadable or damaged. */
export function readImageFile(file: string): DefaultImage | undefined {
  try {
    const content = readFileSync(file)
    const headerLength = content.indexOf('\n')
    const { checksum, ...fields } = JSON.parse(content.toString('utf8', 0, headerLength))
    const database = content.subarray(headerLength + 1)
    return checksum === checksumOf(database) ? { ...fields, database } : undefined
  } catch (error) {
    if (isFileError(error) || error instanceof SyntaxError) return undefined
    throw error
  }
}

const checksumOf = (database: Buffer) => hash('sha256', database)

/** Returns the image's path. The name contains a hash of the seed, the schema and the version. */
function imageFile(): string {
  const sources = ['seeds/default.yaml', 'migrations/meta/_journal.json']
  const contents = sources.map((name) => readFileSync(join(packageRoot(), name)))
  const key = hash('sha256', Buffer.concat([...contents, Buffer.from(VERSION)]))
  return join(packageRoot(), `dist/default-${key.slice(0, 16)}.db`)
}

const isFileError = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

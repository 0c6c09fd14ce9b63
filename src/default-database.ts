import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './platform/package.js'
import { replaceFileSync } from './platform/replace-file.js'

/** A serialized database with the default seed. */
export interface DefaultImage {
  database: Buffer
  /** The API keys of the seed. The database has only their hashes. */
  apiKeys: readonly string[]
}

let cachedImage: DefaultImage | undefined

/**
 * Returns the image of the default seed, or undefined if there is none for the current seed and
 * schema. Every timestamp in the default seed is absolute, so only the creation time of the
 * environments depends on when the image was made.
 */
export function readDefaultImage(): DefaultImage | undefined {
  cachedImage ??= readImageFiles()
  return cachedImage
}

/**
 * Keeps an image for later starts: in dist/ if that is writable, otherwise for this process only.
 * The build does it first.
 */
export function keepDefaultImage(image: DefaultImage): void {
  cachedImage = image
  const file = imageFile()
  try {
    // Several processes may write at once, so each file is replaced as a whole.
    replaceFileSync(`${file}.json`, JSON.stringify(image.apiKeys))
    replaceFileSync(`${file}.db`, image.database)
  } catch (error) {
    // The package may be installed where this user can't write. Later processes then seed again.
    if (!isFileError(error)) throw error
  }
}

function readImageFiles(): DefaultImage | undefined {
  const file = imageFile()
  try {
    return {
      database: readFileSync(`${file}.db`),
      apiKeys: JSON.parse(readFileSync(`${file}.json`, 'utf8'))
    }
  } catch (error) {
    if (isFileError(error)) return undefined
    throw error
  }
}

/**
 * Returns the path of the image without its extension. It contains a hash of the seed and schema.
 */
function imageFile(): string {
  const sources = ['seeds/default.yaml', 'migrations/meta/_journal.json']
  const contents = sources.map((name) => readFileSync(join(packageRoot(), name)))
  const key = hash('sha256', Buffer.concat(contents))
  return join(packageRoot(), `dist/default-${key.slice(0, 16)}`)
}

const isFileError = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './platform/package.js'
import { replaceFileSync } from './platform/replace-file.js'

/** A serialized database that contains the default seed. */
export interface DefaultImage {
  database: Buffer
  /** The seed's API keys. They are kept here because the database only stores their hashes. */
  apiKeys: readonly string[]
}

let cachedImage: DefaultImage | undefined

/**
 * Returns the image of the default seed, or undefined if none exists for the current seed and
 * schema. An old image stays correct because all timestamps in the default seed are absolute. Only
 * the creation time of the environments is out of date, so the caller has to set it again.
 */
export function readDefaultImage(): DefaultImage | undefined {
  cachedImage ??= readImageFiles()
  return cachedImage
}

/**
 * Keeps an image for later starts. Saves it in dist/ if the folder is writable; otherwise only this
 * process can use it. Normally `npm run build` has already saved it.
 */
export function keepDefaultImage(image: DefaultImage): void {
  cachedImage = image
  const file = imageFile()
  try {
    // Replace each file as a whole, because several processes may write it at the same time.
    replaceFileSync(`${file}.json`, JSON.stringify(image.apiKeys))
    replaceFileSync(`${file}.db`, image.database)
  } catch (error) {
    // The user may not be allowed to write to the package's folder. Later processes then load the
    // seed again.
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

/** Returns the image's path without the extension. The name contains a hash of seed and schema. */
function imageFile(): string {
  const sources = ['seeds/default.yaml', 'migrations/meta/_journal.json']
  const contents = sources.map((name) => readFileSync(join(packageRoot(), name)))
  const key = hash('sha256', Buffer.concat(contents))
  return join(packageRoot(), `dist/default-${key.slice(0, 16)}`)
}

const isFileError = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

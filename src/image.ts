import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from './core/errors.js'
import { packageRoot } from './core/package.js'
import { replaceFileSync } from './core/replace-file.js'

/** A database with the default seed, and the keys in it, of which the database has but hashes. */
let image: { database: Buffer; apiKeys: readonly string[] } | undefined

/**
 * Returns the image of the default seed and the schema as they are now; undefined if none is kept. The seed names each of its
 * times, so the image is right at any time but for when the environments were created.
 */
export function readImage(): typeof image {
  image ??= attempt(() => {
    const file = imageFile()
    return { database: readFileSync(`${file}.db`), apiKeys: JSON.parse(readFileSync(`${file}.json`, 'utf8')) }
  })
  return image
}

/** Keeps an image for later starts: in dist/ if it can be written to, else for this process. The build does it first. */
export function keepImage(database: Buffer, environments: readonly { apiKeys: string[] }[]): void {
  const apiKeys = environments.flatMap((environment) => environment.apiKeys)
  image = { database, apiKeys }
  attempt(() => {
    // Several processes may do it at once.
    replaceFileSync(`${imageFile()}.json`, JSON.stringify(apiKeys))
    replaceFileSync(`${imageFile()}.db`, database)
  })
}

function imageFile(): string {
  const sources = ['seeds/default.yaml', 'migrations/meta/_journal.json'].map((name) => join(packageRoot(), name))
  const key = hash('sha256', Buffer.concat(sources.map((file) => readFileSync(file))))
  return join(packageRoot(), `dist/default-${key.slice(0, 16)}`)
}

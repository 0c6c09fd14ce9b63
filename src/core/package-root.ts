import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package, which holds migrations and seeds, wherever it is installed. */
export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'migrations', 'meta', '_journal.json'))) return folder
    if (folder === dirname(folder)) throw new Error(`no migrations folder above ${start}`)
  }
}

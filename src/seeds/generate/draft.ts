import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Milliseconds without a write after which whoever wrote a draft is gone. */
const ABANDONED = 3_600_000

/**
 * Where to write what is to become this file: beside it, to be renamed once it is whole, so that the file is there as a
 * whole or is as it was before, even after a crash. Drafts of it that a crash has left behind are deleted.
 */
export function draftOf(file: string): string {
  const folder = dirname(file)
  const start = `.${basename(file)}.`
  for (const name of namesIn(folder)) {
    if (!name.startsWith(start) || !UUID.test(name.slice(start.length))) continue
    const draft = join(folder, name)
    const found = statSync(draft, { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > ABANDONED) rmSync(draft, { force: true })
  }
  return join(folder, start + randomUUID())
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** None where there is no such folder, or it can't be read: whoever writes to it will tell. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

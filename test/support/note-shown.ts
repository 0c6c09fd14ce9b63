import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, type RunnerTask } from 'vitest'
import { type Shown, shownSoFar, staleCitations, startNoting } from './shown.js'

declare module 'vitest' {
  interface TaskMeta {
    /** What the tests of a file have shown, for `npm run support`. */
    shown?: Shown
  }
}

const root = join(import.meta.dirname, '../..')

// Before each test file: what it shows is noted, and must hold what `docs/support.md` says that it shows.
startNoting()
// biome-ignore lint/correctness/noEmptyPattern: vitest takes nothing else for the fixtures, of which none is used
afterAll(({}, { file }) => {
  const shown = shownSoFar()
  file.meta.shown = shown
  const hasAllRun = file.tasks.every(hasPassed)
  if (!hasAllRun || process.env.RENEW_CITATIONS) return
  const citations: Record<string, Shown> = JSON.parse(readFileSync(join(import.meta.dirname, 'citations.json'), 'utf8'))
  const stale = staleCitations(citations[relative(root, file.filepath)] ?? {}, shown)
  if (stale.length > 0) {
    throw new Error(`docs/support.md says that this file shows ${stale.join('; ')}: npm run support writes it anew`)
  }
})

function hasPassed(task: RunnerTask): boolean {
  return task.type === 'suite' ? task.tasks.every(hasPassed) : task.result?.state === 'pass'
}

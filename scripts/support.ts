/**
 * Renews what docs/support.md cites tests for: `npm run support`, some minutes. Runs the quick tests three times, their
 * files in another order each time, and cites what a file has shown each time; then run `npm run docs`.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { startVitest, type TestModule } from 'vitest/node'
import type { Shown } from '../test/support/shown.js'
import { type Citations, chooseCitations, writeCitations } from './support-matrix.js'

const RUNS = 3
/** Files that send random requests are not cited: what they show is another thing in each run. */
const RANDOM = /fc\.asyncProperty|generated-requests/
/** Nor those that are about time: what they show may depend on how fast the machine is. */
const TIMED = /timeout|stream|latency|expiry|removed|clock/

const root = join(import.meta.dirname, '..')
// Else a file would fail that no longer shows what it was cited for.
process.env.RENEW_CITATIONS = 'true'

let shown: Citations | undefined
for (let run = 1; run <= RUNS; run++) {
  const inThisRun = await runTests(run)
  shown = shown === undefined ? inThisRun : inBoth(shown, inThisRun)
}
writeCitations(await chooseCitations(shown ?? {}))
process.exit()

async function runTests(seed: number): Promise<Citations> {
  const vitest = await startVitest('test', [], {
    root,
    project: ['quick'],
    watch: false,
    reporters: ['dot'],
    sequence: { shuffle: { files: true, tests: false }, seed }
  })
  const modules = vitest.state.getTestModules()
  await vitest.close()
  const failed = modules.filter((module) => module.state() === 'failed').map(pathOf)
  if (failed.length > 0) console.log(`not cited, as they failed: ${failed.join(', ')}`)
  return Object.fromEntries(modules.filter(isCitable).map((module) => [pathOf(module), module.meta().shown ?? {}]))
}

/** Whether all of a file has passed, and would show the same again. */
function isCitable(module: TestModule): boolean {
  const isWhole = [...module.children.allTests()].every((test) => test.result().state === 'passed')
  const isSteady = !TIMED.test(pathOf(module)) && !RANDOM.test(readFileSync(module.moduleId, 'utf8'))
  return isWhole && isSteady
}

function pathOf({ moduleId }: TestModule): string {
  return relative(root, moduleId)
}

function inBoth(one: Citations, two: Citations): Citations {
  return Object.fromEntries(Object.entries(one).map(([file, shown]) => [file, shownInBoth(shown, two[file] ?? {})]))
}

function shownInBoth(one: Shown, two: Shown): Shown {
  const names = Object.keys(one).filter((name) => name in two)
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? []).filter((each) => two[name]?.includes(each))]))
}

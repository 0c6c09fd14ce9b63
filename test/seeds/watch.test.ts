import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchSeeds } from '../../src/seeds/watch.js'

/** How often the files are checked, in milliseconds. */
const INTERVAL = 100
/** Enough time to detect a change and to see that the file is complete. */
const AMPLE = 5 * INTERVAL

/**
 * Watches two files or, with `isLinked`, only a link to the first file. Time passes only during
 * `changesAfter`.
 */
function watchFiles({ isStarted = true, isLinked = false } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  const one = join(folder, 'one.yaml')
  const other = join(folder, 'other.yaml')
  writeFileSync(one, 'one')
  writeFileSync(other, 'other')
  if (isLinked) symlinkSync(one, `${one}.link`)
  const files = isLinked ? [`${one}.link`] : [one, other]
  const watch = watchSeeds(files, { setInterval, clearInterval })
  let changes = 0
  const start = () =>
    watch.start(() => {
      changes += 1
    })
  if (isStarted) start()
  onTestFinished(() => {
    watch.stop()
    vi.useRealTimers()
    rmSync(folder, { recursive: true })
  })
  return {
    one,
    other,
    start,
    stop: () => watch.stop(),
    /** Advances the clock, and returns the number of changes reported so far. */
    changesAfter(milliseconds = AMPLE) {
      vi.advanceTimersByTime(milliseconds)
      return changes
    }
  }
}

test('reports each change of a file once', () => {
  const { one, other, changesAfter } = watchFiles()
  expect(changesAfter()).toBe(0)
  writeFileSync(one, 'changed')
  expect(changesAfter()).toBe(1)
  expect(changesAfter()).toBe(1)
  writeFileSync(other, 'changed as well')
  expect(changesAfter()).toBe(2)
})

test('reports one change for a file written in pieces, after the last piece', () => {
  const { one, changesAfter } = watchFiles()
  writeFileSync(one, '')
  for (let piece = 0; piece < 10; piece++) {
    expect(changesAfter(INTERVAL)).toBe(0)
    appendFileSync(one, 'piece')
  }
  expect(changesAfter()).toBe(1)
})

test('reports changes to a link and to its target', () => {
  const { one, other, changesAfter } = watchFiles({ isLinked: true })
  writeFileSync(one, 'changed')
  expect(changesAfter()).toBe(1)
  symlinkSync(other, `${one}.new`)
  renameSync(`${one}.new`, `${one}.link`)
  expect(changesAfter()).toBe(2)
})

test('reports when a file is removed and when it is created again', () => {
  const { one, changesAfter } = watchFiles()
  rmSync(one)
  expect(changesAfter()).toBe(1)
  writeFileSync(one, 'one')
  expect(changesAfter()).toBe(2)
})

test('reports changes made before `start()`, but not changes made after `stop()`', () => {
  const { one, start, stop, changesAfter } = watchFiles({ isStarted: false })
  writeFileSync(one, 'changed')
  start()
  expect(changesAfter()).toBe(1)
  stop()
  writeFileSync(one, 'changed again')
  expect(changesAfter()).toBe(1)
})

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

/** Between two looks, in milliseconds. */
const LOOK = 100
/** Enough for a change to be seen, and to be seen to be over. */
const AMPLE = 5 * LOOK

/** A watch over two files, or over a link to the first, under a clock that goes on only by `changesAfter`. */
function given({ isStarted = true, isLinked = false } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  const [one, other] = [join(folder, 'one.yaml'), join(folder, 'other.yaml')]
  writeFileSync(one, 'one')
  writeFileSync(other, 'other')
  if (isLinked) symlinkSync(one, `${one}.link`)
  const watch = watchSeeds(isLinked ? [`${one}.link`] : [one, other])
  let changes = 0
  const start = () => watch.start(() => (changes += 1))
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
    /** Returns how many changes have been reported once so much time has passed. */
    changesAfter(milliseconds = AMPLE) {
      vi.advanceTimersByTime(milliseconds)
      return changes
    }
  }
}

test('reports each change of any of the files once', () => {
  const { one, other, changesAfter } = given()
  expect(changesAfter()).toBe(0)
  writeFileSync(one, 'changed')
  expect(changesAfter()).toBe(1)
  expect(changesAfter()).toBe(1)
  writeFileSync(other, 'changed as well')
  expect(changesAfter()).toBe(2)
})

test('reports a file that is written in parts when it is complete', () => {
  const { one, changesAfter } = given()
  writeFileSync(one, '')
  for (let piece = 0; piece < 10; piece++) {
    expect(changesAfter(LOOK)).toBe(0)
    appendFileSync(one, 'piece')
  }
  expect(changesAfter()).toBe(1)
})

test('reports a file behind a link when it changes, and when the link leads to another', () => {
  const { one, other, changesAfter } = given({ isLinked: true })
  writeFileSync(one, 'changed')
  expect(changesAfter()).toBe(1)
  symlinkSync(other, `${one}.new`)
  renameSync(`${one}.new`, `${one}.link`)
  expect(changesAfter()).toBe(2)
})

test('reports a file that is removed, and again when it comes back, also with the same content', () => {
  const { one, changesAfter } = given()
  rmSync(one)
  expect(changesAfter()).toBe(1)
  writeFileSync(one, 'one')
  expect(changesAfter()).toBe(2)
})

test('reports what changed between watchSeeds and start, and nothing after it was stopped', () => {
  const { one, start, stop, changesAfter } = given({ isStarted: false })
  writeFileSync(one, 'changed')
  start()
  expect(changesAfter()).toBe(1)
  stop()
  writeFileSync(one, 'changed again')
  expect(changesAfter()).toBe(1)
})

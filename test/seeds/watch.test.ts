import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { watchSeeds } from '../../src/seeds/watch.js'

/** Between two looks, in milliseconds. */
const LOOK = 100
/** Enough for a change to be seen, and to be seen to be over. */
const AMPLE = 5 * LOOK

/** A watch over two files, or over a link to the first, under a clock that goes on only by `pass`; `changes` counts its reports. */
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
    stop: watch.stop,
    pass: (milliseconds = AMPLE) => void vi.advanceTimersByTime(milliseconds),
    changes: () => changes
  }
}

test('reports each change of any of the files once', () => {
  const { one, other, pass, changes } = given()
  pass()
  expect(changes()).toBe(0)
  writeFileSync(one, 'changed')
  pass()
  expect(changes()).toBe(1)
  pass()
  expect(changes()).toBe(1)
  writeFileSync(other, 'changed as well')
  pass()
  expect(changes()).toBe(2)
})

test('reports a file that is written in parts when it is complete', () => {
  const { one, pass, changes } = given()
  writeFileSync(one, '')
  for (let piece = 0; piece < 10; piece++) {
    pass(LOOK)
    appendFileSync(one, 'piece')
  }
  expect(changes()).toBe(0)
  pass()
  expect(changes()).toBe(1)
})

test('reports a file behind a link when it changes, and when the link leads to another', () => {
  const { one, other, pass, changes } = given({ isLinked: true })
  writeFileSync(one, 'changed')
  pass()
  expect(changes()).toBe(1)
  symlinkSync(other, `${one}.new`)
  renameSync(`${one}.new`, `${one}.link`)
  pass()
  expect(changes()).toBe(2)
})

test('reports a file that is removed, and again when it comes back, also with the same content', () => {
  const { one, pass, changes } = given()
  rmSync(one)
  pass()
  expect(changes()).toBe(1)
  writeFileSync(one, 'one')
  pass()
  expect(changes()).toBe(2)
})

test('reports what changed between watchSeeds and start, and nothing after it was stopped', () => {
  const { one, start, stop, pass, changes } = given({ isStarted: false })
  writeFileSync(one, 'changed')
  start()
  pass()
  expect(changes()).toBe(1)
  stop()
  writeFileSync(one, 'changed again')
  pass()
  expect(changes()).toBe(1)
})

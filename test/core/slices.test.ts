import { setImmediate } from 'node:timers'
import { expect, test } from 'vitest'
import { runInSlices } from '../../src/core/slices.js'

test('of many works that are begun at once one takes a slice in each turn of the event loop', async () => {
  let turn = 0
  const count = () => {
    turn += 1
    if (turn < 1000) setImmediate(count)
  }
  const turns: number[] = []
  // biome-ignore lint/correctness/useYield: it has but one step
  function* work() {
    turns.push(turn)
  }
  const works = Array.from({ length: 20 }, () => runInSlices(work()))
  setImmediate(count)
  await Promise.all(works)
  turn = 1000
  expect(turns).toHaveLength(20)
  expect(new Set(turns).size).toBe(20)
})

test('a work that is begun alone takes its first slice at once', async () => {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  let isDone = false
  // biome-ignore lint/correctness/useYield: it has but one step
  function* work() {
    isDone = true
  }
  const ended = runInSlices(work())
  expect(isDone).toBe(true)
  await ended
})

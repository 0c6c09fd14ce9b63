import { expect, test } from 'vitest'
import { drawLatency, LATENCY_PRESETS, type Latency, latencyOf } from '../../src/core/latency.js'
import { createRandom } from '../../src/core/random.js'

function drawn(latency: Latency, count = 10_000): number[] {
  const random = createRandom(7)
  return Array.from({ length: count }, () => drawLatency(latency, random)).sort((a, b) => a - b)
}

test('each preset is slower than the one before it, and at none nothing takes time', () => {
  const medians = LATENCY_PRESETS.map((preset) => drawn(latencyOf(preset))[5000] ?? Number.NaN)
  expect(medians[0]).toBe(0)
  expect(medians.toSorted((a, b) => a - b)).toEqual(medians)
  expect(new Set(medians).size).toBe(medians.length)
})

test('a latency is never below its delay, on average its spread above it, and has a long tail with an end', () => {
  const values = drawn({ delay: 100, spread: 50 })
  const mean = values.reduce((sum, value) => sum + value) / values.length
  expect(values[0]).toBe(100)
  expect(mean).toBeGreaterThan(148)
  expect(mean).toBeLessThan(152)
  expect(values[5000]).toBeLessThan(mean - 10)
  expect(values.at(-1)).toBeGreaterThan(100 + 6 * 50)
  expect(drawLatency({ delay: 100, spread: 50 }, { next: () => 1 - Number.EPSILON / 2, uuid: () => '' })).toBe(600)
  expect(values.every(Number.isInteger)).toBe(true)
})

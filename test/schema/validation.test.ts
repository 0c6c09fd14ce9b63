import { expect, test } from 'vitest'
import { isTooDeep, MAX_DEPTH } from '../../src/schema/validation.js'

const nested = (depth: number): unknown =>
  JSON.parse('[{"a":'.repeat(depth / 2) + 1 + '}]'.repeat(depth / 2))

test('isTooDeep returns true only for values with more than MAX_DEPTH levels', () => {
  expect(isTooDeep(nested(MAX_DEPTH))).toBe(false)
  expect(isTooDeep([nested(MAX_DEPTH)])).toBe(true)
  expect(isTooDeep(nested(100_000))).toBe(true)
})

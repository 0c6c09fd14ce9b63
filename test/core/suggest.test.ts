import { expect, test } from 'vitest'
import { suggest } from '../../src/core/suggest.js'

test('returns the name that was probably meant', () => {
  expect(suggest('chanel', ['content', 'channel'])).toBe('channel')
  expect(suggest('x', ['content', 'channel'])).toBeUndefined()
})

test('letters that are swapped, dropped or added count as one typo each, up to a third of the letters', () => {
  expect(suggest('hcannle', ['channel'])).toBe('channel')
  expect(suggest('abcdfe', ['abcdef'])).toBe('abcdef')
  expect(suggest('xychannel', ['channel'])).toBe('channel')
  expect(suggest('hcnanle', ['channel'])).toBeUndefined()
})

test('compares no words of thousands of letters', () => {
  const started = performance.now()
  expect(suggest('a'.repeat(8000), [`b${'a'.repeat(8000)}`])).toBeUndefined()
  expect(performance.now() - started).toBeLessThan(1000)
})

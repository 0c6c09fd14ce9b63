import { expect, test } from 'vitest'
import { suggest } from '../../src/domain/suggestions.js'

// A typo is one inserted, deleted or replaced letter, or a swap of two adjacent letters. Every word
// may have one typo. Longer words may have one typo for every three letters.
test.each([
  ['chanel', ['content', 'channel'], 'channel'],
  ['x', ['content', 'channel'], undefined],
  ['hcannle', ['channel'], 'channel'],
  ['abcdfe', ['abcdef'], 'abcdef'],
  ['xychannel', ['channel'], 'channel'],
  ['hcnanle', ['channel'], undefined]
])('suggest(%j, %j) returns %j', (word, candidates, suggestion) => {
  expect(suggest(word, candidates)).toBe(suggestion)
})

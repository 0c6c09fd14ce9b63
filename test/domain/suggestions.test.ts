import { expect, test } from 'vitest'
import { suggest } from '../../src/domain/suggestions.js'

// Inserting, deleting or replacing a letter counts as one typo, as does swapping two adjacent
// letters. A word may have one typo for every three letters.
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

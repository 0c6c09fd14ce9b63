import { expect, test } from 'vitest'
import { suggest } from '../../src/domain/suggestions.js'

// Inserting, deleting, replacing or swapping a letter is one typo. Up to a third of the letters may
// be typos.
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

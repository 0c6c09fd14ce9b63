import { expect, test } from 'vitest'
import { suggest } from '../../src/domain/suggestions.js'

// A letter inserted, deleted, replaced or swapped is one typo. A third of the letters may be typos.
test.each([
  ['chanel', ['content', 'channel'], 'channel'],
  ['x', ['content', 'channel'], undefined],
  ['hcannle', ['channel'], 'channel'],
  ['abcdfe', ['abcdef'], 'abcdef'],
  ['xychannel', ['channel'], 'channel'],
  ['hcnanle', ['channel'], undefined]
])('for %s and the candidates %j, suggests %s', (word, candidates, suggestion) => {
  expect(suggest(word, candidates)).toBe(suggestion)
})

import { expect, test } from 'vitest'
import { suggest } from '../../src/domain/suggestions.js'

test.each([
  ['chanel', ['content', 'channel'], 'channel'],
  ['x', ['content', 'channel'], undefined],
  ['hcannle', ['channel'], 'channel'],
  ['abcdfe', ['abcdef'], 'abcdef'],
  ['xychannel', ['channel'], 'channel'],
  ['hcnanle', ['channel'], undefined]
])(
  'a letter swapped, dropped or added is one typo, and up to a third of %s may be',
  (word, words, meant) => {
    expect(suggest(word, words)).toBe(meant)
  }
)

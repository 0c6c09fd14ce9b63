import { expect, test } from 'vitest'
import { printable, printableTexts } from '../../src/platform/printable.js'

test('escapes control characters except tabs, line separators and direction marks', () => {
  expect(
    printable('a\tb\u0000\u001b[31m\r\n\u007f\u0080\u009f\u061c\u200e\u2028\u202e\u2066\u2069')
  ).toBe(
    'a\tb\\u0000\\u001b[31m\\u000d\\u000a\\u007f\\u0080\\u009f\\u061c\\u200e\\u2028\\u202e\\u2066\\u2069'
  )
})

test('keeps letters, emoji and joiners, so JSON keeps its value', () => {
  const value = { 'Größe עברית 漢字 👩‍👩‍👧 \\ "': ['\u202e\n\u001b', 1, null] }
  expect(printable(Object.keys(value).join())).toBe(Object.keys(value).join())
  expect(JSON.parse(printable(JSON.stringify(value, null, 2), '\n'))).toEqual(value)
})

test('makes every string in a value one line, except the stack of an error', () => {
  expect(printableTexts({ a: ['x\ny'], err: { stack: 'Error\n  at \u001b' } })).toEqual({
    a: ['x\\u000ay'],
    err: { stack: 'Error\n  at \\u001b' }
  })
})

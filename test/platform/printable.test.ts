import { expect, test } from 'vitest'
import { printable, printableTexts } from '../../src/platform/printable.js'

test('escapes C0 but for tabs, DEL, C1, line separators and controls of direction', () => {
  expect(
    printable('a\tb\u0000\u001b[31m\r\n\u007f\u0080\u009f\u061c\u200e\u2028\u202e\u2066\u2069')
  ).toBe(
    'a\tb\\u0000\\u001b[31m\\u000d\\u000a\\u007f\\u0080\\u009f\\u061c\\u200e\\u2028\\u202e\\u2066\\u2069'
  )
})

test('leaves letters, emoji and joiners as they are, and JSON the same value', () => {
  const value = { 'Größe עברית 漢字 👩‍👩‍👧 \\ "': ['\u202e\n\u001b', 1, null] }
  expect(printable(Object.keys(value).join())).toBe(Object.keys(value).join())
  expect(JSON.parse(printable(JSON.stringify(value, null, 2), '\n'))).toEqual(value)
})

test('makes each text of a value one line, but for the stack of an error', () => {
  expect(printableTexts({ a: ['x\ny'], err: { stack: 'Error\n  at \u001b' } })).toEqual({
    a: ['x\\u000ay'],
    err: { stack: 'Error\n  at \\u001b' }
  })
})

import { expect, test } from 'vitest'
import { printable, printableTexts } from '../../src/platform/printable.js'

test('printable escapes control, line break and text direction characters, but not tabs', () => {
  expect(
    printable('a\tb\u0000\u001b[31m\r\n\u007f\u0080\u009f\u061c\u200e\u2028\u202e\u2066\u2069')
  ).toBe(
    'a\tb\\u0000\\u001b[31m\\u000d\\u000a\\u007f\\u0080\\u009f' +
      '\\u061c\\u200e\\u2028\\u202e\\u2066\\u2069'
  )
})

test('printable keeps letters and emoji, and JSON still parses to the same value', () => {
  const value = { 'Größe עברית 漢字 👩‍👩‍👧 \\ "': ['\u202e\n\u001b', 1, null] }
  expect(printable(Object.keys(value).join())).toBe(Object.keys(value).join())
  expect(JSON.parse(printable(JSON.stringify(value, null, 2), '\n'))).toEqual(value)
})

test('printableTexts escapes line breaks in all strings except fields named `stack`', () => {
  expect(printableTexts({ a: ['x\ny'], err: { stack: 'Error\n  at \u001b' } })).toEqual({
    a: ['x\\u000ay'],
    err: { stack: 'Error\n  at \\u001b' }
  })
})

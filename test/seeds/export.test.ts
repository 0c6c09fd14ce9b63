import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { seedText } from '../../src/seeds/export.js'

/** What a text has to be quoted for in YAML, or has to be written by its number. */
const ODD_TEXTS = [
  ...['null', '~', 'NO', '012', '1e3', '2026-01-01', '<<', '- a', 'a: b', '# no', '{{x}}', '&a *b !!c %d', '"\'\\'],
  ...[' a ', 'a\nb\n', '\r\n\t', '\u0000', '\u007f', '\u0085\u009f', '\u2028\u2029', '\ufeff', '\ufffe\uffff'],
  ...['\ud800 \udc00', '🦊 田中', 'k'.repeat(2000)]
]

/** A record with odd texts as its names and its values. A literal can't have a field of this name. */
const RECORD = JSON.parse(
  `{"__proto__":{"a":1},"constructor":[],${ODD_TEXTS.map((text) => `${JSON.stringify(text)}:${JSON.stringify(text)}`)},"numbers":[1e300,-5e-324,1e21,-0]}`
)

const textOf = (format: 'json' | 'yaml') =>
  [
    ...seedText(
      { name: '# "no" name', clock: RECORD },
      { integrations: [], messages: [RECORD, { a: [RECORD, {}] }] },
      format
    )
  ].join('')

test('whatever is in a record, YAML has it in one line, and is read back as the same by any parser', () => {
  const yaml = textOf('yaml')
  for (const options of [{}, { merge: true }, { version: '1.1' } as const]) {
    expect(JSON.stringify(parse(yaml, options)) === textOf('json')).toBe(true)
  }
  expect(yaml).toMatch(
    /^environments:\n {2}- name: "# .*\n {4}clock: .*\n {4}integrations: \[\]\n {4}messages:\n( {6}- .*\n){2}$/
  )
  // Neither the end of a line anywhere, nor refused by stricter parsers.
  expect(yaml).not.toMatch(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/)
})

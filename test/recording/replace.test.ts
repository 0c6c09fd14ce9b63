import { expect, test } from 'vitest'
import { createReplacer, knownTexts } from '../../src/targets/recording/replace.js'

const replacer = createReplacer('a-key-1')

test('the same text has the same replacement, and another one with another key', () => {
  const again = createReplacer('a-key-1')
  const other = createReplacer('a-key-2')
  for (const change of ['email', 'phone', 'url', 'subscriberId', 'transactionId', 'text'] as const) {
    const source = 'ada.lovelace@analytical.example'
    expect(again[change](source)).toBe(replacer[change](source))
    expect(other[change](source)).not.toBe(replacer[change](source))
  }
})

test('an address has one replacement wherever it stands', () => {
  const replaced = replacer.email('ada@analytical.example')
  expect(replacer.subscriberId('ada@analytical.example')).toBe(replaced)
  expect(replacer.email('Ada@Analytical.example')).toBe(replaced)
  expect(replacer.text('Mail ada@analytical.example!')).toMatch(new RegExp(`^\\w+ ${replaced}!$`))
  expect(replacer.value({ to: ['ada@analytical.example'] }, knownTexts([]))).toEqual({ to: [replaced] })
})

test('the name of a person has its replacement inside texts too, in any case, and not inside of other words', () => {
  const known = knownTexts([['Ada', 'Finn']])
  const text = replacer.text('Hi Ada, <b>ADA</b>! Adamant', known)
  expect(text).toMatch(/^\w+ Finn, <b>Finn<\/b>! \w+$/)
  expect(text).not.toMatch(/Ada/i)
})

test('HTML, variables, spaces and punctuation stay; words, numbers and addresses do not', () => {
  const source =
    '<p style="color: #333">Dear {{subscriber.firstName}},&nbsp;order 4711: <a href="https://shop.example/o/4711">see it</a></p>'
  const template = replacer.template(source)
  expect(template).toMatch(
    /^<p style="color: #333">\w+ \{\{subscriber\.firstName\}\},&nbsp;\w+ \d{4}: <a href="https:\/\/example\.com\/[\da-f]{12}">\w+ \w+<\/a><\/p>$/
  )
  expect(template).not.toMatch(/Dear|order|4711|shop|see it/)
})

test('a number, a date and a context key keep their form', () => {
  expect(String(replacer.number(4711.25))).toMatch(/^\d{4}\.\d{1,2}$/)
  expect(replacer.number(-12)).toBeLessThan(0)
  expect(replacer.text('1990-02-03')).toMatch(/^20\d\d-[01]\d-[0-3]\d$/)
  expect(Date.parse(replacer.text('1990-02-03T10:00:00.000Z'))).not.toBeNaN()
  expect(replacer.contextKey('tenant:acme')).toMatch(/^tenant:tenant-[\da-f]{16}$/)
})

test('many numbers and addresses have as many replacements, and subscriber ids in another case have another', () => {
  const numbers = Array.from({ length: 5000 }, (_, index) => `+49170${1_000_000 + index}`)
  expect(new Set(numbers.map(replacer.phone)).size).toBe(numbers.length)
  expect(replacer.subscriberId('Ada@analytical.example')).not.toBe(replacer.subscriberId('ada@analytical.example'))
})

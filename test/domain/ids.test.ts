import libSlugify from '@sindresorhus/slugify'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase62, encodeBase62, idFromSlug, slugify, slugOf } from '../../src/domain/ids.js'

const ENCODED = [
  ['507f1f77bcf86cd799439011', 'WOmdqnzOjKcHpEdl'],
  ['0015943e7ace93b0540ae377', '026PyJ6ENG5VHmpL'],
  ['000000000000000000000000', '000000000000'],
  ['000000000000000000000001', '000000000001'],
  // 62 ** 16 - 1, the largest id that has 16 base62 digits, and 62 ** 16, the smallest with 17.
  ['9a09afbae83050a9de00ffff', 'zzzzzzzzzzzzzzzz'],
  ['9a09afbae83050a9de010000', '10000000000000000'],
  ['ffffffffffffffffffffffff', '1f2SI9UJPXvb7vdJ1']
] as const

const anyId = fc
  .tuple(fc.nat({ max: 12 }), fc.uint8Array({ minLength: 12, maxLength: 12 }))
  .map(([zeroBytes, bytes]) => Buffer.from(bytes).fill(0, 0, zeroBytes).toString('hex'))

describe('slugify', () => {
  test.each([
    ['In-App Step', 'in-app-step'],
    ['sendSMSNow', 'send-sms-now'],
    ['Order #42 — Été', 'order-42-ete'],
    ['日本語', '']
  ])('turns %j into %j', (name, slug) => {
    expect(slugify(name)).toBe(slug)
  })

  test('returns the same slug as the slugify package for words and punctuation', () => {
    const word = fc.stringMatching(/^(?:[A-Z]?[a-z\d]{1,6}|[A-Z]{1,4}|[A-Za-z\d]{1,6})$/)
    const names = fc
      .array(
        fc.tuple(word, fc.oneof(fc.constantFrom(' ', '_', '-', ''), fc.stringMatching(/^[ -~]$/))),
        {
          minLength: 1,
          maxLength: 4
        }
      )
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(names, (name) => {
        expect(slugify(name)).toBe(libSlugify(name, { decamelize: true }))
      }),
      { numRuns: 100 }
    )
  })
})

describe('base62', () => {
  test.each(ENCODED)('encodes the id %s as %s and decodes it again', (id, text) => {
    expect(encodeBase62(id)).toBe(text)
    expect(decodeBase62(text)).toBe(id)
  })

  test.each([
    ['a character outside the alphabet', 'WOmdqnzOjKcHpEd-'],
    ['a line feed at the end', 'WOmdqnzOjKcHpEdl\n'],
    ['an id that starts with a zero byte, without the leading 0', '6PyJ6ENG5VHmpL'],
    ['an extra leading zero', '0WOmdqnzOjKcHpEdl'],
    ['a number larger than twelve bytes', '1f2SI9UJPXvb7vdJ2']
  ])('does not decode %s', (_what, text) => {
    expect(decodeBase62(text)).toBeUndefined()
  })
})

test('idFromSlug returns the id of a slug that was made from any name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), anyId, (name, someId) => {
      expect(idFromSlug(slugOf(name, 'st', someId), 'st')).toBe(someId)
      expect(idFromSlug(slugOf(name, 'wf', someId), 'wf')).toBe(someId)
    })
  )
})

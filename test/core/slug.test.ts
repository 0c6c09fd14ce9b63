import libSlugify from '@sindresorhus/slugify'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBase62, encodeBase62, idFromSlug, slugify, slugOf } from '../../src/core/slug.js'

const ENCODED = [
  ['6615943e7ace93b0540ae377', 'f5VFlcRWmt1PF4uV'],
  ['507f1f77bcf86cd799439011', 'WOmdqnzOjKcHpEdl'],
  ['64da692e9a94fb2e6449ad06', 'eamRyNwrjbOC9dkE'],
  ['0615943e7ace93b0540ae377', '2RpdxYpFSPfjWDQ7'],
  ['0015943e7ace93b0540ae377', '026PyJ6ENG5VHmpL'],
  ['000000000000000000000000', '000000000000'],
  ['000000000000000000000001', '000000000001'],
  // 62 ** 16 and the number before it: where ids begin to take 17 characters.
  ['9a09afbae83050a9de00ffff', 'zzzzzzzzzzzzzzzz'],
  ['9a09afbae83050a9de010000', '10000000000000000'],
  ['ffffffffffffffffffffffff', '1f2SI9UJPXvb7vdJ1']
] as const

const anyId = fc
  .tuple(fc.nat({ max: 12 }), fc.uint8Array({ minLength: 12, maxLength: 12 }))
  .map(([zeroBytes, bytes]) => Buffer.from(bytes).fill(0, 0, zeroBytes).toString('hex'))

describe('slugify', () => {
  test.each([
    ['Email Step', 'email-step'],
    ['In-App Step', 'in-app-step'],
    ['sendSMSNow', 'send-sms-now'],
    ['Order #42 — Été', 'order-42-ete'],
    ['🦄 & friends', 'unicorn-and-friends'],
    ['日本語', ''],
    ['', '']
  ])('%j becomes %j', (name, slug) => {
    expect(slugify(name)).toBe(slug)
  })

  test('gives words and punctuation the slug that the package gives them', () => {
    const word = fc.stringMatching(/^(?:[A-Z]?[a-z\d]{1,6}|[A-Z]{1,4}|[A-Za-z\d]{1,6})$/)
    const names = fc
      .array(fc.tuple(word, fc.oneof(fc.constantFrom(' ', '_', '-', ''), fc.stringMatching(/^[ -~]$/))), {
        minLength: 1,
        maxLength: 4
      })
      .map((parts) => parts.flat().join(''))
    fc.assert(
      fc.property(names, (name) => {
        expect(slugify(name)).toBe(libSlugify(name, { decamelize: true }))
      }),
      { numRuns: 300 }
    )
  })
})

describe('base62', () => {
  test.each(ENCODED)('id %s is written %s and read back', (id, text) => {
    expect(encodeBase62(id)).toBe(text)
    expect(decodeBase62(text)).toBe(id)
  })

  test('a text that is read as an id is the one text of that id', () => {
    const zerosThenDigits = fc
      .tuple(fc.stringMatching(/^0{0,6}$/), fc.stringMatching(/^[0-9A-Za-z]{8,17}$/))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(zerosThenDigits, (text) => {
        const id = decodeBase62(text)
        fc.pre(id !== undefined)
        expect(encodeBase62(id)).toBe(text)
      })
    )
  })

  test.each([
    ['nothing', ''],
    ['a sign outside the alphabet', 'WOmdqnzOjKcHpEd-'],
    ['a line feed at the end', 'WOmdqnzOjKcHpEdl\n'],
    ['a letter beyond ASCII', 'WOmdqnzOjKcHpEdé'],
    ['too few characters', 'WOmdqnzOjKc'],
    ['a number of eleven bytes with no zero in front', '6PyJ6ENG5VHmpL'],
    ['a zero too many', '0WOmdqnzOjKcHpEdl'],
    ['a number beyond twelve bytes', '1f2SI9UJPXvb7vdJ2'],
    ['too many characters', '100000000000000000']
  ])('%s is no id', (_what, text) => {
    expect(decodeBase62(text)).toBeUndefined()
  })
})

describe('slugs', () => {
  const id = '507f1f77bcf86cd799439011'

  test('a slug is the name, the marker of its kind, and the id; a name may leave nothing', () => {
    expect(slugOf('Email Step', 'st', id)).toBe('email-step_st_WOmdqnzOjKcHpEdl')
    expect(slugOf('日本語', 'wf', id)).toBe('_wf_WOmdqnzOjKcHpEdl')
  })

  test('every slug gives its id back, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), anyId, (name, someId) => {
        expect(idFromSlug(slugOf(name, 'st', someId), 'st')).toBe(someId)
        expect(idFromSlug(slugOf(name, 'wf', someId), 'wf')).toBe(someId)
      })
    )
  })

  test.each([
    ['an outdated name', 'old-name_st_WOmdqnzOjKcHpEdl'],
    ['a name with the marker in it', 'a_st_f5VFlcRWmt1PF4uV_st_WOmdqnzOjKcHpEdl'],
    ['a name that shares an underscore with the marker', 'a_st_st_WOmdqnzOjKcHpEdl'],
    ['a name with the other marker in it', 'a_wf_f5VFlcRWmt1PF4uV_st_WOmdqnzOjKcHpEdl']
  ])('%s does not hide the id', (_what, text) => {
    expect(idFromSlug(text, 'st')).toBe(id)
  })

  test.each([
    ['the other kind', 'order-shipped_wf_WOmdqnzOjKcHpEdl'],
    ['base62 alone', 'WOmdqnzOjKcHpEdl'],
    ['a marker in capitals', 'email-step_ST_WOmdqnzOjKcHpEdl'],
    ['no base62 after the marker', 'email-step_st_'],
    ['something after the base62', 'email-step_st_WOmdqnzOjKcHpEdl_x'],
    ['nothing', '']
  ])('%s is no slug of a step', (_what, text) => {
    expect(idFromSlug(text, 'st')).toBeUndefined()
  })
})

import fc from 'fast-check'

/**
 * Generates any Unicode character, including unassigned ones. fast-check's own unit `binary` does
 * the same, but each use of it takes a second to prepare.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint))

/** In names of headers, parameters and fields that carry a secret: a whole name, and a part of one. */
const SECRET_WORD = '(?:proxy-)?auth(?:orization)?|(?:set-)?cookie|(?:x-)?key'
const SECRET_PART = '(?:api|access|private|signing)[-_]?key|secret|token|passw(?:or)?d|credential'

/** Matches the name of a header, parameter or field that carries a secret. */
export const SECRET_NAME = new RegExp(`^(?:${SECRET_WORD})$|${SECRET_PART}`, 'i')

/** The source of an expression for such a name inside a text. */
// The bounds keep a long name from being tried from each of its letters.
export const SECRET_FIELD = `(?:${SECRET_WORD}|[\\w-]{0,100}(?:${SECRET_PART})[\\w-]{0,100})`

/** Words that are the whole name of a header, parameter or field with a secret. */
const SECRET_WORD = '(?:proxy-)?auth(?:orization)?|(?:set-)?cookie|(?:x-)?key'

/** Words that mark a secret wherever they occur in such a name. */
const SECRET_PART = '(?:api|access|private|signing)[-_]?key|secret|token|passw(?:or)?d|credential'

/** Matches the name of a header, parameter or field that carries a secret. */
export const SECRET_NAME = new RegExp(`^(?:${SECRET_WORD})$|${SECRET_PART}`, 'i')

/** The source of a regular expression that matches such a name inside a text. */
// The bounds keep matching linear: without them it would start over at each letter of a long name.
export const SECRET_FIELD = `(?:${SECRET_WORD}|[\\w-]{0,100}(?:${SECRET_PART})[\\w-]{0,100})`

/** A header, parameter or field contains a secret if one of these words is its whole name. */
const SECRET_WORD = '(?:proxy-)?auth(?:orization)?|(?:set-)?cookie|(?:x-)?key'

/** A header, parameter or field contains a secret if its name contains one of these words. */
const SECRET_PART = '(?:api|access|private|signing)[-_]?key|secret|token|passw(?:or)?d|credential'

/** Matches the name of a header, parameter or field that contains a secret. */
export const SECRET_NAME = new RegExp(`^(?:${SECRET_WORD})$|${SECRET_PART}`, 'i')

/** The source of a regular expression that matches the name of a secret within a longer text. */
// It matches at most 100 characters before a word of SECRET_PART, and 100 after it. Without these
// limits, the time to match would grow quadratically with the length of a name.
export const SECRET_FIELD = `(?:${SECRET_WORD}|[\\w-]{0,100}(?:${SECRET_PART})[\\w-]{0,100})`

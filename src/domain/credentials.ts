/**
 * Matches a name that contains a word for a secret, even inside a longer word, as in
 * `clientsecret`.
 */
const SECRET_PART = new RegExp(
  [
    '(?:api|access|private|signing|secret|encryption|shared|master|auth|subscription)[-_. ]?key',
    'secret(?!ar)',
    'token(?!i[sz])',
    'passw(?:or)?d(?!less)',
    'passphrase',
    'credential'
  ].join('|'),
  'i'
)

/** Matches a name that ends with a word for a secret, such as `x-signature` or `basicAuth`. */
const SECRET_END =
  /(?:signature|sig|bypass|pwd|authorization)[-_]?\d*$|(?:^|[-_. ])(?:auth|jwt)$|[a-z]Auth$/i

/**
 * Matches names such as `key` or `pass`, which suggest a secret only on their own. Longer names
 * that contain these words are often harmless.
 */
const SECRET_WORD = /^(?:auth|(?:set-)?cookie|(?:x-)?key|pass|bearer)$/i

/**
 * Matches a name whose last word shows that the value is a fact about a secret, not the secret, as
 * in `tokenExpiresAt` or `passwordRequired`.
 */
const FACT_END = new RegExp(
  '(?:^|[-_. ]|[a-z](?=[A-Z]))' +
    '(?:used|counts?|limit|usage|types?|length|expir(?:y|es|ed|ation)|ttl|at|in|required|enabled)$',
  'i'
)

/**
 * Matches a header whose name contains a word for a secret, although its value is always `true`.
 */
const CORS_HEADER = /^access-control-allow-credentials$/i

/** Matches the name of a number of tokens, such as `max_tokens`. */
const TOKEN_COUNT = /^(?:max|min|total|used|prompt|completion|input|output|cached)[-_. ]?tokens$/i

/** Returns whether the name of a header, parameter or field suggests that its value is a secret. */
export function isSecretName(name: string): boolean {
  if (CORS_HEADER.test(name)) return false
  if (SECRET_WORD.test(name) || SECRET_END.test(name)) return true
  return SECRET_PART.test(name) && !FACT_END.test(name) && !TOKEN_COUNT.test(name)
}
